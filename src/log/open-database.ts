/**
 * Opening the log's file: settings of SQLite, schema, and whether anything acknowledged is missing.
 */
import Database from 'libsql';
import { closeSync, existsSync, openSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { GauntletError, errorMessage } from '../contract/errors.ts';
import { openHighWaterMark, type HighWaterMark } from './high-water.ts';
import type { OnLogProblem } from './log-problem.ts';
import { migrate, newEpoch, writeEpoch } from './log-schema.ts';

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
}

/**
 * Open `log.db` in the folder, or begin it. A file that SQLite refuses is renamed and a new one begun.
 *
 * @throws {GauntletError} `log_unavailable` if the disk refuses; `invalid_setting` if a newer version wrote the file.
 */
export function openDatabase(options: DatabaseOptions): OpenDatabase {
  const { folder, onProblem } = options;
  const path = join(folder, 'log.db');
  try {
    const database = connectOrBeginAnew(path, options);
    const highWater = openHighWaterMark(join(folder, 'log.mark'));
    const lastOnDisk = lastRowOf(database);
    const epoch = epochAfterLoss({ database, found: highWater.found, lastOnDisk, onProblem });
    const lastRow = Math.max(lastOnDisk, typeof highWater.found === 'number' ? highWater.found : 0);
    highWater.raise(lastOnDisk);
    return { database, highWater, epoch, lastRow };
  } catch (cause) {
    if (cause instanceof GauntletError) throw cause;
    throw new GauntletError('log_unavailable', `Cannot open the log "${path}": ${errorMessage(cause)}`, { cause });
  }
}

function connectOrBeginAnew(path: string, options: DatabaseOptions): Database.Database {
  try {
    return connect(path, options);
  } catch (cause) {
    if (!isRefusal(cause)) throw cause;
    const aside = setAside(path);
    const message = `The log "${path}" is damaged and was renamed to "${aside}"; a new one was begun`;
    options.onProblem({ code: 'database_set_aside', message, path: aside, cause });
    return connect(path, options);
  }
}

function connect(path: string, { durability, maxBytes }: DatabaseOptions): Database.Database {
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
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

function isRefusal(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return code === 'SQLITE_CORRUPT' || code === 'SQLITE_NOTADB';
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
function lastRowOf(database: Database.Database): number {
  const sql = `SELECT max(ifnull((SELECT max(row) FROM rows), 0), ifnull((SELECT value FROM meta WHERE key = 'last_row'), 0)) AS last`;
  return (database.prepare(sql).get() as { last: number }).last;
}

interface Findings {
  readonly database: Database.Database;
  readonly found: HighWaterMark['found'];
  readonly lastOnDisk: number;
  readonly onProblem: OnLogProblem;
}

/** The stored epoch, or a new one if the mark says that acknowledged rows are gone, or cannot say. */
function epochAfterLoss({ database, found, lastOnDisk, onProblem }: Findings): string {
  const stored = database.prepare(`SELECT value FROM meta WHERE key = 'epoch'`).get() as { value: string } | undefined;
  const isWhole = typeof found === 'number' ? found <= lastOnDisk : found === undefined && lastOnDisk === 0;
  if (isWhole && stored !== undefined) return stored.value;

  const epoch = newEpoch();
  writeEpoch(database, epoch);
  const known = typeof found === 'number' ? `row ${found} was acknowledged` : 'its high-water mark is missing or damaged';
  const message = `The end of the log may be lost: it ends at row ${lastOnDisk}, and ${known}. Clients are sent their sessions from the start`;
  onProblem({ code: 'frames_lost', message });
  return epoch;
}
