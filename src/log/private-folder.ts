/**
 * A folder only its owner can enter: what the data directory is, and each folder in it.
 */
import { chmodSync, lstatSync, mkdirSync, readdirSync } from 'node:fs';
import { GauntletError, errorMessage } from '../base/errors.ts';

/** What marks a folder as a data directory, or as one that is about to be. */
export const DATA_FILES: readonly string[] = ['id', 'token', 'gauntlet.config.json'];

const OWNER_ONLY = 0o700;
const OTHERS_MAY = 0o077;
const STICKY = 0o1000;

/**
 * Make `folder`, or check the one that is there: no link, one's own, closed to others.
 *
 * An open one is closed only if it is empty or holds one of `ownFiles`: closing `/` or a home folder that was
 * named by mistake would lock others out.
 *
 * @param folder Absolute path; missing parents are made too.
 * @throws {GauntletError} `invalid_setting`, with what to do.
 */
export function ensurePrivateFolder(folder: string, ownFiles: readonly string[]): void {
  try {
    mkdirSync(folder, { recursive: true, mode: OWNER_ONLY });
  } catch (cause) {
    throw refusal(folder, errorMessage(cause), 'Choose another folder', cause);
  }
  const status = lstatSync(folder);
  if (!status.isDirectory()) throw refusal(folder, 'it is a link', 'Name the folder itself');
  if (process.getuid !== undefined && status.uid !== process.getuid()) {
    throw refusal(folder, 'it belongs to another user', 'Choose a folder of your own');
  }
  // A sticky folder is one that many share, such as /tmp: closing it would lock the others out.
  if ((status.mode & STICKY) !== 0) throw refusal(folder, 'it is shared with others', 'Choose a folder of its own');
  if ((status.mode & OTHERS_MAY) === 0) return;

  const entries = readdirSync(folder);
  if (entries.length > 0 && !ownFiles.some((file) => entries.includes(file))) {
    throw refusal(
      folder,
      'others may enter it and it holds other files',
      'Run chmod 700 on it, or choose an empty folder',
    );
  }
  chmodSync(folder, OWNER_ONLY);
}

function refusal(folder: string, why: string, remedy: string, cause?: unknown): GauntletError {
  return new GauntletError('invalid_setting', `Cannot use the folder "${folder}": ${why}. ${remedy}`, { cause });
}
