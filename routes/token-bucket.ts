/**
 * How fast something may happen: a burst at once, and from then on so many a second.
 */

/** Tokens that are taken one by one and come back by themselves. */
export interface TokenBucket {
  /** Take one. @returns False when there is none. */
  take(): boolean;
  /** Until there is one again, in milliseconds; at least 1. */
  readonly waitMs: number;
}

/** Make a full one. `now` is monotonic, in milliseconds. */
export function createTokenBucket(
  burst: number,
  perSecond: number,
  now: () => number = () => performance.now(),
): TokenBucket {
  let tokens = burst;
  let filledMs = now();
  return {
    take() {
      // Looked at the clock only when empty: what has come back since the last time is added then.
      if (tokens < 1) {
        const nowMs = now();
        tokens = Math.min(burst, tokens + ((nowMs - filledMs) / 1_000) * perSecond);
        filledMs = nowMs;
      }
      if (tokens < 1) return false;
      tokens -= 1;
      return true;
    },
    get waitMs() {
      const missing = Math.max(0, 1 - tokens);
      return Math.max(1, Math.ceil((missing / perSecond) * 1_000 - (now() - filledMs)));
    },
  };
}
