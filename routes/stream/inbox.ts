/**
 * Messages are handled one after the other, in the order they came.
 *
 * A client that sends faster than that has its socket paused; one that floods is cut off.
 */
import type { WebSocket } from '@fastify/websocket';
import type { Limits } from '../../config/limits.ts';

/** What happens to messages. */
export interface InboxHandlers {
  /** One message; rejects never. */
  handle(text: string): Promise<void>;
  /** More messages than may come at once. */
  onFlood(): void;
}

/** Make an inbox. @returns Takes the next message. */
export function createInbox(
  socket: Pick<WebSocket, 'pause' | 'resume'>,
  { handle, onFlood }: InboxHandlers,
  limits: Pick<Limits, 'inboxMessages' | 'messageBurst' | 'messagesPerSecond'>,
): (text: string) => void {
  const waiting: string[] = [];
  const allow = rateLimit(limits.messageBurst, limits.messagesPerSecond);
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
    if (!allow()) return onFlood();
    waiting.push(text);
    if (waiting.length >= limits.inboxMessages) socket.pause();
    if (!isBusy) void work();
  };
}

/** A bucket of `burst` tokens that fills again by `perSecond`. */
function rateLimit(burst: number, perSecond: number): () => boolean {
  let tokens = burst;
  let filledMs = performance.now();
  return () => {
    if (tokens < 1) {
      const nowMs = performance.now();
      tokens = Math.min(burst, ((nowMs - filledMs) / 1_000) * perSecond);
      filledMs = nowMs;
    }
    tokens -= 1;
    return tokens >= 0;
  };
}
