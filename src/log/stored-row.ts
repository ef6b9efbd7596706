/**
 * Reads a row of the log's tables: columns cast to the types they must have, and the checksum.
 */
import type { Seq } from '../wire/frames.ts';
import { checksumOfRow } from './checksums.ts';

/** One append as it was read. */
export interface StoredRow {
  readonly first: Seq;
  readonly last: Seq;
  /** `undefined` if the checksum does not match. */
  readonly text: string | undefined;
}

/** Columns of a row in a `SELECT`, for `readRowColumns`. */
export const ROW_COLUMNS = `CAST(first AS INTEGER) AS first, CAST(last AS INTEGER) AS last,
  CAST(checksum AS INTEGER) AS checksum, CAST(frames AS BLOB) AS frames`;

/** Extracts a row's time without reading the whole text: its frames begin with `{"seq":…,"ts":"…"`. */
export const ROW_TIME = `CAST(substr(frames, instr(frames, '"ts":"') + 6, 24) AS BLOB)`;

/** Decode a row of `session`; its text only if the checksum matches. */
export function readRowColumns(columns: unknown, session: number): StoredRow {
  const { first, last, checksum, frames } = columns as RowColumns;
  const bytes = Buffer.from(frames ?? new ArrayBuffer(0));
  const isWhole = checksumOfRow(session, { first, last }, bytes) === checksum;
  return { first, last, text: isWhole ? bytes.toString() : undefined };
}

interface RowColumns {
  readonly first: Seq;
  readonly last: Seq;
  readonly checksum: number;
  readonly frames: ArrayBuffer | null;
}
