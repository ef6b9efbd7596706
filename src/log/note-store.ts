/**
 * Notes of the embedded log: the tables of snapshots and facts.
 */
import { checksumOfNote } from './checksums.ts';
import { columnText } from './column-text.ts';
import type { SessionNotes } from './frame-log.ts';
import type { OpenDatabase } from './open-database.ts';

/** Notes of one session, ready to be written. */
export interface NewNotes {
  /** Number of the session. */
  readonly session: number;
  readonly notes: SessionNotes;
  /** Approximate length of the rows appended since the last snapshot. */
  readonly bytes: number;
}

/** Access to both tables. Methods throw SQLite's errors; writers are called within a transaction. */
export class NoteStore {
  readonly #statements: ReturnType<typeof prepareStatements>;

  constructor({ database }: Pick<OpenDatabase, 'database'>) {
    this.#statements = prepareStatements(database);
  }

  write({ session, notes: { snapshot, facts = [] }, bytes }: NewNotes): void {
    for (const [key, value] of facts) {
      const text = JSON.stringify(value);
      this.#statements.insertFact.run([session, key, checksumOfNote(session, key, text), text]);
    }
    if (snapshot === undefined) return;
    const { seq } = snapshot;
    const text = JSON.stringify(snapshot.state);
    this.#statements.insertSnapshot.run([session, seq, bytes, checksumOfNote(session, seq, text), text]);
  }

  /** Read a fact: `undefined` if there is none, `null` if it is damaged. */
  fact(session: number, key: string): unknown {
    const columns = this.#statements.selectFact.get([session, key]) as
      { readonly checksum: number; readonly value: ArrayBuffer } | undefined;
    if (columns === undefined) return undefined;
    const text = columnText(columns.value);
    return checksumOfNote(session, key, text) === columns.checksum ? (JSON.parse(text) as unknown) : null;
  }

  /** Subtract deleted rows from the session's size. */
  reduceSize(session: number, bytes: number): void {
    this.#statements.reduceSize.run([bytes, session]);
  }

  /**
   * Delete up to `limit` facts of a removed session, and its snapshot once no fact is left.
   *
   * @returns True if facts may be left.
   */
  sweep(session: number, limit: number): boolean {
    if (this.#statements.deleteFacts.run([session, session, limit]).changes === limit) return true;
    this.#statements.deleteSnapshot.run([session]);
    return false;
  }
}

function prepareStatements(database: OpenDatabase['database']) {
  return {
    insertFact: database.prepare('INSERT OR REPLACE INTO facts VALUES (?, ?, ?, ?)'),
    insertSnapshot: database.prepare(
      `INSERT INTO snapshots VALUES (?, ?, ?, ?, ?) ON CONFLICT (session) DO UPDATE
       SET seq = excluded.seq, bytes = bytes + excluded.bytes, checksum = excluded.checksum, state = excluded.state
       WHERE excluded.seq >= seq`,
    ),
    reduceSize: database.prepare('UPDATE snapshots SET bytes = max(0, bytes - ?) WHERE session = ?'),
    selectFact: database.prepare(
      `SELECT CAST(checksum AS INTEGER) AS checksum, CAST(value AS BLOB) AS value FROM facts WHERE session = ? AND key = ?`,
    ),
    deleteFacts: database.prepare(
      'DELETE FROM facts WHERE session = ? AND key IN (SELECT key FROM facts WHERE session = ? LIMIT ?)',
    ),
    deleteSnapshot: database.prepare('DELETE FROM snapshots WHERE session = ?'),
  };
}
