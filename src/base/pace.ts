/**
 * Progress at most so often: whoever reports asks first whether it is time.
 */

/** Make a pace. @returns A function that is true when `everyMs` have passed since it was last true, or since it was made. */
export function createPace(everyMs: number): () => boolean {
  let last = performance.now();
  return () => {
    const now = performance.now();
    if (now - last < everyMs) return false;
    last = now;
    return true;
  };
}
