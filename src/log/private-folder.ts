/**
 * Creates and checks folders that only their owner may enter: the data directory and the folders in it.
 */
import { chmodSync, lstatSync, mkdirSync, readdirSync } from 'node:fs';
import { GauntletError, errorMessage } from '../base/errors.ts';

/** Files that identify a folder as a data directory, even before its first start. */
export const DATA_FILES: readonly string[] = ['id', 'token', 'gauntlet.config.json'];

const OWNER_ONLY = 0o700;
const GROUP_AND_OTHERS = 0o077;
const STICKY = 0o1000;

/**
 * Create `folder`, or check the existing one: a real folder, owned by this user, closed to others.
 *
 * An open folder is closed only if it is empty or holds one of `ownFiles`: closing `/` or a home folder that was named
 * by mistake would lock others out.
 *
 * @param folder Absolute path; missing parents are created too.
 * @throws {GauntletError} `invalid_setting`, with the remedy.
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
  // A sticky folder such as /tmp is shared by many: closing it would lock the others out.
  if ((status.mode & STICKY) !== 0) throw refusal(folder, 'it is shared with others', 'Choose a folder of its own');
  if ((status.mode & GROUP_AND_OTHERS) === 0) return;

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
