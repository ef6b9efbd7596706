/**
 * Folders are opened before anything in them is written or removed: the descriptor is what was located, and on Linux
 * everything after goes through it.
 */
import { closeSync, constants, mkdirSync, openSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { GauntletError } from '../base/errors.ts';
import { isOpenOn } from './open-checked.ts';
import { errorCode } from './real-path.ts';

const FOLDER_FLAGS = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/**
 * A descriptor of the folder at `real`; the caller closes it.
 *
 * @param spelled What is written or removed in it, for messages.
 * @param newFolderMode Permission bits of folders that are made where they are missing, before the umask; without it
 *   none is made.
 * @throws {GauntletError} `tool_failed` (`details.reason` `moved`) if another folder stands there by now; what the
 *   system throws.
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

/** A path to what an open folder holds, wherever its name leads by now. */
export function through(folder: number, real: string): string {
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
    const path = join(through(parent, dirname(real)), basename(real));
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
    // Somebody else made it at the same moment; what it is, the open that follows finds out.
    if (errorCode(error) !== 'EEXIST') throw error;
  }
}
