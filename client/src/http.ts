/**
 * Requests to the server: JSON in and out, repeated where that is safe.
 */
import { GauntletError } from './errors.ts';

/** Attempts of one request, as long as they fail quickly. */
const MAX_ATTEMPTS = 6;
/** An attempt whose status came and which lasted this long was a connection that lived: attempts are counted anew. */
const LONG_ATTEMPT_MS = 10_000;
const FIRST_PAUSE_MS = 200;
const MAX_PAUSE_MS = 5_000;
/** Longest `Retry-After` that is waited for. */
const MAX_RETRY_AFTER_MS = 30_000;

/** Options of a request. */
export interface RequestOptions {
  readonly body?: unknown;
  readonly signal?: AbortSignal;
  /** False where a second attempt might do the thing twice. */
  readonly mayRepeat?: boolean;
}

/** The server, as this package sees it. */
export interface Http {
  readonly url: string;
  /** Send a request and parse the reply. @throws {GauntletError} */
  request<Reply>(method: 'GET' | 'POST', path: string, options?: RequestOptions): Promise<Reply>;
  /** Begin to read events after a frame. @throws {GauntletError} */
  events(path: string, signal: AbortSignal): Promise<ReadableStream<Uint8Array>>;
}

/** Create the connection. @param url With or without a path; a final slash is left out. */
export function createHttp(url: string, token: string, fetch: typeof globalThis.fetch): Http {
  const base = url.replace(/\/+$/, '');
  const authorization = `Bearer ${token}`;

  async function request<Reply>(method: string, path: string, options: RequestOptions = {}): Promise<Reply> {
    const { body, signal, mayRepeat = true } = options;
    const headers = { authorization, ...(body !== undefined && { 'content-type': 'application/json' }) };
    const init = { method, headers, signal, ...(body !== undefined && { body: JSON.stringify(body) }) };
    for (let attempt = 1; ; attempt++) {
      const begunMs = Date.now();
      let hasStatus = false;
      try {
        const response = await fetch(base + path, init);
        hasStatus = true;
        const text = await response.text();
        // Where white space kept the connection alive, the status was sent before the error was known.
        if (response.ok && !/^\s*\{"error":/.test(text)) return parsed<Reply>(text);
        throw refused(response, text);
      } catch (error) {
        signal?.throwIfAborted();
        if (hasStatus && Date.now() - begunMs > LONG_ATTEMPT_MS) attempt = 0;
        const pauseMs = mayRepeat && attempt < MAX_ATTEMPTS ? pauseBeforeRepeat(error, attempt) : undefined;
        if (pauseMs === undefined) throw error instanceof GauntletError ? error : unreachable(base, error);
        await pause(pauseMs, signal);
      }
    }
  }

  async function events(path: string, signal: AbortSignal): Promise<ReadableStream<Uint8Array>> {
    const response = await fetch(base + path, { headers: { authorization, accept: 'text/event-stream' }, signal });
    if (!response.ok) throw refused(response, await response.text());
    if (response.body === null) throw new GauntletError('invalid_reply', `GET ${path}: the reply has no body`);
    return response.body;
  }

  return { url: base, request, events };
}

/** Wait. @throws The signal's reason. */
export function pause(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = () => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', end);
      resolve();
    }, milliseconds);
    if (signal?.aborted) end();
    else signal?.addEventListener('abort', end, { once: true });
  });
}

/** Return the pause before the next attempt; `undefined` where another attempt would get the same answer. */
function pauseBeforeRepeat(error: unknown, attempt: number): number | undefined {
  const backOffMs = Math.min(FIRST_PAUSE_MS * 2 ** attempt, MAX_PAUSE_MS);
  if (!(error instanceof GauntletError)) return backOffMs;
  if (error.status !== 429 && error.status !== 503) return undefined;
  const retryAfterMs = Number(error.details?.['retry_after_s'] ?? 0) * 1_000;
  return retryAfterMs > MAX_RETRY_AFTER_MS ? undefined : Math.max(retryAfterMs, backOffMs);
}

function parsed<Reply>(text: string): Reply {
  try {
    return JSON.parse(text) as Reply;
  } catch (cause) {
    throw new GauntletError('invalid_reply', `The reply is not JSON: ${text.slice(0, 200)}`, { cause });
  }
}

/** The error that the server replied with; of a proxy before it, only the status is known. */
function refused({ status, headers }: Response, text: string): GauntletError {
  const retryAfter = headers.get('retry-after');
  const waits = retryAfter === null || !/^\d+$/.test(retryAfter) ? {} : { retry_after_s: Number(retryAfter) };
  try {
    const { error, request_id } = JSON.parse(text) as {
      error: { code: string; message: string; details?: Record<string, unknown> };
      request_id: string;
    };
    return new GauntletError(error.code, error.message, {
      ...{ status, request_id },
      details: { ...error.details, ...waits },
    });
  } catch (cause) {
    const message = `The reply has status ${status} and is none of a Gauntlet server: ${text.slice(0, 200)}`;
    return new GauntletError('invalid_reply', message, { status, details: waits, cause });
  }
}

function unreachable(url: string, cause: unknown): GauntletError {
  const why = cause instanceof Error ? (cause.cause instanceof Error ? cause.cause.message : cause.message) : '';
  return new GauntletError('unreachable', `Cannot reach ${url}: ${why}. Is the server running there?`, { cause });
}
