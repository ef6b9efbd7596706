/**
 * Remembers what a trial of this machine found out: a mechanism that holds does so as long as the server runs, while a
 * failure may pass.
 */
import { errorMessage } from '../../base/errors.ts';

/** What a trial finds. */
interface TrialResult {
  /** Why the machine lacks what was tried, as a clause. */
  readonly missing?: string;
}

/** A failure is believed for this long. */
const RETRY_MS = 10_000;

/** Make it. @returns Tries when first asked; never rejects. A trial that throws has failed. */
export function rememberTrial<Found extends TrialResult>(
  attempt: () => Promise<Found>,
): () => Promise<Found | TrialResult> {
  let result: Promise<Found | TrialResult> | undefined;
  /** By `performance.now()`. */
  let retryAtMs = Infinity;

  async function tryOnce(): Promise<Found | TrialResult> {
    const found = await attempt().catch((error: unknown) => ({ missing: errorMessage(error) }));
    if (found.missing !== undefined) retryAtMs = performance.now() + RETRY_MS;
    return found;
  }

  return () => {
    if (result !== undefined && performance.now() < retryAtMs) return result;
    // Commands that ask during a trial wait for that one: two would remove each other's folders.
    retryAtMs = Infinity;
    return (result = tryOnce());
  };
}
