/**
 * Caches the result of a trial of this machine: success for the life of the server, a failure only for a while, since
 * its cause may pass.
 */
import { errorMessage } from '../../base/errors.ts';

/** Result of a trial. */
interface TrialResult {
  /** Reason why the machine lacks what was tried, as a clause. */
  readonly missing?: string;
}

/** A failure is cached for this long. */
const RETRY_MS = 10_000;

/**
 * Create the cached trial.
 *
 * @returns A function that runs the trial on first use and never rejects. A trial that throws has failed.
 */
export function cacheTrial<Found extends TrialResult>(
  attempt: () => Promise<Found>,
): () => Promise<Found | TrialResult> {
  let result: Promise<Found | TrialResult> | undefined;
  /** Time of `performance.now()`. */
  let retryAtMs = Infinity;

  async function tryOnce(): Promise<Found | TrialResult> {
    const found = await attempt().catch((error: unknown) => ({ missing: errorMessage(error) }));
    if (found.missing !== undefined) retryAtMs = performance.now() + RETRY_MS;
    return found;
  }

  return () => {
    if (result !== undefined && performance.now() < retryAtMs) return result;
    // Calls during a trial share it: two concurrent trials would remove each other's folders.
    retryAtMs = Infinity;
    return (result = tryOnce());
  };
}
