/**
 * Converts any failure into the error body: `{"error":{code,message,details?},"request_id"}`.
 *
 * Internal failures show only "Internal error"; their cause is logged.
 */
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { GauntletError, type RequestErrorCode } from '../src/base/errors.ts';
import type { WireError } from '../src/wire/server-replies.ts';

/** Time after which a client that got 503, or was told to reconnect, may try again. */
export const RETRY_AFTER_MS = 2_000;

/** Status of each code. The list is closed. */
export const STATUS_OF_CODE: Readonly<Record<RequestErrorCode, number>> = {
  invalid_request: 400,
  unauthenticated: 401,
  forbidden: 403,
  not_found: 404,
  conflict: 409,
  gone: 410,
  payload_too_large: 413,
  unsupported_media_type: 415,
  rate_limited: 429,
  internal: 500,
  overloaded: 503,
  shutting_down: 503,
  log_unavailable: 503,
};

/** Errors of Fastify itself that are the client's mistake. */
const FASTIFY_ERRORS: Readonly<Record<string, WireError>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: {
    code: 'payload_too_large',
    message: 'Cannot take the body: it is too large; send fewer or smaller blocks',
  },
  FST_ERR_CTP_INVALID_MEDIA_TYPE: {
    code: 'unsupported_media_type',
    message: 'Cannot read the body: send it as "application/json"',
  },
  FST_ERR_BAD_URL: { code: 'invalid_request', message: 'Cannot read the address: it is not valid' },
  FST_ERR_MAX_PARAM_LENGTH: { code: 'invalid_request', message: 'Cannot read the address: an id in it is too long' },
};

/** Convert any thrown value; anything but a client's mistake becomes `internal`. */
export function toWireError(error: unknown): WireError {
  if (error instanceof GauntletError && isRequestCode(error.code)) {
    if (error.code === 'internal') return INTERNAL;
    return { code: error.code, message: error.message, ...(error.details && { details: error.details }) };
  }
  const { code, statusCode } = error as Partial<FastifyError>;
  const known = code === undefined ? undefined : FASTIFY_ERRORS[code];
  if (known !== undefined) return known;
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500) {
    return { code: 'invalid_request', message: 'Cannot read the request: it is not valid HTTP' };
  }
  return INTERNAL;
}

/** Send `error` as a reply. */
export function sendError(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const wire = toWireError(error);
  const status = STATUS_OF_CODE[wire.code];
  if (status === 503 || status === 429) {
    const waitMs = wire.details?.['retry_after_ms'] ?? RETRY_AFTER_MS;
    reply.header('retry-after', String(Math.ceil(Number(waitMs) / 1_000)));
  }
  if (status === 401 && !reply.hasHeader('www-authenticate')) reply.header('www-authenticate', 'Bearer');
  // If the connection were closed while the client still writes, it would be reset before the reply is read. The rest
  // of the body is discarded until its timeout.
  if (status === 413) reply.removeHeader('connection');
  reply.code(status).header('content-type', 'application/json; charset=utf-8').send(errorBody(wire, request.id));
}

/** Serialise the body, for replies that bypass Fastify. */
export function errorBody(error: WireError, requestId: string): string {
  return JSON.stringify({ error, request_id: requestId });
}

const INTERNAL: WireError = { code: 'internal', message: 'Internal error' };

function isRequestCode(code: string): code is RequestErrorCode {
  return Object.hasOwn(STATUS_OF_CODE, code);
}
