/** Repositories made by the real git, without the settings of whoever runs the tests. */
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const ENVIRONMENT = {
  PATH: process.env['PATH'],
  HOME: '/nonexistent',
  GIT_CONFIG_NOSYSTEM: '1',
  ...Object.fromEntries(
    ['AUTHOR', 'COMMITTER'].flatMap((who) => [
      [`GIT_${who}_NAME`, 'Test'],
      [`GIT_${who}_EMAIL`, 'test@example.com'],
    ]),
  ),
};

/** Run git in a folder. @returns What it printed. @throws {Error} When it fails. */
export function git(folder: string, ...args: readonly string[]): string {
  return execFileSync('git', ['-c', 'protocol.file.allow=always', ...args], {
    cwd: folder,
    env: ENVIRONMENT,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

/** Make a repository with two commits of `file`, a third state of it in the work tree, and a stash. */
export function makeRepository(folder: string): string {
  mkdirSync(folder, { recursive: true });
  git(folder, 'init', '-q', '-b', 'main');
  writeFileSync(join(folder, '.gitattributes'), 'file diff=evil filter=evil merge=evil\n');
  for (const text of ['one', 'two']) {
    writeFileSync(join(folder, 'file'), `${text}\n`);
    git(folder, 'add', '.');
    git(folder, 'commit', '-qm', text);
  }
  writeFileSync(join(folder, 'file'), 'stashed\n');
  git(folder, 'stash', '-q');
  writeFileSync(join(folder, 'file'), 'three\n');
  return folder;
}

/** Write a program that leaves a marker when it runs, and passes its input on. */
export function makeMarkingProgram(path: string, marker: string): string {
  writeFileSync(path, `#!/bin/sh\ntouch '${marker}'\ncat "$1" 2>/dev/null || cat\n`);
  chmodSync(path, 0o755);
  return path;
}
