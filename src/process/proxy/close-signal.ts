/**
 * Derives an abort signal from the end of a client's connection.
 */
import type { EventEmitter } from 'node:events';

/** Create a signal that aborts when a stream closes. */
export function closeSignal(stream: EventEmitter): AbortSignal {
  const controller = new AbortController();
  stream.once('close', () => controller.abort());
  return controller.signal;
}
