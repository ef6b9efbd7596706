/**
 * The pause between two connection attempts: longer after each failure, and indefinite after too many.
 */
import { setTimeout as delay } from 'node:timers/promises';

/** The longest wait before connecting again, and how long a connection must last to count as sound. */
export const MAX_RETRY_MS = 60_000;

/** Pace of attempts to restore a lost connection. */
export interface RetryPace {
  /** Wait before the first attempt; it doubles with each failure. */
  readonly firstMs: number;
  /** Failures in a row after which the next attempt waits for a request to the server. */
  readonly maxFailures: number;
}

export const RETRY_PACE: RetryPace = { firstMs: 500, maxFailures: 8 };

/** A pause that can be ended early. */
export interface RetryPause {
  /** True while a `wait` is pending. */
  isPausing(): boolean;
  /**
   * Wait for the time that this number of failures requires, or until woken if `isParked`.
   *
   * Resolves early when woken or when `signal` is aborted; never rejects.
   */
  wait(options: { failures: number; isParked: boolean; signal: AbortSignal }): Promise<void>;
  /** End the current pause, if there is one. */
  wake(): void;
}

/** Create the pause of one connection; it supports one `wait` at a time. */
export function retryPause({ firstMs }: RetryPace): RetryPause {
  let pausing: AbortController | undefined;
  return {
    isPausing: () => pausing !== undefined,
    wake: () => pausing?.abort(),
    async wait({ failures, isParked, signal }) {
      pausing = new AbortController();
      const until = AbortSignal.any([signal, pausing.signal]);
      const waitMs = Math.min(firstMs * 2 ** failures, MAX_RETRY_MS);
      // `delay` rejects only when `until` is aborted, which is a normal end of the pause.
      await (isParked ? aborted(until) : delay(waitMs, undefined, { signal: until }).catch(() => undefined));
      pausing = undefined;
    },
  };
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
}
