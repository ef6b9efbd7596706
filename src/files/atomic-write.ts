/**
 * The only writer of files: a file is written completely or not at all, and only where it was located.
 *
 * The parent folder is opened first and compared with its real path; on Linux every later step goes through that
 * descriptor, so that a folder swapped for a link afterwards has no effect. The content goes to a temporary file beside
 * the target, which is then renamed.
 */
import { randomUUID } from 'node:crypto';
import { accessSync, closeSync, constants, lstatSync, renameSync, rmSync, type Stats } from 'node:fs';
import { open } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { GauntletError } from '../base/errors.ts';
import { fileError } from './file-error.ts';
import { isSameFile, PERMISSION_BITS } from './file-stats.ts';
import { openFolder, pathThrough } from './open-folder.ts';
import { errorCode } from './real-path.ts';

/** One file to write. */
export interface AtomicWrite {
  /** Real path from `LocatePath`. */
  readonly real: string;
  /** Path as the caller wrote it, for messages. */
  readonly spelled: string;
  readonly content: string | Uint8Array;
  /** Required state of the target: the file that was read, no file, or any. */
  readonly expected: Stats | 'absent' | 'any';
  /** Permission bits of a new file, before the umask; 0666 by default. */
  readonly newFileMode?: number;
  /** Exact permission bits, of a new or an existing file. */
  readonly mode?: number;
  /** Permission bits of new folders, before the umask; 0777 by default. */
  readonly newFolderMode?: number;
  /** Name of the temporary file in the same folder; random by default. */
  readonly temporaryName?: string;
  /** True to sync to the disk before renaming; the default. */
  readonly isDurable?: boolean;
}

/**
 * Write a file by rename, creating parent folders.
 *
 * An existing file keeps its mode, without setuid and setgid, and its owner if the server may set it.
 *
 * @returns Stats of the written file.
 * @throws {GauntletError} `tool_failed` (`details.reason`: `changed`, `exists`, `moved`, `enospc`, …),
 * `resource_exhausted`.
 */
export async function atomicWrite(write: AtomicWrite): Promise<Stats> {
  let folder: number | undefined;
  try {
    folder = openFolder(dirname(write.real), write.spelled, write.newFolderMode ?? PERMISSION_BITS);
    return await replace(write, folder);
  } catch (error) {
    throw fileError('Cannot write', write.spelled, error);
  } finally {
    if (folder !== undefined) closeSync(folder);
  }
}

async function replace(write: AtomicWrite, folder: number): Promise<Stats> {
  const place = pathThrough(folder, dirname(write.real));
  const target = join(place, basename(write.real));
  const temporary = join(place, write.temporaryName ?? `.gauntlet-${randomUUID()}`);
  const existing = checkTarget(write, target);
  if (existing) accessSync(target, constants.W_OK);
  try {
    await writeTemporary(write, temporary, existing);
    checkTarget(write, target);
    renameSync(temporary, target);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
  return lstatSync(target);
}

async function writeTemporary(write: AtomicWrite, temporary: string, existing: Stats | undefined): Promise<void> {
  const handle = await open(temporary, 'wx', existing ? 0o600 : (write.newFileMode ?? 0o666));
  try {
    await handle.writeFile(write.content);
    if (existing) {
      const own = await handle.stat();
      if (own.uid !== existing.uid || own.gid !== existing.gid) await changeOwner(handle, existing);
    }
    const mode = write.mode ?? existing?.mode;
    if (mode !== undefined) await handle.chmod(mode & PERMISSION_BITS);
    if (write.isDurable !== false) await handle.sync();
  } finally {
    await handle.close();
  }
}

async function changeOwner(handle: { chown(uid: number, gid: number): Promise<void> }, to: Stats): Promise<void> {
  try {
    await handle.chown(to.uid, to.gid);
  } catch (error) {
    // Only a privileged process may change the owner; otherwise the writer becomes the owner, as with any editor.
    if (errorCode(error) !== 'EPERM') throw error;
  }
}

/** Check the target as late as possible, so that nothing written since it was read is lost. */
function checkTarget(write: AtomicWrite, target: string): Stats | undefined {
  const now = lstatSync(target, { throwIfNoEntry: false });
  if (now && !now.isFile())
    throw refuse(write, now.isDirectory() ? 'it is a folder' : 'it is not a regular file', 'irregular');
  if (write.expected === 'any') return now;
  if (write.expected === 'absent') {
    if (now) throw refuse(write, 'it came into being meanwhile. Read it first', 'exists');
    return undefined;
  }
  if (!isSameFile(write.expected, now))
    throw refuse(write, 'it changed while it was being edited. Read it again first', 'changed');
  return now;
}

function refuse(write: AtomicWrite, why: string, reason: string): GauntletError {
  return new GauntletError('tool_failed', `Cannot write "${write.spelled}": ${why}`, { details: { reason } });
}
