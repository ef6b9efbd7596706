/**
 * Why a call was told to stop, read back from its signal.
 */
import { GauntletError } from '../contract/errors.ts';

/** The error a signal was aborted with; a plain abort counts as `cancelled`. */
export function abortReason(signal: AbortSignal): GauntletError {
  return signal.reason instanceof GauntletError
    ? signal.reason
    : new GauntletError('cancelled', 'Cancelled before it finished');
}
