/**
 * Token bucket: allows a burst at once, and then a constant rate.
 */

/** Bucket whose tokens are taken one by one and refill over time. */
export interface TokenBucket {
  /** Take one token. @returns False if there is none. */
  take(): boolean;
  /** Milliseconds until a token is available; at least 1. */
  readonly waitMs: number;
}

/** Create a full bucket. `now` is monotonic, in milliseconds. */
export function createTokenBucket(
  burst: number,
  perSecond: number,
  now: () => number = () => performance.now(),
): TokenBucket {
  let tokens = burst;
  let filledMs = now();
  return {
    take() {
      // The clock is read only when the bucket is empty; the refill since the last reading is added then.
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
