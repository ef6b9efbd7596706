/**
 * Whether `dist/` was built from the sources as they are now.
 */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';

/** Folders and files the build is made from. */
const SOURCES = [
  'bin',
  'config',
  'routes',
  'src',
  'tools',
  'web',
  'package.json',
  'package-lock.json',
  'tsconfig.json',
];

/**
 * A digest of the sources' names, sizes and times: it changes when one is added, removed or written.
 *
 * @param {string} root Absolute path of the clone.
 * @returns {string} Hex.
 */
export function sourceDigest(root) {
  const hash = createHash('sha256');
  for (const name of SOURCES) addToDigest(hash, root, join(root, name));
  return hash.digest('hex');
}

/** Whether the build is missing or older than its sources. @param {string} root Absolute path of the clone. */
export function isBuildStale(root) {
  const stamp = stampPath(root);
  return !existsSync(stamp) || readFileSync(stamp, 'utf8') !== sourceDigest(root);
}

/**
 * Note what the build was made from.
 *
 * @param {string} root Absolute path of the clone.
 * @param {string} digest Of the sources before the build began: what changed meanwhile is built again.
 */
export function writeBuildStamp(root, digest) {
  writeFileSync(stampPath(root), digest);
}

function stampPath(root) {
  return join(root, 'dist', '.built-from');
}

function addToDigest(hash, root, path) {
  const status = statSync(path, { throwIfNoEntry: false });
  if (!status) return;
  if (status.isDirectory()) {
    for (const name of readdirSync(path).sort()) addToDigest(hash, root, join(path, name));
  } else {
    hash.update(`${relative(root, path)}\0${status.size}\0${status.mtimeMs}\n`);
  }
}
