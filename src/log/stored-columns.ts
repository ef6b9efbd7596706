/**
 * Columns of the log's tables as they come from SQLite, and what becomes of them.
 *
 * Every column is read as the type it must have, and text as bytes: on damaged text that is not UTF-8
 * the native part of libsql would end the process.
 */
import { crc32 } from 'node:zlib';
import type { Seq } from '../contract/frames.ts';
import type { LoggedSession, Snapshot } from './frame-log.ts';

/** One append as it was read. */
export interface StoredRow {
  readonly first: Seq;
  readonly last: Seq;
  /** undefined when the row is not what was written. */
  readonly text: string | undefined;
}

/** A session as the tables know it, with its number there. */
export type SessionEntry = LoggedSession & { readonly number: number };

/** What `SELECT` says of a session, for `readSessionColumns`. */
export const SESSION_COLUMNS = `number,
  CAST(sessions.checksum AS INTEGER) AS checksum,
  CAST(snapshots.seq AS INTEGER) AS snapshotSeq, CAST(snapshots.checksum AS INTEGER) AS snapshotChecksum,
  CAST(state AS BLOB) AS state,
  CAST(id AS BLOB) AS sessionId, CAST(principal AS BLOB) AS principal, CAST(created_at AS BLOB) AS createdAt,
  ifnull((SELECT CAST(first AS INTEGER) FROM rows WHERE session = number ORDER BY last LIMIT 1), 1) AS first,
  ifnull((SELECT CAST(max(last) AS INTEGER) FROM rows WHERE session = number), 0) AS head`;

/** Where it says so. */
export const SESSION_TABLES = 'sessions LEFT JOIN snapshots ON snapshots.session = number';

/** What `SELECT` says of a row, for `readRowColumns`. */
export const ROW_COLUMNS = `CAST(first AS INTEGER) AS first, CAST(last AS INTEGER) AS last,
  CAST(checksum AS INTEGER) AS checksum, CAST(frames AS BLOB) AS frames`;

/** A session from its columns; undefined unless the checksum agrees. @param askedFor The id it was looked up by, if it was. */
export function readSessionColumns(columns: unknown, askedFor?: string): SessionEntry | undefined {
  const { number, checksum, first, head, snapshotSeq, snapshotChecksum, state, ...texts } = columns as SessionColumns;
  const principal = textOf(texts.principal);
  const createdAt = textOf(texts.createdAt);
  // A damaged index leads to another session's entry: what was asked for is what must agree.
  const sessionId = askedFor ?? textOf(texts.sessionId);
  const snapshot = readSnapshot(number, { seq: snapshotSeq ?? 0, checksum: snapshotChecksum, state });
  const entry = { number, sessionId, principal, createdAt, bounds: { first, head }, snapshot };
  // A session is written with its first row, so one without rows has lost them.
  return checksumOfSession(entry) === checksum && first >= 1 && first <= head ? entry : undefined;
}

/** A snapshot stands for frames that are there, or were; one that does not fit its session is none. */
function readSnapshot(
  session: number,
  { seq, checksum, state }: { readonly seq: Seq; readonly checksum: number | null; readonly state: ArrayBuffer | null },
): Snapshot | undefined {
  const text = textOf(state ?? new ArrayBuffer(0));
  if (checksum === null || checksum !== checksumOfNote(session, seq, text)) return undefined;
  return { seq, state: JSON.parse(text) as unknown };
}

/** CRC-32 over a note's place and its text. @param place A fact's key, or a snapshot's `seq`. */
export function checksumOfNote(session: number, place: string | Seq, text: string): number {
  return crc32(text, crc32(`${session} ${place} `));
}

/** CRC-32 over what ties a session to its owner and its rows. */
export function checksumOfSession({
  number,
  sessionId,
  principal,
  createdAt,
}: Pick<SessionEntry, 'number' | 'sessionId' | 'principal' | 'createdAt'>): number {
  return crc32(`${number} ${sessionId} ${createdAt} ${principal}`);
}

/** A row of `session` from its columns, its text only if the checksum agrees. */
export function readRowColumns(columns: unknown, session: number): StoredRow {
  const { first, last, checksum, frames } = columns as RowColumns;
  const bytes = Buffer.from(frames ?? new ArrayBuffer(0));
  const isWhole = checksumOfRow(session, { first, last }, bytes) === checksum;
  return { first, last, text: isWhole ? bytes.toString() : undefined };
}

/** CRC-32 over a row's place and its text, so that a row is not taken for another one's either. */
export function checksumOfRow(
  session: number,
  { first, last }: Pick<StoredRow, 'first' | 'last'>,
  text: string | Buffer,
): number {
  return crc32(text, crc32(`${session} ${first} ${last} `));
}

interface SessionColumns {
  readonly number: number;
  readonly checksum: number;
  readonly sessionId: ArrayBuffer;
  readonly principal: ArrayBuffer;
  readonly createdAt: ArrayBuffer;
  readonly first: Seq;
  readonly head: Seq;
  readonly snapshotSeq: Seq | null;
  readonly snapshotChecksum: number | null;
  readonly state: ArrayBuffer | null;
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
