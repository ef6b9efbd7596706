/**
 * What SQLite throws becomes the one error clients know.
 */
import { GauntletError, errorMessage, isGauntletError } from '../base/errors.ts';

/**
 * Do something that needs the disk.
 *
 * @param action What could not be done, if it cannot: `append to`.
 * @throws {GauntletError} `log_unavailable`, or what `work` throws as one.
 */
export function askDisk<Answer>(action: string, work: () => Answer): Answer {
  try {
    return work();
  } catch (cause) {
    if (isGauntletError(cause)) throw cause;
    throw new GauntletError('log_unavailable', `Cannot ${action} the log: ${errorMessage(cause)}. Try again later`, {
      cause,
    });
  }
}
