/**
 * The data directory: holds a server's log, its sessions' files and its token.
 *
 * One server at a time holds it. The lock is SQLite's own on a file of the directory: the kernel releases it when its
 * holder dies, however it dies, and it also works between two containers that share the folder.
 */
import Database from 'libsql';
import { randomBytes } from 'node:crypto';
import { closeSync, lstatSync, openSync, readFileSync, realpathSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { GauntletError, errorMessage } from '../base/errors.ts';
import { DATA_FILES, ensurePrivateFolder } from './private-folder.ts';

/** Options of `openDataDirectory`. */
export interface DataDirectoryOptions {
  /** Absolute path. */
  readonly path: string;
  /** Ends the wait for the lock. */
  readonly signal: AbortSignal;
  /** Time to wait for a server that holds the lock. */
  readonly lockMs?: number;
}

/** A directory that this server has locked, until `close`. */
export interface DataDirectory {
  /** Real path. */
  readonly path: string;
  /**
   * Owner id in the markers of child processes: 32 hex digits, created with the directory and stored in it, and the
   * folder's inode. The inode differs in a copy of the directory, whose server must not end our children.
   */
  readonly id: string;
  /** Path of a session's files; the writer creates it. @throws {RangeError} If the id is malformed. */
  sessionFolder(sessionId: string): string;
  /**
   * Path of the earlier contents of files that a session changed; the session itself cannot read it.
   *
   * @throws {RangeError} As above.
   */
  historyFolder(sessionId: string): string;
  /** Parents of those two folders; each has one folder a session, named by its id. */
  readonly folderRoots: readonly string[];
  /** Release the lock. */
  close(): void;
}

/** Time that a second server on the same data directory waits for the first to end. */
const LOCK_MS = 10_000;

/** Between two tries for the lock. */
const LOCK_POLL_MS = 50;

const SESSION_ID = /^[A-Za-z0-9_-]{1,128}$/;
const DIRECTORY_ID = /^[0-9a-f]{32}$/;

/**
 * Create the directory, or use the existing one, and lock it.
 *
 * @throws {GauntletError} `invalid_setting` if it is not private, or another server has held it for `lockMs`.
 */
export async function openDataDirectory({
  path,
  signal,
  lockMs = LOCK_MS,
}: DataDirectoryOptions): Promise<DataDirectory> {
  ensurePrivateFolder(path, DATA_FILES);
  const realPath = realpathSync.native(path);
  const unlock = await lock(realPath, lockMs, signal);
  try {
    const sessions = join(realPath, 'sessions');
    const history = join(realPath, 'history');
    const folderRoots = [sessions, history];
    for (const folder of folderRoots) ensurePrivateFolder(folder, []);
    return {
      path: realPath,
      id: `${directoryId(join(realPath, 'id'))}-${lstatSync(realPath).ino}`,
      sessionFolder: (sessionId) => join(sessions, checkedId(sessionId)),
      historyFolder: (sessionId) => join(history, checkedId(sessionId)),
      folderRoots,
      close: unlock,
    };
  } catch (error) {
    unlock();
    throw error;
  }
}

/** @returns A function that releases the lock. */
async function lock(folder: string, lockMs: number, signal: AbortSignal): Promise<() => void> {
  const file = join(folder, 'lock');
  closeSync(openSync(file, 'a', 0o600));
  const database = new Database(file);
  const deadline = performance.now() + lockMs;
  try {
    while (!isLocked(database)) {
      if (performance.now() >= deadline) throw heldByAnother(folder, lockMs);
      await delay(LOCK_POLL_MS, undefined, { signal });
    }
  } catch (error) {
    database.close();
    throw error;
  }
  return () => {
    database.exec('ROLLBACK');
    database.close();
  };
}

/**
 * Take the lock: an exclusive transaction that writes nothing and stays open.
 *
 * @returns False while another process holds it.
 */
function isLocked(database: Database.Database): boolean {
  try {
    database.exec('BEGIN EXCLUSIVE');
    return true;
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'SQLITE_BUSY') return false;
    throw new GauntletError(
      'invalid_setting',
      `Cannot lock the data directory: ${errorMessage(cause)}. Choose another one`,
      { cause },
    );
  }
}

function heldByAnother(folder: string, waitedMs: number): GauntletError {
  return new GauntletError(
    'invalid_setting',
    `Cannot use the data directory "${folder}": another server has held it for ${waitedMs} ms. Stop that server, or set GAUNTLET_DATA_DIR to another folder`,
  );
}

/** Read or create the id. The lock ensures that only one is created, the rename that it is never read half written. */
function directoryId(file: string): string {
  const status = lstatSync(file, { throwIfNoEntry: false });
  if (status === undefined) return newDirectoryId(file);
  const id = status.isFile() ? readFileSync(file, 'utf8').trim() : '';
  if (DIRECTORY_ID.test(id)) return id;
  throw new GauntletError(
    'invalid_setting',
    `"${file}" does not hold the data directory's id. Remove it, and a new one is made`,
  );
}

function newDirectoryId(file: string): string {
  const id = randomBytes(16).toString('hex');
  writeFileSync(`${file}.new`, `${id}\n`, { mode: 0o600 });
  renameSync(`${file}.new`, file);
  return id;
}

function checkedId(sessionId: string): string {
  if (!SESSION_ID.test(sessionId)) throw new RangeError('Cannot derive a folder from an invalid session id');
  return sessionId;
}
