/**
 * What the file system says of a path, without following a link.
 */
import { lstatSync, type Stats } from 'node:fs';
import { dirname } from 'node:path';
import { errorCode } from './real-path.ts';

/** Read, write and execute for all three; neither setuid nor setgid nor sticky. */
export const PERMISSION_BITS = 0o777;

/** What `lstat` says; undefined where there is nothing. @throws What the system throws. */
export function statOf(real: string): Stats | undefined {
  try {
    return lstatSync(real, { throwIfNoEntry: false });
  } catch (error) {
    if (errorCode(error) === 'ENOTDIR') return undefined;
    throw error;
  }
}

/** Whether the very file that was looked at still stands there, with the bytes it had. */
export function isSameFile(then: Stats, now: Stats | undefined): boolean {
  return now?.ino === then.ino && now.dev === then.dev && now.mtimeMs === then.mtimeMs && now.size === then.size;
}

/** Folders that are missing on the way to a file, the outermost first. @throws As `statOf`. */
export function missingFolders(real: string): readonly string[] {
  const missing: string[] = [];
  for (let folder = dirname(real); folder !== dirname(folder) && !statOf(folder); folder = dirname(folder))
    missing.unshift(folder);
  return missing;
}
