/**
 * The one error class and the closed list of codes.
 *
 * A client's mistake in a block becomes a `tool_result`, one in a request an error reply. Both carry a code from this
 * file.
 */

/** Codes of an error reply or an `error` frame, as in PROTOCOL section 1. */
export const REQUEST_ERROR_CODES = [
  'invalid_request',
  'unauthenticated',
  'forbidden',
  'not_found',
  'conflict',
  'gone',
  'payload_too_large',
  'unsupported_media_type',
  'rate_limited',
  'internal',
  'overloaded',
  'shutting_down',
  'log_unavailable',
] as const;

/** A code of an error reply or an `error` frame. */
export type RequestErrorCode = (typeof REQUEST_ERROR_CODES)[number];

/** Codes of a call that did not end `ok`, as in PROTOCOL section 4. */
export const CALL_ERROR_CODES = [
  'permission_denied',
  'hook_blocked',
  'unknown_tool',
  'invalid_input',
  'contained',
  'tool_failed',
  'timeout',
  'output_limit',
  'resource_exhausted',
  'cancelled',
  'sibling_aborted',
  'discarded',
  'interrupted',
] as const;

/** A code of a call that did not end `ok`. */
export type CallErrorCode = (typeof CALL_ERROR_CODES)[number];

/** Codes that stay inside the server: a fenced append, a spill that the disk rejected, an invalid setting. */
export type InternalErrorCode = 'fenced' | 'spill_failed' | 'invalid_setting';

/** Code of any `GauntletError`. */
export type ErrorCode = RequestErrorCode | CallErrorCode | InternalErrorCode;

/** Details of an error; `reason` is the subcode of PROTOCOL section 1 (`too_deep`, `duplicate_id`). */
export type ErrorDetails = Readonly<Record<string, unknown>> & { readonly reason?: string };

/**
 * A failure with a code on which a client can act.
 *
 * `message` states what could not be done, to what, and what to do next; it never contains a secret, a rule list or a
 * stack trace.
 */
export class GauntletError extends Error {
  override readonly name = 'GauntletError';
  /** Determines status, frame and result. */
  readonly code: ErrorCode;
  /** Sent to the client as `error.details`. */
  readonly details: ErrorDetails | undefined;

  constructor(code: ErrorCode, message: string, options: { details?: ErrorDetails; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.details = options.details;
  }
}

/** True if `error` is a `GauntletError` with one of `codes` (any code if none is given). */
export function isGauntletError(error: unknown, ...codes: readonly ErrorCode[]): error is GauntletError {
  return error instanceof GauntletError && (codes.length === 0 || codes.includes(error.code));
}

/** Message of any thrown value, without its stack. */
export function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
