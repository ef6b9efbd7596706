/**
 * Queries of retention: age and size of sessions, and deletion of their oldest rows.
 */
import type { Seq } from '../wire/frames.ts';
import { columnText } from './column-text.ts';
import type { PageRequest, TrimGoal, WeighedSession } from './frame-log.ts';
import type { OpenDatabase } from './open-database.ts';
import { ROW_TIME } from './stored-row.ts';

/** Most that one step may delete, since it blocks the event loop. */
export interface TrimStep {
  readonly rows: number;
  readonly bytes: number;
}

/** Result of one trim step. */
export interface TrimResult {
  readonly bytes: number;
  /** Lowest `seq` left; `undefined` if nothing was deleted. */
  readonly first: Seq | undefined;
  /** True if another step may find more to delete. */
  readonly isMore: boolean;
}

/** Statements over the open tables. Every method throws SQLite's errors. */
export class RetentionStore {
  readonly #database: OpenDatabase['database'];
  readonly #statements: ReturnType<typeof prepareStatements>;

  constructor({ database }: Pick<OpenDatabase, 'database'>) {
    this.#database = database;
    this.#statements = prepareStatements(database);
  }

  /** Sessions with a number above `after`, in order; those without rows are left out. */
  weigh(after: number, limit: PageRequest['limit']): readonly (WeighedSession & { readonly number: number })[] {
    const rows = this.#statements.weigh.all([after, limit]) as readonly WeighedColumns[];
    return rows.map(({ sessionId, principal, oldest, newest, first, head, ...numbers }) => ({
      ...numbers,
      sessionId: columnText(sessionId),
      principal: columnText(principal),
      bounds: { first, head },
      oldest: columnText(oldest),
      newest: columnText(newest),
    }));
  }

  /** Delete the oldest rows of a session up to `upTo`, until the goal or the step's limit is reached. */
  trim(session: number, upTo: Seq, goal: TrimGoal, step: TrimStep): TrimResult {
    const rows = this.#statements.oldest.all([session, upTo, step.rows]) as readonly OldRow[];
    let bytes = 0;
    let last: Seq | undefined;
    for (const row of rows) {
      const isDue = bytes < goal.bytes || columnText(row.time) < goal.olderThan;
      if (!isDue || bytes >= step.bytes) break;
      bytes += row.bytes;
      last = row.last;
    }
    if (last === undefined) return { bytes: 0, first: undefined, isMore: false };
    this.#statements.deleteUpTo.run([session, last]);
    const isMore = last === rows.at(-1)?.last ? rows.length === step.rows : bytes >= step.bytes;
    return { bytes, first: last + 1, isMore };
  }

  /** Number of sessions that were not removed. */
  sessionCount(): number {
    const { count } = this.#statements.count.get() as { readonly count: number };
    return count;
  }

  /** Bytes of the pages in use. */
  usedBytes(): number {
    const [size, count, free] = ['page_size', 'page_count', 'freelist_count'].map((name) => {
      const row = this.#database.prepare(`PRAGMA ${name}`).get() as Readonly<Record<string, number>>;
      return row[name] ?? 0;
    });
    return (size ?? 0) * ((count ?? 0) - (free ?? 0));
  }
}

interface WeighedColumns {
  readonly number: number;
  readonly sessionId: ArrayBuffer;
  readonly principal: ArrayBuffer;
  readonly oldest: ArrayBuffer;
  readonly newest: ArrayBuffer;
  readonly first: Seq;
  readonly head: Seq;
  readonly snapshotSeq: Seq;
  readonly bytes: number;
}

interface OldRow {
  readonly last: Seq;
  readonly bytes: number;
  readonly time: ArrayBuffer;
}

function prepareStatements(database: OpenDatabase['database']) {
  return {
    weigh: database.prepare(
      `SELECT number, CAST(id AS BLOB) AS sessionId, CAST(principal AS BLOB) AS principal,
         CAST(oldest.first AS INTEGER) AS first, CAST(newest.last AS INTEGER) AS head,
         (SELECT ${ROW_TIME} FROM rows WHERE row = oldest.row) AS oldest,
         (SELECT ${ROW_TIME} FROM rows WHERE row = newest.row) AS newest,
         ifnull(CAST(seq AS INTEGER), 0) AS snapshotSeq, ifnull(CAST(bytes AS INTEGER), 0) AS bytes
       FROM sessions
       JOIN rows AS oldest ON oldest.row = (SELECT row FROM rows WHERE session = number ORDER BY last LIMIT 1)
       JOIN rows AS newest ON newest.row = (SELECT row FROM rows WHERE session = number ORDER BY last DESC LIMIT 1)
       LEFT JOIN snapshots ON snapshots.session = number
       WHERE number > ? AND id IS NOT NULL ORDER BY number LIMIT ?`,
    ),
    // Both are counted from their indexes.
    count: database.prepare(
      'SELECT (SELECT count(*) FROM sessions) - (SELECT count(*) FROM sessions WHERE id IS NULL) AS count',
    ),
    oldest: database.prepare(
      `SELECT CAST(last AS INTEGER) AS last, octet_length(frames) AS bytes, ${ROW_TIME} AS time
       FROM rows WHERE session = ? AND last <= ? ORDER BY last LIMIT ?`,
    ),
    deleteUpTo: database.prepare('DELETE FROM rows WHERE session = ? AND last <= ?'),
  };
}
