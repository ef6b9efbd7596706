/** Reads metadata of paths without following links. */
import { lstatSync, type Stats } from 'node:fs';
import { dirname } from 'node:path';
import { errorCode } from './real-path.ts';

/** Read, write and execute for user, group and others; without setuid, setgid and sticky. */
export const PERMISSION_BITS = 0o777;

/** Return the result of `lstat`; undefined if nothing exists there. @throws Errors of the system. */
export function statOf(real: string): Stats | undefined {
  try {
    return lstatSync(real, { throwIfNoEntry: false });
  } catch (error) {
    if (errorCode(error) === 'ENOTDIR') return undefined;
    throw error;
  }
}

/** Report whether a path still has the same file with the same content, by inode, size and time. */
export function isSameFile(then: Stats, now: Stats | undefined): boolean {
  return now?.ino === then.ino && now.dev === then.dev && now.mtimeMs === then.mtimeMs && now.size === then.size;
}

/** List the missing folders on the way to a file, the outermost first. @throws As `statOf`. */
export function missingFolders(real: string): readonly string[] {
  const missing: string[] = [];
  for (let folder = dirname(real); folder !== dirname(folder) && !statOf(folder); folder = dirname(folder))
    missing.unshift(folder);
  return missing;
}
