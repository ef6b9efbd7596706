/**
 * The only remover of files and empty folders: in the folder where they were located, and only if they are unchanged.
 */
import { closeSync, lstatSync, rmdirSync, type Stats, unlinkSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { GauntletError } from '../base/errors.ts';
import { fileError } from './file-error.ts';
import { isSameFile } from './file-stats.ts';
import { openFolder, pathThrough } from './open-folder.ts';
import { errorCode } from './real-path.ts';

/**
 * Remove a file.
 *
 * @param real Real path.
 * @param expected The file that was examined; a different one is kept.
 * @throws {GauntletError} `tool_failed` (`details.reason`: `changed`, `moved`, …), `resource_exhausted`.
 */
export function removeFile(real: string, expected: Stats): void {
  inFolderOf(real, (path) => {
    if (!isSameFile(expected, lstatSync(path))) {
      throw new GauntletError('tool_failed', `Cannot remove "${real}": it changed meanwhile. Look at it again`, {
        details: { reason: 'changed' },
      });
    }
    unlinkSync(path);
  });
}

/**
 * Remove a folder if it exists and is empty.
 *
 * @returns True if it was removed.
 * @throws {GauntletError} As `removeFile`.
 */
export function removeEmptyFolder(real: string): boolean {
  try {
    inFolderOf(real, rmdirSync);
    return true;
  } catch (error) {
    // In use, already removed, or not a folder any more: in each case it is to be left alone.
    const cause = error instanceof GauntletError ? error.cause : error;
    if (['ENOTEMPTY', 'EEXIST', 'ENOENT', 'ENOTDIR'].includes(errorCode(cause) ?? '')) return false;
    throw error;
  }
}

function inFolderOf(real: string, work: (path: string) => void): void {
  let folder: number | undefined;
  try {
    folder = openFolder(dirname(real), real);
    work(join(pathThrough(folder, dirname(real)), basename(real)));
  } catch (error) {
    throw fileError('Cannot remove', real, error);
  } finally {
    if (folder !== undefined) closeSync(folder);
  }
}
