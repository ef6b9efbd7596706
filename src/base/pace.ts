/**
 * Limits the rate of progress reports.
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
