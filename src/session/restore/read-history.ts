/**
 * Reads a session from its log, starting at the latest snapshot, and repairs it after a crash.
 */
import { GauntletError } from '../../base/errors.ts';
import type { Seq } from '../../wire/frames.ts';
import type { FrameLog, LoggedSession } from '../../log/frame-log.ts';
import { planRecovery, type Recovery } from './recover.ts';
import { type LoggedHistory, LogReplay, mattersForReplay, type SavedState } from './replay-log.ts';

/** A consistent log. */
export interface OrderedHistory extends Pick<Recovery, 'surviving' | 'reopened'> {
  readonly logged: LoggedHistory;
}

/**
 * Read the log; if a crash left it inconsistent, append the missing frames in one batch and read it again.
 *
 * @throws {GauntletError} `not_found`, `log_unavailable`
 */
export async function historyInOrder(log: FrameLog, sessionId: string): Promise<OrderedHistory> {
  const logged = await readHistory(log, sessionId);
  const { frames, surviving, reopened } = planRecovery(logged);
  if (frames.length === 0) return { logged, surviving, reopened };
  await log.append(sessionId, logged.head, frames);
  const repaired = await readHistory(log, sessionId);
  return { logged: repaired, surviving: planRecovery(repaired).surviving, reopened };
}

/** Return the state and `seq` of the latest snapshot; `undefined` if the frames in the log do not continue it. */
export function usableSnapshot({
  snapshot,
  bounds,
}: Pick<LoggedSession, 'snapshot' | 'bounds'>): { readonly seq: Seq; readonly savedState: SavedState } | undefined {
  const isUsable = snapshot !== undefined && snapshot.seq <= bounds.head && snapshot.seq + 1 >= bounds.first;
  return isUsable ? { seq: snapshot.seq, savedState: snapshot.state as SavedState } : undefined;
}

async function readHistory(log: FrameLog, sessionId: string): Promise<LoggedHistory> {
  const found = log.find(sessionId);
  if (!found) throw noSuchSession(sessionId);
  const saved = usableSnapshot(found);
  if (!saved && found.bounds.first > 1) throw lostStart(sessionId);
  const replay = new LogReplay(saved);
  for await (const page of log.read(sessionId, saved?.seq ?? 0, { live: false })) {
    for (const logged of page) if (mattersForReplay(logged.type)) replay.push(logged.frame);
  }
  const history = replay.history(log.bounds(sessionId)?.head ?? 0);
  if (!history) throw noSuchSession(sessionId);
  return history;
}

/** Error for a session that does not exist or belongs to another principal. */
export function noSuchSession(sessionId: string): GauntletError {
  return new GauntletError('not_found', `There is no session "${sessionId}"`);
}

function lostStart(sessionId: string): GauntletError {
  const message = `Cannot open session "${sessionId}": its snapshot is damaged, and the frames before it are gone`;
  return new GauntletError('log_unavailable', `${message}. Start a new session`, { details: { reason: 'corrupt' } });
}
