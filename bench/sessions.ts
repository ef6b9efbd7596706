/**
 * Sessions of ours, made over HTTP, and a connection that feeds one.
 */
import { httpClient, socketClient, type Reply, type SocketClient } from './clients.ts';
import type { RunningServer } from './servers.ts';

/** Make a session. @returns Its id. */
export async function newSession(server: RunningServer): Promise<string> {
  const client = httpClient(server);
  const { session_id } = await client.send('POST', '/sessions', {});
  client.close();
  return String(session_id);
}

/** A connection over which calls are made one after another. */
export interface CallingSocket {
  /** The session it feeds; empty for the floor. */
  readonly sessionId: string;
  readonly socket: SocketClient;
  /** Make a call and wait for its result. */
  call(name: string, input: object): Promise<Reply>;
}

let calls = 0;

/** A block with an id of its own. */
export function newBlock(name: string, input: object): { type: 'tool_use'; id: string; name: string; input: object } {
  return { type: 'tool_use', id: `call_${calls++}`, name, input };
}

/** Connect to a new session of ours, or to the floor. */
export async function callingSocket(server: RunningServer, isOurs: boolean): Promise<CallingSocket> {
  const sessionId = isOurs ? await newSession(server) : '';
  const socket = await socketClient(server, isOurs ? `/sessions/${sessionId}/stream` : '/stream', isOurs);
  return {
    sessionId,
    socket,
    call: (name, input) => {
      const tool_use = newBlock(name, input);
      const result = socket.next((frame) => frame['type'] === 'result' && frame['tool_use_id'] === tool_use.id);
      socket.send({ type: 'tool_use', tool_use });
      return result;
    },
  };
}
