/**
 * Reports faults that no caller handles: errors and rejections that a tool left behind, and a blocked event loop.
 *
 * They are logged, and do not end the server.
 */
import type { Logger } from 'pino';

/** Interval at which the lateness of the event loop is measured. */
const CHECK_MS = 250;

/** An event loop that stood still for this long is told to the operator. */
const STALL_MS = 1_000;

/** Log unhandled errors and rejections from now on. */
export function logStrayFaults(logger: Logger): void {
  process.on('uncaughtException', (error) => logger.error({ err: error }, 'Uncaught exception'));
  process.on('unhandledRejection', (error) => logger.error({ err: error }, 'Unhandled rejection'));
}

/**
 * Measure the delay of the event loop: while a tool computes without a pause, no request is served.
 *
 * @returns A function that returns the longest delay since its last call, in ms.
 */
export function watchEventLoop(logger: Logger): () => number {
  let dueMs = performance.now() + CHECK_MS;
  let longestMs = 0;
  const check = () => {
    const nowMs = performance.now();
    const lagMs = Math.max(0, Math.round(nowMs - dueMs));
    dueMs = nowMs + CHECK_MS;
    longestMs = Math.max(longestMs, lagMs);
    if (lagMs >= STALL_MS) logger.warn({ event_loop_lag_ms: lagMs }, 'A tool or plugin blocked the event loop');
  };
  setInterval(check, CHECK_MS).unref();
  return () => {
    const resultMs = longestMs;
    longestMs = 0;
    return resultMs;
  };
}
