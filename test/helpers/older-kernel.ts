/** A program that runs another one as a kernel without Landlock would. */
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { launcherImage } from '../../src/process/host/launcher.ts';
import { isKnownArchitecture, systemCallNumber } from '../../src/process/system-call-numbers.ts';

const PR_SET_SECCOMP = 22;
const PR_SET_NO_NEW_PRIVS = 38;

/** Write it. @returns Its path; its words are a program's path, then that program's words, its name first. */
export function olderKernelLauncher(folder: string): string {
  if (!isKnownArchitecture(process.arch)) throw new TypeError(`no launcher for ${process.arch}`);
  const create = systemCallNumber('landlock_create_ruleset', process.arch) ?? -1;
  // Load the number; unless it is that call's, pass over the refusal (`ENOSYS`); allow.
  const filter = Buffer.concat([
    instruction(0x20, 0),
    instruction(0x15, create, 1),
    instruction(0x06, 0x00050026),
    instruction(0x06, 0x7fff0000),
  ]);
  const path = join(folder, 'older-kernel');
  writeFileSync(
    path,
    launcherImage(process.arch, [
      { name: 'prctl', arguments: [PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0] },
      { name: 'prctl', arguments: [PR_SET_SECCOMP, 2, { filter }] },
    ]),
  );
  chmodSync(path, 0o755);
  return path;
}

function instruction(code: number, value: number, whenFalse = 0): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeUInt16LE(code, 0);
  bytes.writeUInt8(whenFalse, 3);
  bytes.writeUInt32LE(value, 4);
  return bytes;
}
