/**
 * What goes wrong where nobody waits for it: errors and rejections a tool left behind, and a loop that one blocked.
 *
 * They are told, and take nobody down.
 */
import type { Logger } from 'pino';
import type { Limits } from '../config/limits.ts';

/** Tell the operator of them from now on. */
export function tellStrayFaults(logger: Logger): void {
  process.on('uncaughtException', (error) => logger.error({ err: error }, 'An error nobody caught'));
  process.on('unhandledRejection', (error) => logger.error({ err: error }, 'A rejection nobody handled'));
}

/**
 * Watch how late the event loop is: while a tool computes without a pause, nobody is served.
 *
 * @returns The longest that it stood still since this was last asked, ms.
 */
export function watchEventLoop(
  logger: Logger,
  { loopCheckMs, loopStallMs }: Pick<Limits, 'loopCheckMs' | 'loopStallMs'>,
): () => number {
  let dueMs = performance.now() + loopCheckMs;
  let longestMs = 0;
  const look = () => {
    const nowMs = performance.now();
    const lagMs = Math.max(0, Math.round(nowMs - dueMs));
    dueMs = nowMs + loopCheckMs;
    longestMs = Math.max(longestMs, lagMs);
    if (lagMs >= loopStallMs)
      logger.warn({ event_loop_lag_ms: lagMs }, 'The event loop stood still: a tool or plugin blocked it');
  };
  setInterval(look, loopCheckMs).unref();
  return () => {
    const toldMs = longestMs;
    longestMs = 0;
    return toldMs;
  };
}
