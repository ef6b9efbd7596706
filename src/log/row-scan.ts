/**
 * Scans the rows of a principal's sessions for texts, newest first, in slices.
 *
 * A scan instead of an index: an index of all words made a commit four times as long (336 µs more for a row of 4 KB),
 * and SQLite looks through 1.5 GB a second.
 */
import type { LoggedFrame } from './frame-log.ts';
import { withDiskErrors } from './disk-errors.ts';
import { columnText } from './column-text.ts';
import { framesOfRow } from './frame-text.ts';
import type { OpenDatabase } from './open-database.ts';
import { readRowColumns, ROW_COLUMNS } from './stored-row.ts';

/** Rows to look at. */
export interface SliceRequest {
  readonly principal: string;
  /** Rows of this session alone; absent: of all sessions of the principal. */
  readonly sessionId?: string;
  /** Position before which to look, from the slice before; absent: the end of the log. */
  readonly before?: number;
  /** Number of rows to look at. */
  readonly rows: number;
  /** Patterns of SQL's LIKE, with `!` as the escape character; each must match the text of a row. */
  readonly patterns: readonly string[];
}

/** A row whose text matches all patterns. */
export interface ScannedRow {
  /** Its position in this scan. */
  readonly place: number;
  readonly sessionId: string;
  readonly frames: readonly LoggedFrame[];
}

/** Rows that match. */
export interface Slice {
  readonly rows: readonly ScannedRow[];
  /** Pass it as `before` for the next slice; absent at the beginning of the log. */
  readonly next?: number;
}

/** Patterns of one scan; a text has few words, and each costs time. */
export const MAX_PATTERNS = 12;

/** Rows on each side in which the other frames of a call are looked for. */
const NEAR_ROWS = 1_000;

/** Rows of these that are read; one of them holds the frame, unless outputs quote its beginning. */
const MAX_NEAR = 16;

/** The scan of one log. Methods throw {GauntletError} `log_unavailable` if the disk fails. */
export class RowScan {
  readonly #database: OpenDatabase['database'];

  constructor({ database }: Pick<OpenDatabase, 'database'>) {
    this.#database = database;
  }

  /** Look through one slice. It blocks the event loop, so `rows` should be small. */
  slice(request: SliceRequest): Slice {
    if (!this.#database.open) return { rows: [] };
    return withDiskErrors('search', () =>
      request.sessionId === undefined ? this.#sliceOfAll(request) : this.#sliceOfSession(request, request.sessionId),
    );
  }

  /** Find the rows near a frame that hold all `texts`: from the frame on, or up to it. */
  near(sessionId: string, seq: number, texts: readonly string[], isAfter: boolean): readonly LoggedFrame[] {
    if (!this.#database.open) return [];
    const [compare, order] = isAfter ? ['last >= ?', 'ASC'] : ['first <= ?', 'DESC'];
    return withDiskErrors('search', () => {
      const rows = this.#database
        .prepare(
          `SELECT number, ${ROW_COLUMNS} FROM
             (SELECT rows.*, number FROM rows JOIN sessions ON session = number
              WHERE sessions.id = ? AND ${compare} ORDER BY last ${order} LIMIT ?)
           WHERE ${texts.map(() => 'instr(frames, ?)').join(' AND ')} LIMIT ?`,
        )
        .all([sessionId, seq, NEAR_ROWS, ...texts, MAX_NEAR]);
      return (rows as readonly Numbered[]).flatMap((columns) => framesOf(columns));
    });
  }

  /** Rows have numbers in the order in which they were written. */
  #sliceOfAll({ principal, before = this.#end(), rows, patterns }: SliceRequest): Slice {
    const first = before - rows;
    const found = this.#database
      .prepare(
        `SELECT row AS place, number, CAST(id AS BLOB) AS id, rows.* FROM
           (SELECT row, session, ${ROW_COLUMNS} FROM rows WHERE row >= ? AND row < ? AND ${likes(patterns)}) AS rows
         CROSS JOIN sessions ON number = session
         WHERE sessions.principal = ? AND sessions.id IS NOT NULL ORDER BY place DESC`,
      )
      .all([first, before, ...patterns, principal]) as readonly FoundColumns[];
    return { rows: found.flatMap(scannedRow), ...(first > 1 && { next: first }) };
  }

  /** The position is the last `seq` of a row: an index finds the rows of one session by it. */
  #sliceOfSession(request: SliceRequest, sessionId: string): Slice {
    const { principal, before = Number.MAX_SAFE_INTEGER, rows, patterns } = request;
    const session = this.#database
      .prepare('SELECT number FROM sessions WHERE id = ? AND principal = ?')
      .get([sessionId, principal]) as { readonly number: number } | undefined;
    if (session === undefined) return { rows: [] };
    const looked = 'SELECT * FROM rows WHERE session = ? AND last < ? ORDER BY last DESC LIMIT ?';
    const bounds = [session.number, before, rows];
    const found = this.#database
      .prepare(
        `SELECT ? AS number, CAST(? AS BLOB) AS id, CAST(last AS INTEGER) AS place, ${ROW_COLUMNS}
         FROM (${looked}) AS rows WHERE ${likes(patterns)} ORDER BY place DESC`,
      )
      .all([session.number, sessionId, ...bounds, ...patterns]) as readonly FoundColumns[];
    const end = this.#database
      .prepare(`SELECT count(*) AS count, CAST(min(last) AS INTEGER) AS least FROM (${looked})`)
      .get(bounds) as { readonly count: number; readonly least: number | null };
    return { rows: found.flatMap(scannedRow), ...(end.count === rows && { next: end.least ?? 0 }) };
  }

  #end(): number {
    const { end } = this.#database.prepare('SELECT ifnull(max(row), 0) + 1 AS end FROM rows').get() as { end: number };
    return end;
  }
}

interface Numbered {
  /** Number of the session. */
  readonly number: number;
}

interface FoundColumns extends Numbered {
  readonly place: number;
  readonly id: ArrayBuffer;
}

function likes(patterns: readonly string[]): string {
  return ['1', ...patterns.map(() => "frames LIKE ? ESCAPE '!'")].join(' AND ');
}

/** @returns Nothing for a damaged row. */
function scannedRow(columns: FoundColumns): readonly ScannedRow[] {
  const frames = framesOf(columns);
  return frames.length === 0 ? [] : [{ place: columns.place, sessionId: columnText(columns.id), frames }];
}

function framesOf(columns: Numbered): readonly LoggedFrame[] {
  const { first, text } = readRowColumns(columns, columns.number);
  return text === undefined ? [] : framesOfRow(text, first);
}
