/**
 * Says in our own codes what went wrong with a request to a server.
 */
import { SdkError, SdkErrorCode } from '@modelcontextprotocol/client';
import { errorMessage, GauntletError } from '../base/errors.ts';
import { visibleText } from './visible-text.ts';

/** What is known beside an error itself. */
export interface FailedRequest {
  readonly server: string;
  readonly signal: AbortSignal;
  /** Why the connection is gone, where it is: then nobody knows whether the call had an effect. */
  readonly lostReason: string | undefined;
  /** Takes what is secret out of a text of the server's. */
  readonly mask: (text: string) => string;
}

/** Longest text of a server's error that is passed on. */
const ERROR_CHARS = 2_000;

/** Turn what the SDK threw into an error of the call: `cancelled`, `timeout` or `tool_failed`. */
export function toCallError(error: unknown, { server, signal, lostReason, mask }: FailedRequest): GauntletError {
  const to = `Cannot finish the call to the MCP server "${server}"`;
  // The SDK words an abort as a timeout.
  if (signal.aborted) return new GauntletError('cancelled', `The call to the MCP server "${server}" was cancelled`);
  if (error instanceof GauntletError) return error;
  if (isSdkError(error, SdkErrorCode.RequestTimeout)) {
    return new GauntletError('timeout', `${to}: it did not answer in time. Try again with less work`, { cause: error });
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

/** Whether the server knows our session no more: it did not look at the request. */
export function isSessionLost(error: unknown): boolean {
  const status = httpStatus(error);
  // 404 is what the specification says; widely copied servers answer 400 and speak of the session.
  return status === 404 || (status === 400 && /session/i.test(errorMessage(error)));
}

/** Whether the connection is of no more use: no way through, or no longer let in. */
export function isLinkBroken(error: unknown): boolean {
  return httpStatus(error) === 401 || (error instanceof TypeError && error.message === 'fetch failed');
}

/** The HTTP status somewhere in an error's chain of causes. */
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
