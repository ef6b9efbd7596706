/**
 * Limits rates: of reports, of what others tell of their own accord.
 */

/**
 * Create a rate limit.
 *
 * @returns A function that returns true if `everyMs` have passed since it last did, or since its creation.
 */
export function createPace(everyMs: number): () => boolean {
  let last = performance.now();
  return () => {
    const now = performance.now();
    if (now - last < everyMs) return false;
    last = now;
    return true;
  };
}

/**
 * Create a limit of so many in any span of time. Where bursts should refill, use a token bucket.
 *
 * @returns A function that returns true, and counts, if it returned true fewer than `max` times in the last `withinMs`.
 */
export function createRateLimit(max: number, withinMs: number): () => boolean {
  /** Times of the latest `max`, as a ring. */
  const times = Array.from({ length: max }, () => -Infinity);
  let oldest = 0;
  return () => {
    const now = performance.now();
    if (now - (times[oldest] ?? 0) < withinMs) return false;
    times[oldest] = now;
    oldest = (oldest + 1) % max;
    return true;
  };
}

/**
 * Create a function that tells of changed things: at once, and once more at the end of the pause if they changed again.
 *
 * @param maxKeys Things that are told of in one pause; changes of further ones are dropped.
 */
export function paceChanges(pauseMs: number, maxKeys: number, tell: (key: string) => void): (key: string) => void {
  const recent = new Map<string, { isAgain: boolean }>();
  return function changed(key) {
    const known = recent.get(key);
    if (known) return void (known.isAgain = true);
    if (recent.size >= maxKeys) return;
    const told = { isAgain: false };
    recent.set(key, told);
    const end = () => {
      recent.delete(key);
      if (told.isAgain) changed(key);
    };
    setTimeout(end, pauseMs).unref();
    tell(key);
  };
}
