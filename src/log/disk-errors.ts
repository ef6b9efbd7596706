/**
 * Turns errors of SQLite into `log_unavailable`, the one error that clients of the log handle.
 */
import { GauntletError, errorMessage, isGauntletError } from '../base/errors.ts';

/**
 * Run work that accesses the log's file.
 *
 * @param action The action that failed, for the message: `append to`.
 * @throws {GauntletError} `log_unavailable`, or the `GauntletError` that `work` throws.
 */
export function withDiskErrors<Answer>(action: string, work: () => Answer): Answer {
  try {
    return work();
  } catch (cause) {
    if (isGauntletError(cause)) throw cause;
    throw new GauntletError('log_unavailable', `Cannot ${action} the log: ${errorMessage(cause)}. Try again later`, {
      cause,
    });
  }
}
