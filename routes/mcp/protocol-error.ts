/**
 * Converts an error to one of the MCP protocol.
 */
import { ProtocolError, ProtocolErrorCode, SdkError } from '@modelcontextprotocol/server';
import { GauntletError } from '../../src/base/errors.ts';
import { toWireError } from '../error-reply.ts';

/** Codes that are a mistake of the client. */
const MISTAKES: ReadonlySet<string> = new Set(['invalid_request', 'not_found', 'conflict', 'gone', 'forbidden']);

/** Convert any thrown value; what is no mistake of the client says no more than over HTTP. */
export function toProtocolError(error: unknown): Error {
  if (error instanceof ProtocolError || error instanceof SdkError) return error;
  if (error instanceof GauntletError && error.code === 'cancelled') return error;
  const { code, message, details } = toWireError(error);
  const kind = MISTAKES.has(code) ? ProtocolErrorCode.InvalidParams : ProtocolErrorCode.InternalError;
  return new ProtocolError(kind, message, { code, ...details });
}

/** Answer a request; an error is converted to the protocol's own. */
export async function answered<Result>(answer: () => Promise<Result>): Promise<Result> {
  try {
    return await answer();
  } catch (error) {
    throw toProtocolError(error);
  }
}
