/** A client that knows the wire contract and nothing else. */
import { request as httpRequest } from 'node:http';
import { randomUUID } from 'node:crypto';
import { openStream, type ClientSideFrame, type StreamOptions } from './stream-client.ts';

/** Where a server is and how it is entered. */
export interface ServerAddress {
  readonly url: string;
  readonly token: string;
  /** A folder that the server and the tests both see. */
  readonly workspace: string;
}

/** A reply, read whole. */
export interface WireReply {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The text as JSON; a text that is none throws. */
  readonly body: WireBody;
}

/** What a body may hold, with the fields that tests look into; which of them are there is for tests to expect. */
export interface WireBody {
  readonly session_id: string;
  readonly turn_id: string;
  readonly results: readonly WireResult[];
  readonly calls: readonly WireCall[];
  readonly frames: readonly ClientSideFrame[];
  readonly prompts: readonly WirePrompt[];
  readonly sessions: readonly { readonly session_id: string }[];
  readonly tools: readonly WireTool[];
  readonly error: { readonly code: string; readonly message: string; readonly details?: Record<string, unknown> };
  readonly head: number;
  readonly epoch: string;
  readonly built_in_count: number;
  readonly [field: string]: unknown;
}

/** A `tool_result` block. */
export interface WireResult {
  readonly tool_use_id: string;
  readonly content: string;
  readonly is_error?: boolean;
}

/** A line of `calls`. */
export interface WireCall {
  readonly tool_use_id: string;
  readonly status: string;
  readonly error_code?: string;
  readonly replayed?: boolean;
  readonly spilled?: { readonly chars: number; readonly path: string; readonly url: string };
  readonly [field: string]: unknown;
}

/** An open question. */
export interface WirePrompt {
  readonly request_id: string;
  readonly tool_use_id: string;
  readonly [field: string]: unknown;
}

/** An entry of the tool list. */
export interface WireTool {
  readonly name: string;
  readonly [field: string]: unknown;
}

/** A block with an id of its own. */
export function block(name: string, input: unknown, id = `toolu_${randomUUID()}`) {
  return { type: 'tool_use', id, name, input };
}

/** Speak to a server. */
export function wireClient({ url, token }: Pick<ServerAddress, 'url' | 'token'>) {
  const authorization = `Bearer ${token}`;

  async function send(method: string, path: string, body?: unknown, init: RequestInit = {}): Promise<WireReply> {
    const isJson = body !== undefined;
    const { headers, ...rest } = init;
    const reply = await fetch(url + path, {
      method,
      headers: { authorization, ...(isJson && { 'content-type': 'application/json' }), ...headers },
      ...(isJson && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      ...rest,
    });
    return readReply(reply);
  }
  const post = (path: string, body: unknown = {}, init?: RequestInit) => send('POST', path, body, init);

  return {
    url,
    send,
    get: (path: string, init?: RequestInit) => send('GET', path, undefined, init),
    post,
    /** A new session's id. */
    session: async (options: object = {}): Promise<string> => {
      const { status, body, text } = await post('/sessions', options);
      if (status !== 201) throw new Error(`No session: ${text}`);
      return body.session_id;
    },
    /** Blocks in, the reply's body out. */
    execute: async (
      sessionId: string | undefined,
      blocks: readonly unknown[],
      options: object = {},
    ): Promise<WireBody> => {
      const { status, body, text } = await post('/execute', { session_id: sessionId, tool_uses: blocks, ...options });
      if (status !== 200) throw new Error(`Not executed: ${text}`);
      return body;
    },
    /** A streamed reply: its frames as they come. */
    streamed: async function* (body: object, accept: string, signal?: AbortSignal): AsyncGenerator<ClientSideFrame> {
      const reply = await fetch(`${url}/execute`, {
        method: 'POST',
        headers: { authorization, accept, 'content-type': 'application/json' },
        body: JSON.stringify(body),
        signal,
      });
      if (reply.status !== 200 || reply.body === null) throw new Error(`Not executed: ${await reply.text()}`);
      yield* frameLines(reply.body);
    },
    stream: (sessionId: string, hello: object | false = {}, options: StreamOptions = {}) =>
      openStream(url, sessionId, { headers: { authorization }, hello, ...options }),
    /** Every frame of a session after `from`. */
    frames: async (sessionId: string, from = 0): Promise<ClientSideFrame[]> => {
      const frames: ClientSideFrame[] = [];
      for (let isMore = true; isMore;) {
        const after = frames.at(-1)?.seq ?? from;
        const { body } = await send('GET', `/sessions/${sessionId}/events?from_seq=${after}`);
        frames.push(...body.frames);
        isMore = body['up_to_date'] === false && body.frames.length > 0;
      }
      return frames;
    },
  };
}

/** What `wireClient` gives. */
export type WireClient = ReturnType<typeof wireClient>;

/** A request with exactly these headers, for those that `fetch` does not let one set. */
export function rawRequest(
  url: string,
  options: { method?: string; headers: Record<string, string | string[]>; body?: string },
): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const sent = httpRequest(url, { method: options.method ?? 'GET', headers: options.headers }, (reply) => {
      let text = '';
      reply.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      reply.on('end', () => resolve({ status: reply.statusCode ?? 0, text }));
    });
    sent.on('error', reject).end(options.body);
  });
}

/** Look again until it is so, at most ten seconds. */
export async function until<Value>(look: () => Promise<Value | undefined | false>): Promise<Value> {
  for (const deadline = performance.now() + 10_000; performance.now() < deadline;) {
    const value = await look();
    if (value !== undefined && value !== false) return value;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error('It did not happen within ten seconds');
}

async function readReply(reply: Response): Promise<WireReply> {
  const text = await reply.text();
  return {
    status: reply.status,
    headers: reply.headers,
    text,
    get body() {
      return JSON.parse(text) as WireBody;
    },
  };
}

/** Lines of NDJSON, or the `data:` lines of Server-Sent Events. */
async function* frameLines(body: ReadableStream<Uint8Array>): AsyncGenerator<ClientSideFrame> {
  let rest = '';
  const decoder = new TextDecoder();
  for await (const piece of body) {
    const lines = (rest + decoder.decode(piece, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      const text = line.startsWith('data:') ? line.slice(5) : line;
      if (text.trim().startsWith('{')) yield JSON.parse(text) as ClientSideFrame;
    }
  }
}
