/**
 * Lists a principal's sessions by page, with a filter.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { FrameLog, LoggedSession, PageRequest, SessionPage } from '../../log/frame-log.ts';
import type { SessionDescription } from '../../wire/session-replies.ts';
import { savedLabel } from '../session-label.ts';

/** A page of a list, and what belongs in it. */
export interface SessionQuery extends PageRequest {
  /** Absent: archived sessions are left out. */
  readonly archived?: 'only' | 'all';
  /** Text that title, folder or id must hold, ignoring case. */
  readonly text?: string;
}

/** Sessions looked at for one page; a cursor leads to the others. */
const MAX_LOOKED_AT = 1_000;

/** A page that is short by fewer than this is not filled up. */
const MAX_SHORT = 20;

/**
 * List sessions, newest first. A filtered page may hold fewer than `limit`, or none, and still have a cursor.
 *
 * @param describe Returns `undefined` for a session that the principal may not see.
 * @throws {GauntletError} `invalid_request` for a malformed cursor.
 */
export async function listSessions(
  log: Pick<FrameLog, 'list' | 'fact'>,
  principal: string,
  query: SessionQuery,
  describe: (principal: string, logged: LoggedSession) => Promise<SessionDescription | undefined>,
): Promise<SessionPage<SessionDescription>> {
  const { limit, archived, text = '' } = query;
  const wanted = text.toLowerCase();
  const isListed = ({ sessionId }: LoggedSession) =>
    archived === 'all' || savedLabel(log, sessionId).isArchived === (archived === 'only');
  const found: SessionDescription[] = [];
  let { cursor } = query;
  for (let looked = 0, isFirst = true; isFirst || (cursor !== undefined && looked < MAX_LOOKED_AT); isFirst = false) {
    if (!isFirst) await nextTurn();
    const page = log.list(principal, { limit: limit - found.length, ...(cursor !== undefined && { cursor }) });
    const described = await Promise.all(page.sessions.filter(isListed).map((logged) => describe(principal, logged)));
    for (const session of described) if (session && holds(session, wanted)) found.push(session);
    looked += page.sessions.length;
    cursor = page.cursor;
    if (limit - found.length < Math.min(limit, MAX_SHORT)) break;
  }
  return { sessions: found, ...(cursor !== undefined && { cursor }) };
}

function holds({ title = '', cwd, session_id: id }: SessionDescription, wanted: string): boolean {
  return wanted === '' || [title, cwd, id].some((text) => text.toLowerCase().includes(wanted));
}
