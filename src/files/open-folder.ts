/**
 * Opens folders before anything in them is written or removed: the descriptor refers to the located folder, and on
 * Linux all later steps go through it.
 */
import { closeSync, constants, mkdirSync, openSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { GauntletError } from '../base/errors.ts';
import { isOpenOn } from './open-checked.ts';
import { errorCode } from './real-path.ts';

const FOLDER_FLAGS = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/**
 * Open the folder at `real`; the caller closes the descriptor.
 *
 * @param spelled Path to be written or removed in it, for messages.
 * @param newFolderMode Permission bits of missing folders, which are created, before the umask; without it none is
 * created.
 * @throws {GauntletError} `tool_failed` (`details.reason` `moved`) if another folder is there by now; errors of the
 * system.
 */
export function openFolder(real: string, spelled: string, newFolderMode?: number): number {
  const folder = openOrCreate(real, spelled, newFolderMode);
  if (isOpenOn(folder, real)) return folder;
  closeSync(folder);
  throw new GauntletError(
    'tool_failed',
    `Cannot write "${spelled}": a folder on the way to it was moved or replaced. Try again`,
    { details: { reason: 'moved' } },
  );
}

/** Return a path to the contents of an open folder that stays valid if the folder is renamed. */
export function pathThrough(folder: number, real: string): string {
  return process.platform === 'linux' ? `/proc/self/fd/${folder}` : real;
}

function openOrCreate(real: string, spelled: string, newFolderMode: number | undefined): number {
  try {
    return openSync(real, FOLDER_FLAGS);
  } catch (error) {
    if (newFolderMode === undefined || errorCode(error) !== 'ENOENT' || dirname(real) === real) throw error;
  }
  const parent = openFolder(dirname(real), spelled, newFolderMode);
  try {
    const path = join(pathThrough(parent, dirname(real)), basename(real));
    createFolder(path, newFolderMode);
    return openSync(path, FOLDER_FLAGS);
  } finally {
    closeSync(parent);
  }
}

function createFolder(path: string, mode: number): void {
  try {
    mkdirSync(path, mode);
  } catch (error) {
    // Another process created it at the same moment; the following open checks it.
    if (errorCode(error) !== 'EEXIST') throw error;
  }
}
