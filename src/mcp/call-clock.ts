/**
 * The time that one call to a server may take: without progress, and in all. It stands still while a person is asked.
 */
import { GauntletError } from '../base/errors.ts';

/** Times of one call. */
export interface CallTimes {
  /** Longest time without progress. */
  readonly idleMs: number;
  readonly totalMs: number;
}

/** A running clock. */
export interface CallClock {
  /** Aborted with a `timeout` when a time is over. */
  readonly signal: AbortSignal;
  /** Begin the time without progress again. */
  onProgress(): void;
  whilePaused<Value>(work: () => Promise<Value>): Promise<Value>;
  stop(): void;
}

/** Start a clock. */
export function startClock(server: string, { idleMs, totalMs }: CallTimes): CallClock {
  const ended = new AbortController();
  let usedMs = 0;
  let startedAt = performance.now();
  let progressAt = startedAt;
  let timer: NodeJS.Timeout | undefined;
  let pauses = 0;
  let isStopped = false;

  function run(): void {
    const now = performance.now();
    const leftMs = Math.min(totalMs - usedMs - (now - startedAt), idleMs - (now - progressAt));
    if (leftMs > 0) {
      timer = setTimeout(run, Math.ceil(leftMs));
      return;
    }
    const message = `Cannot finish the call to the MCP server "${server}": it did not answer in time. Try again with less work`;
    ended.abort(new GauntletError('timeout', message));
  }

  run();
  return {
    signal: ended.signal,
    onProgress: () => (progressAt = performance.now()),
    async whilePaused(work) {
      if (pauses++ === 0) {
        clearTimeout(timer);
        usedMs += performance.now() - startedAt;
      }
      try {
        return await work();
      } finally {
        if (--pauses === 0 && !isStopped) {
          startedAt = progressAt = performance.now();
          run();
        }
      }
    },
    stop() {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}
