/**
 * A session of the log's tables: its columns, each read as the type it must have, and what becomes of them.
 */
import type { Seq } from '../wire/frames.ts';
import { checksumOfNote, checksumOfSession } from './checksums.ts';
import { columnText } from './column-text.ts';
import type { LoggedSession, Snapshot } from './frame-log.ts';

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

/** A session from its columns; undefined unless the checksum agrees. @param askedFor The id it was looked up by, if it was. */
export function readSessionColumns(columns: unknown, askedFor?: string): SessionEntry | undefined {
  const { number, checksum, first, head, snapshotSeq, snapshotChecksum, state, ...texts } = columns as SessionColumns;
  const principal = columnText(texts.principal);
  const createdAt = columnText(texts.createdAt);
  // A damaged index leads to another session's entry: what was asked for is what must agree.
  const sessionId = askedFor ?? columnText(texts.sessionId);
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
  const text = columnText(state ?? new ArrayBuffer(0));
  if (checksum === null || checksum !== checksumOfNote(session, seq, text)) return undefined;
  return { seq, state: JSON.parse(text) as unknown };
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
