/**
 * Messages are handled one after the other, in the order they came.
 *
 * A client that sends faster than that has its socket paused.
 */
import type { WebSocket } from '@fastify/websocket';
import type { Limits } from '../../config/limits.ts';

/** Make an inbox. @param handle Handles one message; rejects never. @returns Takes the next message. */
export function createInbox(
  socket: Pick<WebSocket, 'pause' | 'resume'>,
  handle: (text: string) => Promise<void>,
  limits: Pick<Limits, 'inboxMessages'>,
): (text: string) => void {
  const waiting: string[] = [];
  let isBusy = false;

  async function work(): Promise<void> {
    isBusy = true;
    for (let text = waiting.shift(); text !== undefined; text = waiting.shift()) {
      await handle(text);
      if (waiting.length === 0) socket.resume();
    }
    isBusy = false;
  }

  return function take(text) {
    waiting.push(text);
    if (waiting.length >= limits.inboxMessages) socket.pause();
    if (!isBusy) void work();
  };
}
