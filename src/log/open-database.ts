/**
 * Opens the log's file: pragmas of SQLite, schema, and a check for lost acknowledged rows.
 */
import Database from 'libsql';
import { closeSync, existsSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { errorMessage, GauntletError } from '../base/errors.ts';
import type { OnLogProblem } from './log-problem.ts';
import { isEpoch, migrate, newEpoch, writeEpoch } from './log-schema.ts';

const ROW_DIGITS = 16;

const CHECKSUM_DIGITS = 8;

/** Failure that acknowledged appends survive: the end of the process, or a power loss. */
export type Durability = 'process' | 'power';

/** Location, durability and maximum size of the file. */
export interface DatabaseOptions {
  /** Absolute path of an existing folder that only this server uses. */
  readonly folder: string;
  readonly durability: Durability;
  readonly maxBytes: number;
  readonly onProblem: OnLogProblem;
}

/** An open file with its identity and last numbers. */
export interface OpenDatabase {
  readonly database: Database.Database;
  readonly highWater: HighWaterMark;
  readonly epoch: string;
  /** Number of the last row ever written; row numbers are never reused. */
  readonly lastRow: number;
  /** Number of the newest session. */
  readonly lastSession: number;
}

/** A database whose tables are readable, and its last numbers. */
type Connection = Pick<OpenDatabase, 'database' | 'lastRow' | 'lastSession'> & { readonly epoch: string | undefined };

/**
 * Open `log.db` in the folder, or create it. A file that SQLite rejects is renamed and a new one created.
 *
 * @throws {GauntletError} `log_unavailable` if the disk fails; `invalid_setting` if a newer version wrote the file.
 */
export function openDatabase(options: DatabaseOptions): OpenDatabase {
  const { folder, onProblem } = options;
  const path = join(folder, 'log.db');
  try {
    const connection = connectOrRecreate(path, options);
    const highWater = openHighWaterMark(join(folder, 'log.mark'));
    const { found } = highWater;
    const kept = mayHaveLostRows(found, connection.lastRow) ? undefined : connection.epoch;
    const epoch = kept ?? beginEpoch(connection, found, onProblem);
    highWater.raise(connection.lastRow);
    return {
      ...connection,
      highWater,
      epoch,
      lastRow: Math.max(connection.lastRow, typeof found === 'number' ? found : 0),
    };
  } catch (cause) {
    if (cause instanceof GauntletError) throw cause;
    throw new GauntletError('log_unavailable', `Cannot open the log "${path}": ${errorMessage(cause)}`, { cause });
  }
}

function connectOrRecreate(path: string, options: DatabaseOptions): Connection {
  try {
    return connect(path, options);
  } catch (cause) {
    if (!isCorruption(cause) && !isSchemaError(cause)) throw cause;
    const damagedPath = renameDamaged(path);
    const message = `The log "${path}" is damaged and was renamed to "${damagedPath}"; a new one was begun`;
    options.onProblem({ code: 'database_set_aside', message, path: damagedPath, cause });
    return connect(path, options);
  }
}

function connect(path: string, { durability, maxBytes }: DatabaseOptions): Connection {
  // SQLite would create the file readable by all; its write-ahead log gets the mode of this file.
  closeSync(openSync(path, 'a', 0o600));
  const database = new Database(path);
  try {
    // Exclusive before the first access: the index of the write-ahead log then lives on the heap and
    // a transaction takes no file locks. One server a data directory is the rule anyway.
    database.pragma('locking_mode = EXCLUSIVE');
    database.pragma('journal_mode = WAL');
    // NORMAL syncs at checkpoints only: what was written to the kernel survives the end of the process, and a power loss
    // costs the newest frames but never the file.
    database.pragma(`synchronous = ${durability === 'power' ? 'FULL' : 'NORMAL'}`);
    migrate(database, path);
    const { page_size: pageBytes } = database.prepare('PRAGMA page_size').get() as { page_size: number };
    database.pragma(`max_page_count = ${Math.ceil(maxBytes / pageBytes)}`);
    return { database, ...readLastNumbers(database) };
  } catch (error) {
    database.close();
    throw error;
  }
}

/** Run `work` in a transaction, which is rolled back if it throws. */
export function inTransaction<Answer>(database: Database.Database, work: () => Answer): Answer {
  database.exec('BEGIN IMMEDIATE');
  try {
    const answer = work();
    database.exec('COMMIT');
    return answer;
  } catch (error) {
    // A full disk makes SQLite roll back by itself.
    if (database.inTransaction) database.exec('ROLLBACK');
    throw error;
  }
}

/** True if a statement failed to compile: the statements are constant, so the file's schema is not ours. */
function isSchemaError(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'SQLITE_ERROR';
}

/** True if SQLite reports that the file is damaged or not a database. */
export function isCorruption(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return code.startsWith('SQLITE_CORRUPT') || code === 'SQLITE_NOTADB';
}

/** Rename the file and its write-ahead log, which the new file must not replay. */
function renameDamaged(path: string): string {
  const damagedPath = `${path}.damaged-${new Date().toISOString().replaceAll(':', '')}`;
  for (const suffix of ['-wal', '-shm']) {
    if (existsSync(path + suffix)) renameSync(path + suffix, damagedPath + suffix);
  }
  renameSync(path, damagedPath);
  return damagedPath;
}

/** Removing a session deletes rows, so it stores the highest row number in `meta`. */
const SELECT_LAST_NUMBERS = `SELECT
  (SELECT CAST(value AS BLOB) FROM meta WHERE key = 'epoch') AS epoch,
  ifnull((SELECT max(number) FROM sessions), 0) AS lastSession,
  max(ifnull((SELECT max(row) FROM rows), 0), ifnull((SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'last_row'), 0)) AS lastRow`;

/**
 * Statements that name every table and column in use: a file with a damaged schema fails here, while it can still be
 * renamed.
 */
const REQUIRED_STATEMENTS = [
  'SELECT number, id, principal, created_at, title, checksum FROM sessions',
  'SELECT row, session, first, checksum, frames FROM rows INDEXED BY rows_of_session WHERE last = 0',
  'SELECT session, seq, bytes, checksum, state FROM snapshots',
  'SELECT session, key, checksum, value FROM facts',
  'SELECT principal, namespace, key, version, checksum, value FROM shared',
];

function readLastNumbers(database: Database.Database): Omit<Connection, 'database'> {
  for (const statement of REQUIRED_STATEMENTS) database.prepare(statement);
  const ends = database.prepare(SELECT_LAST_NUMBERS).get() as {
    epoch: ArrayBuffer | null;
    lastSession: number;
    lastRow: number;
  };
  // A damaged epoch is ignored: it could hold a dot, or be another log's.
  const epoch = Buffer.from(ends.epoch ?? new ArrayBuffer(0)).toString('latin1');
  return { epoch: isEpoch(epoch) ? epoch : undefined, lastSession: ends.lastSession, lastRow: ends.lastRow };
}

/** True if acknowledged rows may be missing: rows beyond the last one, a damaged mark, or rows without a mark. */
function mayHaveLostRows(found: HighWaterMark['found'], lastRow: number): boolean {
  return typeof found === 'number' ? found > lastRow : found === 'damaged' || lastRow > 0;
}

function beginEpoch({ database, lastRow }: Connection, found: HighWaterMark['found'], onProblem: OnLogProblem): string {
  const epoch = newEpoch();
  writeEpoch(database, epoch);
  const known =
    typeof found === 'number' ? `row ${found} was acknowledged` : 'its high-water mark is missing or damaged';
  const message = `The end of the log may be lost: it ends at row ${lastRow}, and ${known}. Clients are sent their sessions from the start`;
  onProblem({ code: 'frames_lost', message });
  return epoch;
}

/**
 * The number of the last committed row, in a file beside the database.
 *
 * SQLite silently drops a damaged end of its write-ahead log. The mark lets the next start detect that acknowledged
 * rows are gone.
 */
interface HighWaterMark {
  /** Row number read at opening; `undefined` if there was no file, `'damaged'` if its content is invalid. */
  readonly found: number | 'damaged' | undefined;
  /**
   * Set the mark, after the commit and before its appends resolve. Written in place with a fixed length, so a full disk
   * does not stop it. Not synced: the kernel keeps it when the process dies.
   *
   * @throws {Error} The file system's error.
   */
  raise(row: number): void;
  close(): void;
}

/** Open or create the mark at `path`. @throws {Error} The file system's error. */
function openHighWaterMark(path: string): HighWaterMark {
  const found = readMark(path);
  const descriptor = openSync(path, found === undefined ? 'w+' : 'r+', 0o600);
  return {
    found,
    raise: (row) => void writeSync(descriptor, markText(row), 0),
    close: () => closeSync(descriptor),
  };
}

function readMark(path: string): HighWaterMark['found'] {
  let text: string;
  try {
    text = readFileSync(path, 'latin1');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  const row = Number(text.slice(0, ROW_DIGITS));
  return Number.isSafeInteger(row) && text === markText(row) ? row : 'damaged';
}

function markText(row: number): string {
  const digits = String(row).padStart(ROW_DIGITS, '0');
  return `${digits} ${crc32(digits).toString(16).padStart(CHECKSUM_DIGITS, '0')}\n`;
}
