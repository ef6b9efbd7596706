/**
 * Messages are handled one after the other, in the order they came.
 *
 * A client that sends faster than that has its socket paused; one that floods is cut off.
 */
import type { WebSocket } from '@fastify/websocket';
import type { Limits } from '../../config/limits.ts';
import { createTokenBucket } from '../token-bucket.ts';

/** What happens to messages. */
export interface InboxHandlers {
  /** One message; rejects never. */
  handle(text: string): Promise<void>;
  /** More messages than may come at once. */
  onFlood(): void;
}

/** Takes what a client sends. */
export interface Inbox {
  /** Count a frame of whatever kind. @returns False when it is one too many. */
  count(): boolean;
  /** Take the next message, and count it. */
  take(text: string): void;
}

/** Make an inbox. */
export function createInbox(
  socket: Pick<WebSocket, 'pause' | 'resume'>,
  { handle, onFlood }: InboxHandlers,
  limits: Pick<Limits, 'inboxMessages' | 'messageBurst' | 'messagesPerSecond'>,
): Inbox {
  const waiting: string[] = [];
  const bucket = createTokenBucket(limits.messageBurst, limits.messagesPerSecond);
  let isBusy = false;

  function count(): boolean {
    if (bucket.take()) return true;
    onFlood();
    return false;
  }

  async function work(): Promise<void> {
    isBusy = true;
    for (let text = waiting.shift(); text !== undefined; text = waiting.shift()) {
      await handle(text);
      if (waiting.length === 0) socket.resume();
    }
    isBusy = false;
  }

  return {
    count,
    take(text) {
      if (!count()) return;
      waiting.push(text);
      if (waiting.length >= limits.inboxMessages) socket.pause();
      if (!isBusy) void work();
    },
  };
}
