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
  /** Texts in lower case and in ASCII, at most `MAX_TEXTS`; a row must hold all, ignoring the case of ASCII. */
  readonly texts: readonly string[];
}

/** A row that holds all texts. */
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

/** Texts of one scan: each costs time. */
export const MAX_TEXTS = 12;

/**
 * Characters of a text that LIKE looks for. Its time grows with the length of the pattern where a row repeats the
 * beginning of it: 190 characters took 500 ns a byte. `instr` finds the whole text in the rows that are left.
 */
const MAX_LIKE_CHARS = 12;

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
  #sliceOfAll({ principal, before: wanted = Infinity, rows, texts }: SliceRequest): Slice {
    const before = Math.min(wanted, this.#end());
    const first = before - rows;
    const found = this.#database
      .prepare(
        `SELECT row AS place, number, CAST(id AS BLOB) AS id, rows.* FROM
           (SELECT row, session, ${ROW_COLUMNS} FROM rows WHERE row >= ? AND row < ? AND ${conditions(texts)}) AS rows
         CROSS JOIN sessions ON number = session
         WHERE sessions.principal = ? AND sessions.id IS NOT NULL ORDER BY place DESC`,
      )
      .all([first, before, ...bindings(texts), principal]) as readonly FoundColumns[];
    return { rows: found.flatMap(scannedRow), ...(first > 1 && { next: first }) };
  }

  /** The position is the last `seq` of a row: an index finds the rows of one session by it. */
  #sliceOfSession(request: SliceRequest, sessionId: string): Slice {
    const { principal, before = Number.MAX_SAFE_INTEGER, rows, texts } = request;
    const session = this.#database
      .prepare('SELECT number FROM sessions WHERE id = ? AND principal = ?')
      .get([sessionId, principal]) as { readonly number: number } | undefined;
    if (session === undefined) return { rows: [] };
    const looked = 'SELECT * FROM rows WHERE session = ? AND last < ? ORDER BY last DESC LIMIT ?';
    const bounds = [session.number, before, rows];
    const found = this.#database
      .prepare(
        `SELECT ? AS number, CAST(? AS BLOB) AS id, CAST(last AS INTEGER) AS place, ${ROW_COLUMNS}
         FROM (${looked}) AS rows WHERE ${conditions(texts)} ORDER BY place DESC`,
      )
      .all([session.number, sessionId, ...bounds, ...bindings(texts)]) as readonly FoundColumns[];
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

/** One condition on a row for each text; `bindings` has their values. */
function conditions(texts: readonly string[]): string {
  return ['1', ...texts.map(() => "frames LIKE ? ESCAPE '!' AND instr(lower(frames), ?) > 0")].join(' AND ');
}

function bindings(texts: readonly string[]): readonly string[] {
  return texts.flatMap((text) => [`%${text.slice(0, MAX_LIKE_CHARS).replace(/[!%_]/g, '!$&')}%`, text]);
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
