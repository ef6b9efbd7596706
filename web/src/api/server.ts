/**
 * Requests to the server that serves this page, with the credential of this tab.
 */
import { GauntletError } from '../../../client/src/errors.ts';

/** Methods that the console uses. */
export type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';

/** Options of a request. */
export interface RequestOptions {
  readonly body?: unknown;
  readonly signal?: AbortSignal;
}

/** Longest wait for a reply's first byte, in milliseconds. A call in Try waits for its own session instead. */
const REPLY_MS = 30_000;
/** A stream sends something at least twice in this time. */
const SILENCE_MS = 60_000;
/** Longest event that is read, in characters. */
const MAX_EVENT_CHARS = 64 * 1024 * 1024;

/** The server as one principal sees it. */
export class Server {
  readonly #credential: string;
  readonly #onRefused: () => void;

  /** @param onRefused Called when the server takes the credential no longer. */
  constructor(credential: string, onRefused: () => void) {
    this.#credential = credential;
    this.#onRefused = onRefused;
  }

  /** Send a request and parse the reply. @throws {GauntletError} */
  async request<Reply>(method: Method, path: string, { body, signal }: RequestOptions = {}): Promise<Reply> {
    const response = await this.#fetch(method, path, { body, signal });
    const text = await response.text();
    if (text.trim() === '') return undefined as Reply;
    const reply = parse<Reply & { error?: { code: string; message: string } }>(text, response.status);
    // Where white space kept the connection alive, the status was sent before the error was known.
    if (reply?.error !== undefined && Object.hasOwn(reply, 'request_id')) throw errorOf(reply, response.status);
    return reply;
  }

  /**
   * Send something whose reply nobody waits for: what becomes of it is told in the log of its session.
   *
   * @throws {GauntletError} What the server refuses at once.
   */
  async start(path: string, body: unknown): Promise<void> {
    const response = await this.#fetch('POST', path, { body, accept: 'application/x-ndjson' });
    // A client that goes away stops nothing.
    await response.body?.cancel();
  }

