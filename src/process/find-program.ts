/**
 * Finds programs as the process host does.
 */
import { statSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';

/** Search path of programs without a `PATH`. */
const DEFAULT_PATH = '/usr/local/bin:/usr/bin:/bin';

/** @see inode(7) */
const ANY_EXECUTE_BIT = 0o111;

/**
 * Find a program by its name, or by its absolute path.
 *
 * @param search As `PATH`. Relative folders are skipped: they would depend on the program's working directory.
 * @returns Its path, or undefined if no folder has it.
 */
export function findProgram(name: string, search = DEFAULT_PATH): string | undefined {
  if (isAbsolute(name)) return isProgram(name) ? name : undefined;
  return search
    .split(':')
    .filter(isAbsolute)
    .map((folder) => join(folder, name))
    .find(isProgram);
}

function isProgram(path: string): boolean {
  try {
    const stats = statSync(path, { throwIfNoEntry: false });
    return stats !== undefined && stats.isFile() && (stats.mode & ANY_EXECUTE_BIT) !== 0;
  } catch {
    // An inaccessible folder: a later one may have it.
    return false;
  }
}
