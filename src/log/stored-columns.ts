/**
 * Columns of the log's tables as they come from SQLite, and what becomes of them.
 *
 * Every column is read as the type it must have, and text as bytes: on damaged text that is not UTF-8
 * the native part of libsql would end the process.
 */
import { crc32 } from 'node:zlib';
import type { Seq } from '../contract/frames.ts';
import type { LoggedSession } from './frame-log.ts';

/** One append as it was read. */
export interface StoredRow {
  readonly first: Seq;
  readonly last: Seq;
  /** undefined when the row is not what was written. */
  readonly text: string | undefined;
}

/** What `SELECT` says of a session, for `readSessionColumns`. */
export const SESSION_COLUMNS = `number,
  CAST(id AS BLOB) AS sessionId, CAST(principal AS BLOB) AS principal, CAST(created_at AS BLOB) AS createdAt,
  ifnull((SELECT CAST(first AS INTEGER) FROM rows WHERE session = number ORDER BY last LIMIT 1), 1) AS first,
  ifnull((SELECT CAST(max(last) AS INTEGER) FROM rows WHERE session = number), 0) AS head`;

/** What `SELECT` says of a row, for `readRowColumns`. */
export const ROW_COLUMNS = `CAST(first AS INTEGER) AS first, CAST(last AS INTEGER) AS last,
  CAST(checksum AS INTEGER) AS checksum, CAST(frames AS BLOB) AS frames`;

/** A session from its columns. */
export function readSessionColumns(columns: unknown): LoggedSession & { readonly number: number } {
  const { number, sessionId, principal, createdAt, first, head } = columns as SessionColumns;
  return {
    number,
    sessionId: textOf(sessionId),
    principal: textOf(principal),
    createdAt: textOf(createdAt),
    bounds: { first, head },
  };
}

/** A row of `session` from its columns, its text only if the checksum agrees. */
export function readRowColumns(columns: unknown, session: number): StoredRow {
  const { first, last, checksum, frames } = columns as RowColumns;
  const bytes = Buffer.from(frames ?? new ArrayBuffer(0));
  const isWhole = checksumOf(session, { first, last }, bytes) === checksum;
  return { first, last, text: isWhole ? bytes.toString() : undefined };
}

/** CRC-32 over a row's place and its text, so that a row is not taken for another one's either. */
export function checksumOf(session: number, { first, last }: Pick<StoredRow, 'first' | 'last'>, text: string | Buffer) {
  return crc32(text, crc32(`${session} ${first} ${last} `));
}

interface SessionColumns {
  readonly number: number;
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

function textOf(bytes: ArrayBuffer): string {
  return Buffer.from(bytes).toString();
}
