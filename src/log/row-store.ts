/**
 * The statements of the embedded log: rows and sessions in, rows and sessions out.
 *
 * Knows SQL and damage; knows nothing of readers, heads or waiting appends.
 */
import type { OpenedFrame, Seq } from '../wire/frames.ts';
import { checksumOfRow, checksumOfSession } from './checksums.ts';
import type { NewNotes, NoteStore } from './note-store.ts';
import { inTransaction, isCorruption, type OpenDatabase } from './open-database.ts';
import { readRowColumns, ROW_COLUMNS, type StoredRow } from './stored-row.ts';
import { readSessionColumns, SESSION_COLUMNS, SESSION_TABLES, type SessionEntry } from './stored-session.ts';

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

/** A line of a list. */
export interface ListedSession {
  readonly number: number;
  readonly session: SessionEntry | undefined;
}

/** The open tables. Every method throws what SQLite says. */
export class RowStore {
  readonly #open: OpenDatabase;
  readonly #notes: NoteStore;
  readonly #statements: ReturnType<typeof prepareStatements>;
  /** Called when a committed row could not be marked. */
  readonly #onMarkFailed: (cause: unknown) => void;
  /** Never goes back, a failed commit's numbers are left out: a failure may come after the fact. */
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

  /** A number no session of the file has. */
  newSessionNumber(): number {
    this.#lastSession += 1;
    return this.#lastSession;
  }

  /** Write all rows and notes or none; what they hold is committed when this returns. */
  commit(rows: readonly NewRow[], notes: readonly NewNotes[]): void {
    const [row] = rows;
    // One statement is a transaction by itself, without the cost of beginning and committing one.
    if (row && rows.length === 1 && !row.opened && notes.length === 0) this.#insert(row);
    else inTransaction(this.#open.database, () => this.#write(rows, notes));
    if (rows.length === 0) return;
    try {
      this.#open.highWater.raise(this.#lastRow);
    } catch (cause) {
      // The rows are safe; only the check of the next start is weaker.
      this.#onMarkFailed(cause);
    }
  }

  /** The session, if there is one that was not forgotten; throws if its entry is damaged. */
  session(sessionId: string): SessionEntry | undefined {
    const columns = this.#statements.selectSession.get([sessionId]);
    if (columns === undefined) return undefined;
    const entry = readSessionColumns(columns, sessionId);
    if (entry === undefined) throw new Error(`the entry of session "${sessionId}" is damaged`);
    return entry;
  }

  /** Sessions of one principal with a number below `before`, newest first; without `session` where one is damaged. */
  list(principal: string, limit: number, before: number): readonly ListedSession[] {
    const page = this.#statements.selectPage.all([principal, before, limit]) as readonly { readonly number: number }[];
    return page.map((columns) => ({ number: columns.number, session: readSessionColumns(columns) }));
  }

  /** The rows that end after `after`, in order, at most `limit`; where the file is damaged, one that stands for them. */
  rowsAfter(session: number, after: Seq, limit: number): readonly StoredRow[] {
    return ifReadable(() => this.#rowsOnDisk(session, after, limit)) ?? [this.#nextRowOfDamaged(session, after)];
  }

  /** Take a session's name away; its rows stay until `sweep`. */
  forget(session: number): void {
    const { database } = this.#open;
    inTransaction(database, () => {
      database.prepare('UPDATE sessions SET id = NULL WHERE number = ?').run([session]);
      database.prepare(`INSERT OR REPLACE INTO meta VALUES ('last_row', ?)`).run([this.#lastRow]);
    });
  }

  /** Sessions that were forgotten and not swept, perhaps by an earlier process. */
  forgotten(): readonly number[] {
    const rows = this.#open.database.prepare('SELECT number FROM sessions WHERE id IS NULL').all();
    return (rows as { readonly number: number }[]).map(({ number }) => number);
  }

  /** Delete a forgotten session whose rows and notes are gone. */
  delete(session: number): void {
    this.#open.database.prepare('DELETE FROM sessions WHERE number = ?').run([session]);
  }

  /** Close the file and let its lock go. */
  close(): void {
    const { database, highWater } = this.#open;
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

  /** The next row alone, if that much can be read, or how far the index says that it went. */
  #nextRowOfDamaged(session: number, after: Seq): StoredRow {
    const next = ifReadable(() => this.#rowsOnDisk(session, after, 1))?.[0];
    if (next !== undefined) return next;
    const ends = ifReadable(() => this.#statements.selectEnd.get([session, after]) as { readonly last: Seq | null });
    return { first: after + 1, last: ends?.last ?? Number.MAX_SAFE_INTEGER, text: undefined };
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
    selectEnd: database.prepare(
      'SELECT CAST(min(last) AS INTEGER) AS last FROM rows WHERE session = ? AND rows.last > ?',
    ),
  };
}

/** What `read` returns, or undefined where it meets a damaged page. */
function ifReadable<Answer>(read: () => Answer): Answer | undefined {
  try {
    return read();
  } catch (error) {
    if (isCorruption(error)) return undefined;
    throw error;
  }
}
