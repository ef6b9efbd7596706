/**
 * Reads and writes rows and sessions of the embedded log.
 *
 * Contains the SQL and the handling of damage; readers, heads and waiting appends are elsewhere.
 */
import type { OpenedFrame, Seq } from '../wire/frames.ts';
import { checksumOfRow, checksumOfSession } from './checksums.ts';
import { columnText } from './column-text.ts';
import type { NewNotes, NoteStore } from './note-store.ts';
import { inTransaction, isCorruption, type OpenDatabase } from './open-database.ts';
import { readRowColumns, ROW_COLUMNS, ROW_TIME, type StoredRow } from './stored-row.ts';
import { readSessionColumns, SESSION_COLUMNS, SESSION_TABLES, type SessionEntry } from './stored-session.ts';

/** One append, ready to be written. */
export interface NewRow {
  /** Number of the session. */
  readonly session: number;
  readonly first: Seq;
  readonly last: Seq;
  readonly text: string;
  /** First frame of a session that begins with this row. */
  readonly opened?: OpenedFrame;
}

/** One entry of a list. */
export interface ListedSession {
  readonly number: number;
  readonly session: SessionEntry | undefined;
}

/** Statements over the open tables. Every method throws SQLite's errors. */
export class RowStore {
  readonly #open: OpenDatabase;
  readonly #notes: NoteStore;
  readonly #statements: ReturnType<typeof prepareStatements>;
  /** Called when the high-water mark of a committed row could not be written. */
  readonly #onMarkFailed: (cause: unknown) => void;
  /** Never decreases, not even after a failed commit, which may have failed after the data was written. */
  #lastRow: number;
  #lastSession: number;

  constructor(open: OpenDatabase, notes: NoteStore, onMarkFailed: (cause: unknown) => void) {
    this.#open = open;
    this.#notes = notes;
    this.#statements = prepareStatements(open.database);
    this.#onMarkFailed = onMarkFailed;
    this.#lastRow = open.lastRow;
    this.#lastSession = open.lastSession;
  }

  /** Allocate an unused session number. */
  newSessionNumber(): number {
    this.#lastSession += 1;
    return this.#lastSession;
  }

