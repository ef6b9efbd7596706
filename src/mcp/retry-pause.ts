/**
 * The wait between two attempts to connect: longer after each failure, after too many until someone asks.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Limits } from '../../config/limits.ts';

/** A pause that can be cut short. */
export interface RetryPause {
  /** Whether someone waits in `wait` now. */
  isPausing(): boolean;
  /**
   * Wait for the time that so many failures call for, for ever when `isParked`.
   *
   * Resolves early when woken or when `signal` is aborted; never rejects.
   */
  wait(options: { failures: number; isParked: boolean; signal: AbortSignal }): Promise<void>;
  /** End the pause, if there is one. */
  wake(): void;
}

/** Make the pause of one connection; one `wait` at a time. */
export function retryPause(limits: Pick<Limits, 'mcpRetryMs' | 'mcpRetryMaxMs'>): RetryPause {
  let pausing: AbortController | undefined;
  return {
    isPausing: () => pausing !== undefined,
    wake: () => pausing?.abort(),
    async wait({ failures, isParked, signal }) {
      pausing = new AbortController();
      const until = AbortSignal.any([signal, pausing.signal]);
      const waitMs = Math.min(limits.mcpRetryMs * 2 ** failures, limits.mcpRetryMaxMs);
      // Rejects only when `until` is aborted, which is one of the two ways for a pause to end.
      await (isParked ? aborted(until) : delay(waitMs, undefined, { signal: until }).catch(() => undefined));
      pausing = undefined;
    },
  };
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
}
