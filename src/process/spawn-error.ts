/**
 * Converts errors of starting a child into `GauntletError`s.
 */
import { GauntletError } from '../base/errors.ts';

const EXHAUSTED_CODES: ReadonlySet<string> = new Set(['EMFILE', 'ENFILE', 'EAGAIN', 'ENOMEM']);

/** Error code for a child whose jail is not open. */
export const NO_JAIL = 'ENOJAIL';

/** True if a child did not start because its jail is no longer open. */
export function isNoJail(error: unknown): boolean {
  return error instanceof GauntletError && (error.cause as { readonly code?: string } | undefined)?.code === NO_JAIL;
}

/**
 * Convert an errno error of a spawn.
 *
 * @param what Name of the program, as the reader knows it.
 * @returns `resource_exhausted` if the machine is out of descriptors, processes or memory, which may pass; else
 *   `tool_failed`.
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
