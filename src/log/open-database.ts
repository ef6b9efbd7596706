/**
 * Opening the log's file: settings of SQLite, schema, and whether anything acknowledged is missing.
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

/** What an acknowledged append survives: the death of the process, or that of the machine. */
export type Durability = 'process' | 'power';

/** Where the file lies, what it may be trusted with and how large it may grow. */
export interface DatabaseOptions {
  /** Absolute; exists, and belongs to this server alone. */
  readonly folder: string;
  readonly durability: Durability;
  readonly maxBytes: number;
  readonly onProblem: OnLogProblem;
}

/** An open file and what must be known to go on with it. */
export interface OpenDatabase {
  readonly database: Database.Database;
  readonly highWater: HighWaterMark;
  readonly epoch: string;
  /** Number of the last row ever written; row numbers are never used twice. */
  readonly lastRow: number;
  /** Number of the newest session. */
  readonly lastSession: number;
}

/** A file whose tables can be read and how far they go. */
type Connection = Pick<OpenDatabase, 'database' | 'lastRow' | 'lastSession'> & { readonly epoch: string | undefined };

/**
 * Open `log.db` in the folder, or begin it. A file that SQLite refuses is renamed and a new one begun.
 *
 * @throws {GauntletError} `log_unavailable` if the disk refuses; `invalid_setting` if a newer version wrote the file.
 */
export function openDatabase(options: DatabaseOptions): OpenDatabase {
  const { folder, onProblem } = options;
  const path = join(folder, 'log.db');
  try {
    const connection = connectOrBeginAnew(path, options);
    const highWater = openHighWaterMark(join(folder, 'log.mark'));
    const { found } = highWater;
    const kept = mayHaveLost(found, connection.lastRow) ? undefined : connection.epoch;
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

function connectOrBeginAnew(path: string, options: DatabaseOptions): Connection {
  try {
    return connect(path, options);
  } catch (cause) {
    if (!isCorruption(cause) && !isSchemaError(cause)) throw cause;
    const aside = setAside(path);
    const message = `The log "${path}" is damaged and was renamed to "${aside}"; a new one was begun`;
    options.onProblem({ code: 'database_set_aside', message, path: aside, cause });
    return connect(path, options);
  }
}

function connect(path: string, { durability, maxBytes }: DatabaseOptions): Connection {
  // SQLite would create the file readable by all; its write-ahead log takes over the mode.
  closeSync(openSync(path, 'a', 0o600));
  const database = new Database(path);
  try {
    // Exclusive before the first access: the index of the write-ahead log then lives on the heap and
    // a transaction takes no file locks. One server a data directory is the rule anyway.
    database.pragma('locking_mode = EXCLUSIVE');
    database.pragma('journal_mode = WAL');
    // NORMAL syncs at checkpoints only: what the kernel was given survives our death, and a power
    // loss costs the newest frames but never the file.
    database.pragma(`synchronous = ${durability === 'power' ? 'FULL' : 'NORMAL'}`);
    migrate(database, path);
    const { page_size: pageBytes } = database.prepare('PRAGMA page_size').get() as { page_size: number };
    database.pragma(`max_page_count = ${Math.ceil(maxBytes / pageBytes)}`);
    return { database, ...readEnds(database) };
  } catch (error) {
    database.close();
    throw error;
  }
}

/** Do all of `work` or none of it. */
export function inTransaction<Answer>(database: Database.Database, work: () => Answer): Answer {
  database.exec('BEGIN IMMEDIATE');
  try {
    const answer = work();
    database.exec('COMMIT');
    return answer;
  } catch (error) {
    // A full disk ends the transaction by itself; then there is nothing to roll back.
    if (database.inTransaction) database.exec('ROLLBACK');
    throw error;
  }
}

/** The statements of a start are always the same; one that makes no sense met a schema that is not ours. */
function isSchemaError(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'SQLITE_ERROR';
}

/** Whether SQLite says that the file is damaged, or no database at all. */
export function isCorruption(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return code.startsWith('SQLITE_CORRUPT') || code === 'SQLITE_NOTADB';
}

/** The write-ahead log goes along, since the new file must not replay it. */
function setAside(path: string): string {
  const aside = `${path}.damaged-${new Date().toISOString().replaceAll(':', '')}`;
  for (const suffix of ['-wal', '-shm']) {
    if (existsSync(path + suffix)) renameSync(path + suffix, aside + suffix);
  }
  renameSync(path, aside);
  return aside;
}

/** A removal takes rows away and so leaves a note of how far the numbers had come. */
const ENDS = `SELECT
  (SELECT CAST(value AS BLOB) FROM meta WHERE key = 'epoch') AS epoch,
  ifnull((SELECT max(number) FROM sessions), 0) AS lastSession,
  max(ifnull((SELECT max(row) FROM rows), 0), ifnull((SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'last_row'), 0)) AS lastRow`;

/** What the log's statements name; a file with a damaged schema fails here, while it can be set aside. */
const NAMED = [
  'SELECT number, id, principal, created_at, title, checksum FROM sessions',
  'SELECT row, session, first, checksum, frames FROM rows INDEXED BY rows_of_session WHERE last = 0',
  'SELECT session, seq, bytes, checksum, state FROM snapshots',
  'SELECT session, key, checksum, value FROM facts',
  'SELECT principal, namespace, key, version, checksum, value FROM shared',
];

function readEnds(database: Database.Database): Omit<Connection, 'database'> {
  for (const statement of NAMED) database.prepare(statement);
  const ends = database.prepare(ENDS).get() as { epoch: ArrayBuffer | null; lastSession: number; lastRow: number };
  // A damaged epoch is none: it could hold a dot, or be another log's.
  const epoch = Buffer.from(ends.epoch ?? new ArrayBuffer(0)).toString('latin1');
  return { epoch: isEpoch(epoch) ? epoch : undefined, lastSession: ends.lastSession, lastRow: ends.lastRow };
}

/** Whether acknowledged rows are gone, as far as the mark can say: without a mark, nobody can. */
function mayHaveLost(found: HighWaterMark['found'], lastRow: number): boolean {
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
 * SQLite drops a damaged end of its write-ahead log silently. The mark is how the next start notices that acknowledged
 * rows are gone.
 */
interface HighWaterMark {
  /** What the file said when it was opened: a row number, `undefined` when there was no file, `'damaged'` when it makes no sense. */
  readonly found: number | 'damaged' | undefined;
  /**
   * Set the mark, after the commit and before anybody is told of it. In place and of fixed length:
   * a full disk does not stop it. Not synced: the operating system keeps it when the process dies.
   *
   * @throws {Error} What the file system says.
   */
  raise(row: number): void;
  close(): void;
}

/** Open or create the mark at `path`. @throws {Error} What the file system says. */
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
