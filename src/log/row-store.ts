/**
 * The statements of the embedded log: rows and sessions in, rows and sessions out.
 *
 * Knows SQL and checksums; knows nothing of readers, heads or waiting appends.
 */
import type Database from 'libsql';
import { crc32 } from 'node:zlib';
import type { OpenedFrame, Seq } from '../contract/frames.ts';
import type { LogBounds, LoggedSession } from './frame-log.ts';
import { isCorruption, type OpenDatabase } from './open-database.ts';

/** One append, ready to be written. */
export interface NewRow {
  /** Number of the session. */
  readonly session: number;
  readonly first: Seq;
  readonly last: Seq;
  readonly text: string;
  /** The first frame of a session that begins with this row. */
  readonly opened?: OpenedFrame;
}

/** One append as it was read. */
export interface StoredRow {
  readonly first: Seq;
  readonly last: Seq;
  /** undefined when the row is not what was written. */
  readonly text: string | undefined;
}

/** A session as the tables know it. */
export interface SessionEntry {
  readonly number: number;
  readonly bounds: LogBounds;
}

/** The open tables. Every function throws what SQLite says. */
export interface RowStore {
  /** A number no session has had since the log was opened. */
  newSessionNumber(): number;
  /** Write all rows or none; what they hold is committed when this returns. */
  commit(rows: readonly NewRow[]): void;
  session(sessionId: string): SessionEntry | undefined;
  /** The rows that end after `after`, in order, at most `limit`; where pages of the file are damaged, one that stands for them. */
  rowsAfter(session: number, after: Seq, limit: number): readonly StoredRow[];
  find(sessionId: string): LoggedSession | undefined;
  list(principal: string, limit: number, before: string | undefined): readonly LoggedSession[];
  /** Take a session's name away; its rows stay until `sweep`. */
  forget(session: number): void;
  /** Delete up to `limit` rows of a forgotten session, and at last the session. @returns Whether any is left. */
  sweep(session: number, limit: number): boolean;
  /** Sessions that were forgotten and not swept, perhaps by an earlier process. */
  forgotten(): readonly number[];
  close(): void;
}

/**
 * Every column is read as the type it must have, text as bytes: on damaged text that is not UTF-8 the
 * native part of libsql ends the process.
 */
const SESSION_COLUMNS = `CAST(id AS BLOB) AS sessionId, CAST(principal AS BLOB) AS principal, CAST(created_at AS BLOB) AS createdAt,
  ifnull((SELECT CAST(first AS INTEGER) FROM rows WHERE session = number ORDER BY last LIMIT 1), 1) AS first,
  ifnull((SELECT CAST(max(last) AS INTEGER) FROM rows WHERE session = number), 0) AS head`;

const ROW_COLUMNS = `CAST(first AS INTEGER) AS first, CAST(last AS INTEGER) AS last,
  CAST(checksum AS INTEGER) AS checksum, CAST(frames AS BLOB) AS frames`;

