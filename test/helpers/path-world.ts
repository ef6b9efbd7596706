/** A workspace full of traps, and what lies around it: the ground of the tests about paths. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';

/** Text that stands in files only, so that where it appears something was read. */
export const CANARY = 'canary-in-a-file';

const FILES: Readonly<Record<string, string>> = {
  'outside/secret.txt': CANARY,
  'outside/linked.txt': 'linked\n',
  'workspace-evil/x': CANARY,
  'workspace/a.txt': 'alpha\n',
  'workspace/src/app.ts': 'const app = 1;\n',
  'workspace/.env': CANARY,
  'workspace/sub/.env.local': CANARY,
  'workspace/secret/key.txt': CANARY,
  'workspace/caf\u00e9.txt': CANARY,
  'workspace/[a].txt': 'brackets\n',
  'workspace/{x}': 'braces\n',
  'workspace/-rf': 'dash\n',
  'workspace/--pre=sh': 'option\n',
  'workspace/.hidden/deep.txt': CANARY,
  'workspace/run.sh': '#!/bin/sh\n',
  'workspace/closed.txt': 'closed\n',
  'workspace/locked/file.txt': 'locked\n',
  'workspace/repository/HEAD': 'ref: refs/heads/main\n',
  'workspace/repository/objects/x': '',
};

const LINKS: Readonly<Record<string, string>> = {
  'workspace/link': '../outside/secret.txt',
  'workspace/linkdir': '../outside',
  'workspace/dangling': '../outside/created.txt',
  'workspace/chain': 'link',
  'workspace/loop-a': 'loop-b',
  'workspace/loop-b': 'loop-a',
  'workspace/inner': 'src',
  'workspace/shown': 'secret',
  'workspace/descriptors': '/proc/self/fd',
};

const SPARSE_BYTES = 2 ** 40;
const LONG_LINE_CHARS = 8_000_000;

/** Lay it out below `home`, where `workspace/` stands already. @returns Closes its socket. */
export async function layPathWorld(home: string): Promise<() => void> {
  for (const [path, text] of Object.entries(FILES)) {
    mkdirSync(dirname(join(home, path)), { recursive: true });
    writeFileSync(join(home, path), text);
  }
  for (const [path, target] of Object.entries(LINKS)) symlinkSync(target, join(home, path));
  const at = (name: string) => join(home, 'workspace', name);
  linkSync(join(home, 'outside/linked.txt'), at('hard.txt'));
  execFileSync('mkfifo', [at('pipe')]);
  writeFileSync(at('sparse.log'), '');
  truncateSync(at('sparse.log'), SPARSE_BYTES);
  writeFileSync(at('long-line.txt'), 'x'.repeat(LONG_LINE_CHARS));
  chmodSync(at('run.sh'), 0o755);
  chmodSync(at('closed.txt'), 0o000);
  chmodSync(at('locked'), 0o500);
  const socket = createServer();
  await new Promise<void>((resolve) => socket.listen(at('socket'), resolve));
  return () => socket.close();
}

/** What stands in a folder and below, as one value to compare: names, modes, sizes and content. */
export function fingerprint(folder: string): string {
  const hash = createHash('sha256');
  for (const name of readdirSync(folder).sort()) {
    const path = join(folder, name);
    const stats = lstatSync(path);
    hash.update(`${name}\0${stats.mode}\0${stats.size}\0`);
    hash.update(stats.isDirectory() ? fingerprint(path) : readFileSync(path));
  }
  return hash.digest('hex');
}
