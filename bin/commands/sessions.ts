/** `gauntlet sessions`: prints the sessions of the running server. */
import type { SessionDescription } from '../../src/wire/session-replies.ts';
import { type ClientCommand, requestJson, type RunningServer, serverOf } from '../server-client.ts';
import { safeJson, tableText } from '../terminal-text.ts';

/** Sessions that are printed or counted; the newest come first. */
const MAX_SESSIONS = 2_000;

interface SessionPage {
  readonly sessions: readonly SessionDescription[];
  readonly next_cursor?: string;
}

/** Print the sessions as a table, or as JSON. @returns The exit code. */
export async function printSessions(command: ClientCommand): Promise<number> {
  const { json, search, all } = command.options;
  const query = { ...(typeof search === 'string' && { q: search }), ...(all === true && { archived: 'all' }) };
  const sessions = await listSessions(serverOf(command), query);
  if (json === true) {
    process.stdout.write(`${safeJson({ sessions })}\n`);
    return 0;
  }
  const rows = sessions.map(({ session_id: id, state, mode, last_activity_at: last, cwd, title = '' }) => {
    return [id, state, mode, last.slice(0, 19).replace('T', ' '), cwd, title];
  });
  process.stdout.write(tableText(['SESSION', 'STATE', 'MODE', 'LAST ACTIVITY (UTC)', 'FOLDER', 'TITLE'], rows));
  return 0;
}

/** List sessions, the newest first. @throws {Error} As `requestJson`. */
export async function listSessions(
  server: RunningServer,
  query: Readonly<Record<string, string>> = {},
): Promise<readonly SessionDescription[]> {
  const sessions: SessionDescription[] = [];
  for (let cursor: string | undefined, isFirst = true; isFirst || cursor !== undefined; isFirst = false) {
    const asked = new URLSearchParams({ ...query, ...(cursor !== undefined && { cursor }) });
    const page = await requestJson<SessionPage>(server, { method: 'GET', path: `/sessions?${asked.toString()}` });
    sessions.push(...page.sessions);
    cursor = sessions.length < MAX_SESSIONS ? page.next_cursor : undefined;
  }
  return sessions.slice(0, MAX_SESSIONS);
}
