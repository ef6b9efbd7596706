/**
 * Files are written here and nowhere else: whole or not at all, and only where they were located.
 *
 * The parent folder is opened first and compared with its real path; on Linux everything after goes
 * through that descriptor, so that a folder swapped for a link afterwards changes nothing. A temporary
 * file beside the target takes the content, then its name.
 */
import { randomUUID } from 'node:crypto';
import { accessSync, closeSync, constants, lstatSync, renameSync, rmSync, type Stats } from 'node:fs';
import { open } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { GauntletError } from '../base/errors.ts';
import { fileError } from './file-error.ts';
import { isSameFile, PERMISSION_BITS } from './file-stats.ts';
import { openFolder, through } from './open-folder.ts';
import { errorCode } from './real-path.ts';

/** One file to write. */
export interface AtomicWrite {
  /** Real path, as `LocatePath` found it. */
  readonly real: string;
  /** How the caller wrote it, for messages. */
  readonly spelled: string;
  readonly content: string | Uint8Array;
  /** What must still be there: the file that was read, nothing, or whatever there is. */
  readonly expected: Stats | 'absent' | 'any';
  /** Permission bits of a file that is new, before the umask; 0666 by default. */
  readonly newFileMode?: number;
  /** Permission bits exactly so, of a file that is new or not. */
  readonly mode?: number;
  /** Permission bits of folders that are new, before the umask; 0777 by default. */
  readonly newFolderMode?: number;
  /** Of the file that takes the content first, in the same folder; by default one that nobody knows. */
  readonly temporaryName?: string;
  /** Wait until the disk has it; true by default. */
  readonly isDurable?: boolean;
}

/**
 * Write a file by rename; parents are created.
 *
 * An existing file keeps its mode, setuid and setgid dropped, and its owner where the server may give it away.
 *
 * @returns What is there now.
 * @throws {GauntletError} `tool_failed` (`details.reason`: `changed`, `exists`, `moved`, `enospc`, …), `resource_exhausted`.
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
  const place = through(folder, dirname(write.real));
  const target = join(place, basename(write.real));
  const temporary = join(place, write.temporaryName ?? `.gauntlet-${randomUUID()}`);
  const existing = expectTarget(write, target);
  if (existing) accessSync(target, constants.W_OK);
  try {
    await writeTemporary(write, temporary, existing);
    expectTarget(write, target);
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
      if (own.uid !== existing.uid || own.gid !== existing.gid) await giveAway(handle, existing);
    }
    const mode = write.mode ?? existing?.mode;
    if (mode !== undefined) await handle.chmod(mode & PERMISSION_BITS);
    if (write.isDurable !== false) await handle.sync();
  } finally {
    await handle.close();
  }
}

async function giveAway(handle: { chown(uid: number, gid: number): Promise<void> }, to: Stats): Promise<void> {
  try {
    await handle.chown(to.uid, to.gid);
  } catch (error) {
    // Only a privileged server may give a file away; for any other the writer becomes the owner, as with any editor.
    if (errorCode(error) !== 'EPERM') throw error;
  }
}

/** Look at the target as late as possible: nothing written since it was read may be lost. */
function expectTarget(write: AtomicWrite, target: string): Stats | undefined {
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