/** Prepare the statements of an open log. @param onMarkFailed Called when a committed row could not be marked. */
export function rowStore(open: OpenDatabase, onMarkFailed: (cause: unknown) => void): RowStore {
  const { database, highWater } = open;
  const insertRow = database.prepare('INSERT INTO rows VALUES (?, ?, ?, ?, ?, ?)');
  const insertSession = database.prepare('INSERT INTO sessions VALUES (?, ?, ?, ?, ?)');
  const selectSession = database.prepare(`SELECT number, ${SESSION_COLUMNS} FROM sessions WHERE id = ?`);
  const selectPage = database.prepare(
    `SELECT ${SESSION_COLUMNS} FROM sessions WHERE principal = ? AND id IS NOT NULL AND number < ? ORDER BY number DESC LIMIT ?`,
  );
  const selectRows = database.prepare(
    `SELECT ${ROW_COLUMNS} FROM rows WHERE session = ? AND rows.last > ? ORDER BY rows.last LIMIT ?`,
  );
  const selectLast = database.prepare('SELECT CAST(min(last) AS INTEGER) AS last FROM rows WHERE session = ? AND rows.last > ?');
  let { lastRow, lastSession } = open;

  function insert(row: NewRow): void {
    const { opened } = row;
    if (opened !== undefined) {
      insertSession.run([row.session, opened.session_id, opened.principal, opened.created_at, opened.title ?? null]);
    }
    lastRow += 1;
    insertRow.run([lastRow, row.session, row.first, row.last, checksum(row.session, row, row.text), row.text]);
  }

  function sessionRow(sessionId: string): (SessionColumns & { readonly number: number }) | undefined {
    return selectSession.get([sessionId]) as (SessionColumns & { readonly number: number }) | undefined;
  }

  function rowsOnDisk(session: number, after: Seq, limit: number): readonly StoredRow[] {
    return (selectRows.all([session, after, limit]) as RowColumns[]).map((row) => verified(row, session));
  }

  /** Where a page of the file is damaged: the next row, or how far the index says it went. */
  function nextRowOfDamaged(session: number, after: Seq): StoredRow {
    const lost = { first: after + 1, last: Number.MAX_SAFE_INTEGER, text: undefined };
    try {
      return rowsOnDisk(session, after, 1)[0] ?? lost;
    } catch (error) {
      if (!isCorruption(error)) throw error;
    }
    try {
      const { last } = selectLast.get([session, after]) as { last: Seq | null };
      return last === null ? lost : { ...lost, last };
    } catch (error) {
      if (!isCorruption(error)) throw error;
      return lost;
    }
  }

  return {
    newSessionNumber: () => (lastSession += 1),
    commit(rows) {
      inTransaction(database, () => rows.forEach(insert));
      try {
        highWater.raise(lastRow);
      } catch (cause) {
        // The rows are safe; only the check of the next start is weaker.
        onMarkFailed(cause);
      }
    },
    session(sessionId) {
      const found = sessionRow(sessionId);
      return found && { number: found.number, bounds: { first: found.first, head: found.head } };
    },
    rowsAfter(session, after, limit) {
      try {
        return rowsOnDisk(session, after, limit);
      } catch (error) {
        if (!isCorruption(error)) throw error;
        return [nextRowOfDamaged(session, after)];
      }
    },
    find(sessionId) {
      const found = sessionRow(sessionId);
      return found && loggedSession(found);
    },
    list(principal, limit, before) {
      const end = before === undefined ? Number.MAX_SAFE_INTEGER : sessionRow(before)?.number;
      if (end === undefined) return [];
      return (selectPage.all([principal, end, limit]) as SessionColumns[]).map(loggedSession);
    },
    forget(session) {
      inTransaction(database, () => {
        database.prepare('UPDATE sessions SET id = NULL WHERE number = ?').run([session]);
        database.prepare(`INSERT OR REPLACE INTO meta VALUES ('last_row', ?)`).run([lastRow]);
      });
    },
    sweep(session, limit) {
      const sql = 'DELETE FROM rows WHERE row IN (SELECT row FROM rows WHERE session = ? LIMIT ?)';
      const { changes } = database.prepare(sql).run([session, limit]);
      if (changes === limit) return true;
      database.prepare('DELETE FROM sessions WHERE number = ?').run([session]);
      return false;
    },
    forgotten() {
      const rows = database.prepare('SELECT number FROM sessions WHERE id IS NULL').all() as { number: number }[];
      return rows.map((row) => row.number);
    },
    close() {
      try {
        // The native connection, and with it the lock, lives on until the statements are collected.
        // Leaving the write-ahead log empties it and is what lets the lock go at once.
        database.pragma('journal_mode = DELETE');
        database.pragma('locking_mode = NORMAL');
        database.prepare('SELECT 1 FROM meta').get();
      } catch {
        // A full disk has no room to tidy up. The write-ahead log stays, and the next start reads it.
      }
      database.close();
      highWater.close();
    },
  };
}

interface SessionColumns {
  readonly sessionId: ArrayBuffer;
  readonly principal: ArrayBuffer;
  readonly createdAt: ArrayBuffer;
  readonly first: Seq;
  readonly head: Seq;
}

interface RowColumns {
  readonly first: Seq;
  readonly last: Seq;
  readonly checksum: number;
  readonly frames: ArrayBuffer | null;
}

function loggedSession({ sessionId, principal, createdAt, first, head }: SessionColumns): LoggedSession {
  const text = (bytes: ArrayBuffer): string => Buffer.from(bytes).toString();
  return { sessionId: text(sessionId), principal: text(principal), createdAt: text(createdAt), bounds: { first, head } };
}

/** Over the row's place and its text, so that a row is not taken for another one's either. */
function checksum(session: number, { first, last }: { readonly first: Seq; readonly last: Seq }, text: string | Buffer): number {
  return crc32(text, crc32(`${session} ${first} ${last} `));
}

function verified({ first, last, checksum: stored, frames }: RowColumns, session: number): StoredRow {
  const bytes = Buffer.from(frames ?? new ArrayBuffer(0));
  const isWhole = checksum(session, { first, last }, bytes) === stored;
  return { first, last, text: isWhole ? bytes.toString() : undefined };
}

function inTransaction(database: Database.Database, work: () => void): void {
  database.exec('BEGIN IMMEDIATE');
  try {
    work();
    database.exec('COMMIT');
  } catch (error) {
    // A full disk ends the transaction by itself; then there is nothing to roll back.
    if (database.inTransaction) database.exec('ROLLBACK');
    throw error;
  }
}
