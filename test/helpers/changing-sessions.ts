/** Sessions whose file tools and history are real, for tests of what they change and take back. */
import { randomUUID } from 'node:crypto';
import type { Limits } from '../../config/limits.ts';
import type { Session } from '../../src/session/session.ts';
import { fileTools } from '../../tools/files/index.ts';
import { fileServices } from './file-services.ts';
import { execute } from './session-services.ts';
import { testSessions } from './test-sessions.ts';

/** Make the directory; sessions allow every edit. Call it at the top of a `describe`. */
export function changingSessions(limits: Partial<Limits> = {}, history = fileServices(limits).history) {
  const services = { ...fileServices(limits), history };
  const world = testSessions(fileTools(services), { limits, services: { history } });
  return {
    ...world,
    history,
    begin: (more: object = {}) => world.directory.create('owner', { mode: 'bypassPermissions', ...more }),
  };
}

/** Run one call that must succeed. @returns Its id. */
export async function call(session: Session, name: string, input: Record<string, unknown>): Promise<string> {
  const { id, status, text } = await tryCall(session, name, input);
  if (status !== 'ok') throw new Error(text);
  return id;
}

/** Run one call. */
export async function tryCall(session: Session, name: string, input: Record<string, unknown>) {
  const id = `toolu_${randomUUID()}`;
  const reply = await execute(session, [{ type: 'tool_use', id, name, input: input as never }]);
  return { id, status: reply.calls[0]?.status, text: JSON.stringify(reply.results[0]?.content) };
}
