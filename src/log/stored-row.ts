/**
 * A row of the log's tables: its columns, each read as the type it must have, and what becomes of them.
 */
import type { Seq } from '../wire/frames.ts';
import { checksumOfRow } from './checksums.ts';

/** One append as it was read. */
export interface StoredRow {
  readonly first: Seq;
  readonly last: Seq;
  /** undefined when the row is not what was written. */
  readonly text: string | undefined;
}

/** What `SELECT` says of a row, for `readRowColumns`. */
export const ROW_COLUMNS = `CAST(first AS INTEGER) AS first, CAST(last AS INTEGER) AS last,
  CAST(checksum AS INTEGER) AS checksum, CAST(frames AS BLOB) AS frames`;

/** A row of `session` from its columns, its text only if the checksum agrees. */
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
