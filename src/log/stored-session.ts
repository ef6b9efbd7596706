/**
 * Reads a session of the log's tables: columns cast to the types they must have, and the checksums.
 */
import type { Seq } from '../wire/frames.ts';
import { checksumOfNote, checksumOfSession } from './checksums.ts';
import { columnText } from './column-text.ts';
import type { LoggedSession, Snapshot } from './frame-log.ts';

/** Record of a session with its number in the tables. */
export type SessionEntry = LoggedSession & { readonly number: number };

/** Columns of a session in a `SELECT`, for `readSessionColumns`. */
export const SESSION_COLUMNS = `number,
  CAST(sessions.checksum AS INTEGER) AS checksum,
  CAST(snapshots.seq AS INTEGER) AS snapshotSeq, CAST(snapshots.checksum AS INTEGER) AS snapshotChecksum,
  CAST(state AS BLOB) AS state,
  CAST(id AS BLOB) AS sessionId, CAST(principal AS BLOB) AS principal, CAST(created_at AS BLOB) AS createdAt,
  ifnull((SELECT CAST(first AS INTEGER) FROM rows WHERE session = number ORDER BY last LIMIT 1), 1) AS first,
  ifnull((SELECT CAST(max(last) AS INTEGER) FROM rows WHERE session = number), 0) AS head`;

/** Tables of these columns, for `FROM`. */
export const SESSION_TABLES = 'sessions LEFT JOIN snapshots ON snapshots.session = number';

/** Decode a session; `undefined` unless the checksum matches. @param requestedId The id it was looked up by, if it was. */
export function readSessionColumns(columns: unknown, requestedId?: string): SessionEntry | undefined {
  const { number, checksum, first, head, snapshotSeq, snapshotChecksum, state, ...texts } = columns as SessionColumns;
  const principal = columnText(texts.principal);
  const createdAt = columnText(texts.createdAt);
  // A damaged index may lead to another session's record, so the id that was looked up goes into the checksum.
  const sessionId = requestedId ?? columnText(texts.sessionId);
  const snapshot = readSnapshot(number, { seq: snapshotSeq ?? 0, checksum: snapshotChecksum, state });
  const entry = { number, sessionId, principal, createdAt, bounds: { first, head }, snapshot };
  // A session is written with its first row, so one without rows has lost them.
  return checksumOfSession(entry) === checksum && first >= 1 && first <= head ? entry : undefined;
}

/** Decode a snapshot; one whose checksum does not match is ignored. */
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
