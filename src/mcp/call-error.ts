/**
 * Converts errors of requests to a server into `GauntletError`s.
 */
import { InsufficientScopeError, SdkError, SdkErrorCode } from '@modelcontextprotocol/client';
import { errorMessage, GauntletError } from '../base/errors.ts';
import { visibleText } from './visible-text.ts';

/** Context of a failed request. */
export interface FailedRequest {
  readonly server: string;
  readonly signal: AbortSignal;
  /** Reason for the loss of the connection, if it was lost: the call may then have had an effect. */
  readonly lostReason: string | undefined;
  /** Replaces secrets in text that a server sent. */
  readonly mask: (text: string) => string;
}

/** Longest error text that is passed on from a server. */
const ERROR_CHARS = 2_000;

/** Convert an error of the SDK into `cancelled`, `timeout` or `tool_failed`. */
export function toCallError(error: unknown, { server, signal, lostReason, mask }: FailedRequest): GauntletError {
  const to = `Cannot finish the call to the MCP server "${server}"`;
  // The SDK reports an abort as a timeout, so it is checked first.
  if (signal.aborted) return new GauntletError('cancelled', `The call to the MCP server "${server}" was cancelled`);
  if (error instanceof GauntletError) return error;
  if (isSdkError(error, SdkErrorCode.RequestTimeout)) {
    return new GauntletError('timeout', `${to}: it did not answer in time. Try again with less work`, { cause: error });
  }
  if (error instanceof InsufficientScopeError) {
    const { requiredScope = '' } = error;
    const scope = visibleText(requiredScope, ERROR_CHARS);
    const message = `${to}: it demands more rights${scope && ` (scope "${scope}")`}. Another login asks for them`;
    return new GauntletError('tool_failed', message, { cause: error, details: { reason: 'insufficient_scope' } });
  }
  if (lostReason !== undefined || isSdkError(error, SdkErrorCode.ConnectionClosed)) {
    const reason = mask(lostReason ?? 'the connection was closed');
    const message = `${to}: the connection ended during the call (${reason}). The call may have had an effect; it is not repeated by itself`;
    return new GauntletError('tool_failed', message, { cause: error });
  }
  return new GauntletError('tool_failed', `${to}: ${visibleText(mask(errorMessage(error)), ERROR_CHARS)}`, {
    cause: error,
  });
}

/** True if the server no longer has our session, and so did not process the request. */
export function isSessionLost(error: unknown): boolean {
  const status = httpStatus(error);
  // The specification demands 404; widely used servers answer 400 and mention the session.
  return status === 404 || (status === 400 && /session/i.test(errorMessage(error)));
}

/** True if the connection is unusable: the server is unreachable, or rejects our credentials. */
export function isLinkBroken(error: unknown): boolean {
  return httpStatus(error) === 401 || (error instanceof TypeError && error.message === 'fetch failed');
}

/** True if the server demands a login, or one with more rights. */
export function needsLogin(error: unknown): boolean {
  return httpStatus(error) === 401 || error instanceof InsufficientScopeError;
}

/** Find the HTTP status in an error's chain of causes. */
export function httpStatus(error: unknown): number | undefined {
  for (let inner = error; inner instanceof Error; inner = inner.cause) {
    if (inner.name === 'UnauthorizedError') return 401;
    const { status, code } = inner as { status?: unknown; code?: unknown };
    if (typeof status === 'number') return status;
    // The SSE transport keeps the status in `code`; a protocol error keeps its own, negative number there.
    if (typeof code === 'number' && code >= 100) return code;
  }
  return undefined;
}

function isSdkError(error: unknown, code: SdkErrorCode): boolean {
  return error instanceof SdkError && error.code === code;
}