  /** Read a text whole, such as an export or metrics. @throws {GauntletError} */
  async text(path: string, signal?: AbortSignal): Promise<string> {
    return (await this.#fetch('GET', path, { signal })).text();
  }

  /** Read the body of a reply as a file. @throws {GauntletError} */
  async blob(path: string): Promise<Blob> {
    return (await this.#fetch('GET', path, {})).blob();
  }

  /**
   * Read Server-Sent Events until the stream ends.
   *
   * @param onOpen Called when the server begins to tell.
   * @throws {GauntletError}
   */
  async events(path: string, signal: AbortSignal, onOpen: () => void, onEvent: OnEvent): Promise<void> {
    const silence = new AbortController();
    let timer = setTimeout(() => silence.abort(), SILENCE_MS);
    const both = AbortSignal.any([signal, silence.signal]);
    try {
      const response = await this.#fetch('GET', path, { signal: both, accept: 'text/event-stream' });
      onOpen();
      const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
      let rest = '';
      for (let piece = await reader?.read(); piece && !piece.done; piece = await reader?.read()) {
        clearTimeout(timer);
        timer = setTimeout(() => silence.abort(), SILENCE_MS);
        const blocks = (rest + piece.value.replaceAll('\r', '')).split('\n\n');
        rest = blocks.pop() ?? '';
        if (rest.length > MAX_EVENT_CHARS) throw new GauntletError('invalid_reply', 'An event is too long');
        for (const block of blocks) readEvent(block, onEvent);
      }
    } finally {
      clearTimeout(timer);
      silence.abort();
    }
  }

  /**
   * Read lines of a stream until one of them is the last that is wanted.
   *
   * @param onLine Returns true for the last one.
   * @throws {GauntletError}
   */
  async lines(path: string, signal: AbortSignal, onLine: (line: string) => boolean): Promise<void> {
    const ending = new AbortController();
    const both = AbortSignal.any([signal, ending.signal]);
    try {
      const response = await this.#fetch('GET', path, { signal: both, accept: 'application/x-ndjson' });
      const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
      let rest = '';
      for (let piece = await reader?.read(); piece && !piece.done; piece = await reader?.read()) {
        const lines = (rest + piece.value).split('\n');
        rest = lines.pop() ?? '';
        if (rest.length > MAX_EVENT_CHARS) throw new GauntletError('invalid_reply', 'A frame is too long');
        if (lines.some((line) => line !== '' && onLine(line))) return;
      }
    } finally {
      ending.abort();
    }
  }

  async #fetch(
    method: Method,
    path: string,
    { body, signal, accept }: RequestOptions & { readonly accept?: string },
  ): Promise<Response> {
    const limit = new AbortController();
    const timer = setTimeout(() => limit.abort(), REPLY_MS);
    const headers = {
      authorization: `Bearer ${this.#credential}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(accept !== undefined && { accept }),
    };
    const init = { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) };
    const both = signal ? AbortSignal.any([signal, limit.signal]) : limit.signal;
    const response = await fetch(path, { ...init, signal: both, cache: 'no-store' }).catch((cause: unknown) => {
      signal?.throwIfAborted();
      throw new GauntletError('unreachable', 'The server cannot be reached', { cause });
    });
    clearTimeout(timer);
    if (response.ok) return response;
    if (response.status === 401) this.#onRefused();
    throw errorOf(parse(await response.text(), response.status), response.status);
  }
}

/** Message of an error for people. */
export function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The machine's word for why a request was refused. */
export function codeOf(error: unknown): string {
  return error instanceof GauntletError ? error.code : '';
}

/** Exchange a ticket or a token for what this tab keeps. @throws {GauntletError} */
export async function signIn(given: { readonly ticket: string } | { readonly token: string }): Promise<SignedIn> {
  if ('ticket' in given) return exchange(given.ticket);
  const server = new Server(given.token, () => undefined);
  const { ticket } = await server.request<{ ticket: string }>('POST', '/console/tickets', { body: {} });
  return exchange(ticket);
}

/** The part of a sign-in that this tab keeps. */
export interface SignedIn {
  readonly credential: string;
  readonly principal: string;
  /** ISO 8601 in UTC. */
  readonly expires_at: string;
}

async function exchange(ticket: string): Promise<SignedIn> {
  const headers = { 'content-type': 'application/json' };
  const init = { method: 'POST', headers, body: JSON.stringify({ ticket }), cache: 'no-store' } as const;
  const response = await fetch('/console/credentials', init).catch((cause: unknown) => {
    throw new GauntletError('unreachable', 'The server cannot be reached', { cause });
  });
  const reply = parse<SignedIn>(await response.text(), response.status);
  if (!response.ok) throw errorOf(reply, response.status);
  return reply;
}

function parse<Reply>(text: string, status: number): Reply {
  try {
    return JSON.parse(text) as Reply;
  } catch (cause) {
    throw new GauntletError('invalid_reply', `The reply with status ${status} is none of a Gauntlet server`, {
      ...{ status, cause },
    });
  }
}

function errorOf(reply: unknown, status: number): GauntletError {
  const { error, request_id } = (reply ?? {}) as {
    error?: { code: string; message: string; details?: Record<string, unknown> };
    request_id?: string;
  };
  const { code = 'invalid_reply', message = `The server replied with status ${status}`, details } = error ?? {};
  return new GauntletError(code, message, { status, request_id, details });
}

type OnEvent = (name: string, data: string) => void;

function readEvent(block: string, onEvent: OnEvent): void {
  let name = 'message';
  const data: string[] = [];
  for (const line of block.split('\n')) {
    if (line.startsWith('event:')) name = line.slice('event:'.length).trim();
    if (line.startsWith('data:')) data.push(line.slice('data:'.length).replace(/^ /, ''));
  }
  if (data.length > 0) onEvent(name, data.join('\n'));
}
