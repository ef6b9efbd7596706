/**
 * Whoever asked has gone: what is under way for them ends.
 */
import type { EventEmitter } from 'node:events';

/** A signal that aborts when a stream closes. */
export function closeSignal(stream: EventEmitter): AbortSignal {
  const controller = new AbortController();
  stream.once('close', () => controller.abort());
  return controller.signal;
}
