/**
 * What a child that could not be started means to the one who asked for it.
 */
import { GauntletError } from '../base/errors.ts';

const EXHAUSTED_CODES: ReadonlySet<string> = new Set(['EMFILE', 'ENFILE', 'EAGAIN', 'ENOMEM']);

/** Code of the error for a child whose jail is not open. */
export const NO_JAIL = 'ENOJAIL';

/** Whether a child did not start because its jail is not open any more. */
export function isNoJail(error: unknown): boolean {
  return error instanceof GauntletError && (error.cause as { readonly code?: string } | undefined)?.code === NO_JAIL;
}

/**
 * Turn an errno error of a spawn into ours.
 *
 * @param what Program that was to start, as the reader knows it.
 * @returns `resource_exhausted` when the machine has no descriptors, processes or memory left, which
 *   may pass; else `tool_failed`.
 */
export function spawnError(what: string, failure: { readonly code?: string; readonly message: string }): GauntletError {
  const code = failure.code ?? '';
  const options = { cause: failure };
  if (EXHAUSTED_CODES.has(code)) {
    return new GauntletError(
      'resource_exhausted',
      `Cannot start "${what}": the server is out of resources (${code}). Try again later`,
      options,
    );
  }
  if (code === 'ENOENT') {
    return new GauntletError(
      'tool_failed',
      `Cannot start "${what}": no such program or folder. Check that it is installed`,
      options,
    );
  }
  return new GauntletError('tool_failed', `Cannot start "${what}": ${failure.message}`, options);
}