  /** Write all rows and notes in one transaction; they are committed when this returns. */
  commit(rows: readonly NewRow[], notes: readonly NewNotes[]): void {
    const [row] = rows;
    // A single statement is its own transaction, which saves BEGIN and COMMIT.
    if (row && rows.length === 1 && !row.opened && notes.length === 0) this.#insert(row);
    else inTransaction(this.#open.database, () => this.#write(rows, notes));
    if (rows.length === 0) return;
    try {
      this.#open.highWater.raise(this.#lastRow);
    } catch (cause) {
      // The rows are committed; only the next start's check for lost rows is weaker.
      this.#onMarkFailed(cause);
    }
  }

  /** Find a session that was not removed; throws if its record is damaged. */
  session(sessionId: string): SessionEntry | undefined {
    const columns = this.#statements.selectSession.get([sessionId]);
    if (columns === undefined) return undefined;
    const entry = readSessionColumns(columns, sessionId);
    if (entry === undefined) throw new Error(`the entry of session "${sessionId}" is damaged`);
    return entry;
  }

  /**
   * Sessions of one principal with a number below `before`, newest first; `session` is `undefined` for damaged records.
   */
  list(principal: string, limit: number, before: number): readonly ListedSession[] {
    const page = this.#statements.selectPage.all([principal, before, limit]) as readonly { readonly number: number }[];
    return page.map((columns) => ({ number: columns.number, session: readSessionColumns(columns) }));
  }

  /** Read the time of the session's newest row; `undefined` if there is none, or its text does not begin as ours. */
  lastAt(sessionId: string): string | undefined {
    const row = this.#statements.selectTime.get([sessionId]) as { readonly time: ArrayBuffer } | undefined;
    const time = row && columnText(row.time);
    return time !== undefined && /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(time) ? time : undefined;
  }

  /**
   * Read rows that end after `after`, in order, at most `limit`. Damaged pages yield one row without text that spans
   * them.
   */
  rowsAfter(session: number, after: Seq, limit: number): readonly StoredRow[] {
    return ifReadable(() => this.#rowsOnDisk(session, after, limit)) ?? [this.#readPastDamage(session, after)];
  }

  /** Clear a session's id; `sweep` deletes its rows later. */
  forget(session: number): void {
    const { database } = this.#open;
    inTransaction(database, () => {
      database.prepare('UPDATE sessions SET id = NULL WHERE number = ?').run([session]);
      database.prepare(`INSERT OR REPLACE INTO meta VALUES ('last_row', ?)`).run([this.#lastRow]);
    });
  }

  /** Sessions that were removed but not swept, perhaps by an earlier process. */
  forgotten(): readonly number[] {
    const rows = this.#open.database.prepare('SELECT number FROM sessions WHERE id IS NULL').all();
    return (rows as { readonly number: number }[]).map(({ number }) => number);
  }

  /** Delete a removed session whose rows and notes are gone. */
  delete(session: number): void {
    this.#open.database.prepare('DELETE FROM sessions WHERE number = ?').run([session]);
  }

  /** Close the file and release its lock. */
  close(): void {
    const { database, highWater } = this.#open;
    try {
      // The native connection keeps the lock until its statements are garbage collected. Leaving WAL mode empties the
      // write-ahead log and releases the lock at once.
      database.pragma('journal_mode = DELETE');
      database.pragma('locking_mode = NORMAL');
      database.prepare('SELECT 1 FROM meta').get();
    } catch {
      // A full disk leaves no room for this. The write-ahead log stays, and the next start reads it.
    }
    database.close();
    highWater.close();
  }

  #write(rows: readonly NewRow[], notes: readonly NewNotes[]): void {
    for (const row of rows) this.#insert(row);
    for (const each of notes) this.#notes.write(each);
  }

  #insert({ session, first, last, text, opened }: NewRow): void {
    const { insertRow, insertSession } = this.#statements;
    if (opened !== undefined) {
      const { session_id: sessionId, principal, created_at: createdAt, title = null } = opened;
      const checksum = checksumOfSession({ number: session, sessionId, principal, createdAt });
      insertSession.run([session, sessionId, principal, createdAt, title, checksum]);
    }
    this.#lastRow += 1;
    insertRow.run([this.#lastRow, session, first, last, checksumOfRow(session, { first, last }, text), text]);
  }

  #rowsOnDisk(session: number, after: Seq, limit: number): readonly StoredRow[] {
    return this.#statements.selectRows.all([session, after, limit]).map((columns) => readRowColumns(columns, session));
  }

  /** Read only the next row, or, if that fails too, its last `seq` from the index. */
  #readPastDamage(session: number, after: Seq): StoredRow {
    const next = ifReadable(() => this.#rowsOnDisk(session, after, 1))?.[0];
    if (next !== undefined) return next;
    const end = ifReadable(() => this.#statements.selectEnd.get([session, after]) as { readonly last: Seq | null });
    return { first: after + 1, last: end?.last ?? Number.MAX_SAFE_INTEGER, text: undefined };
  }
}

function prepareStatements(database: OpenDatabase['database']) {
  return {
    insertRow: database.prepare('INSERT INTO rows VALUES (?, ?, ?, ?, ?, ?)'),
    insertSession: database.prepare('INSERT INTO sessions VALUES (?, ?, ?, ?, ?, ?)'),
    selectSession: database.prepare(`SELECT ${SESSION_COLUMNS} FROM ${SESSION_TABLES} WHERE id = ?`),
    selectPage: database.prepare(
      `SELECT ${SESSION_COLUMNS} FROM ${SESSION_TABLES} WHERE principal = ? AND id IS NOT NULL AND number < ? ORDER BY number DESC LIMIT ?`,
    ),
    selectRows: database.prepare(
      `SELECT ${ROW_COLUMNS} FROM rows WHERE session = ? AND rows.last > ? ORDER BY rows.last LIMIT ?`,
    ),
    selectTime: database.prepare(
      `SELECT ${ROW_TIME} AS time FROM rows WHERE session = (SELECT number FROM sessions WHERE id = ?) ORDER BY last DESC LIMIT 1`,
    ),
    selectEnd: database.prepare(
      'SELECT CAST(min(last) AS INTEGER) AS last FROM rows WHERE session = ? AND rows.last > ?',
    ),
  };
}

/** Run `read`; `undefined` if it meets a damaged page. */
function ifReadable<Answer>(read: () => Answer): Answer | undefined {
  try {
    return read();
  } catch (error) {
    if (isCorruption(error)) return undefined;
    throw error;
  }
}
