/**
 * Batches of one block, posted: by one client one after another, or by many side by side, each in its session.
 */
import { httpClient } from './clients.ts';
import type { RunningServer } from './servers.ts';
import { newBlock, newSession } from './sessions.ts';
import { medianMs, perSecond } from './statistics.ts';

/** What each batch calls. */
export interface Call {
  readonly name: string;
  readonly input: object;
}

/** One client. @returns Measures the median milliseconds of `count` batches, `pauseMs` apart. */
export async function oneByOne(
  server: RunningServer,
  call: Call,
  { count, pauseMs = 0 }: { readonly count: number; readonly pauseMs?: number },
): Promise<() => Promise<number>> {
  const client = httpClient(server);
  const sessionId = await sessionOf(server);
  return () => medianMs(count, () => client.send('POST', '/execute', batch(call, sessionId)), pauseMs);
}

/** Many clients. @returns Measures the batches a second that `clients` get answered within `forMs`. */
export async function together(
  server: RunningServer,
  call: Call,
  { clients, forMs }: { readonly clients: number; readonly forMs: number },
): Promise<() => Promise<number>> {
  const connections = Array.from({ length: clients }, () => httpClient(server));
  const sessions = await Promise.all(connections.map(() => sessionOf(server)));
  return () =>
    perSecond(
      clients,
      forMs,
      (client) => connections[client]?.send('POST', '/execute', batch(call, sessions[client])) ?? Promise.resolve(),
    );
}

/** The block's id is new each time, or the server would rightly answer from its log. */
function batch({ name, input }: Call, sessionId: string | undefined): object {
  const tool_uses = [newBlock(name, input)];
  return sessionId === undefined ? { tool_uses } : { session_id: sessionId, tool_uses };
}

/** A session of ours; the floor, which wants no credential, knows none. */
async function sessionOf(server: RunningServer): Promise<string | undefined> {
  return 'authorization' in server.headers ? newSession(server) : undefined;
}
