/**
 * Detects whether `dist/` is built from the current sources.
 */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';

/** Folders and files that the build depends on. */
export const SOURCES = [
  'bin',
  // The page of the console uses it.
  'client/src',
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
 * Digest of the sources' names, sizes and times, which changes when a file is added, removed or written.
 *
 * @param {string} root Absolute path of the clone.
 * @returns {string} Hex.
 */
export function sourceDigest(root) {
  const hash = createHash('sha256');
  for (const name of SOURCES) addToDigest(hash, root, join(root, name));
  return hash.digest('hex');
}

/** True if the build is missing or older than its sources. @param {string} root Absolute path of the clone. */
export function isBuildStale(root) {
  const stamp = stampPath(root);
  return !existsSync(stamp) || readFileSync(stamp, 'utf8') !== sourceDigest(root);
}

/**
 * Record the sources of the build.
 *
 * @param {string} root Absolute path of the clone.
 * @param {string} digest Digest of the sources before the build began, so that changes during the build trigger another
 * one.
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
