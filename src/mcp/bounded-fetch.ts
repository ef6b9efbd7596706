/**
 * A `fetch` that bounds the size of one message, for servers that might never stop sending.
 */
import type { FetchLike } from '@modelcontextprotocol/client';

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;

/** Where Node keeps the client that `fetch` uses. */
const GLOBAL_DISPATCHER = Symbol.for('undici.globalDispatcher.1');

let dispatcher: Promise<object | undefined> | undefined;

/**
 * Create a client that waits without end. Node's own gives a reply up that sends nothing for 300 s, whatever a call to a
 * server may take; its limits are those of the call.
 *
 * @returns undefined if this version of Node keeps its client elsewhere, and then that one is used.
 */
async function patientDispatcher(): Promise<object | undefined> {
  // Node loads its client with the first request.
  await fetch('data:,');
  const { [GLOBAL_DISPATCHER]: own } = globalThis as { readonly [GLOBAL_DISPATCHER]?: object };
  if (own === undefined) return undefined;
  const Agent = own.constructor as new (options: object) => object;
  return new Agent({ headersTimeout: 0, bodyTimeout: 0 });
}

/**
 * Create a `fetch` whose response body fails once a message exceeds `maxBytes`.
 *
 * A message is the whole body, or one event of an event stream.
 */
export function boundedFetch(maxBytes: number): FetchLike {
  return async function fetchBounded(url, init) {
    dispatcher ??= patientDispatcher();
    const { signal, release } = ownSignal(init?.signal);
    const options = { ...init, signal, dispatcher: await dispatcher };
    const response = await fetch(url, options as RequestInit).catch((error: unknown) => {
      release();
      throw error;
    });
    // The SDK handles redirects by their headers, without reading the body; it does read the body of an error.
    if (response.body === null || isRedirect(response.status)) {
      release();
      return response;
    }
    const isEventStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
    const { status, statusText, headers } = response;
    const body = limitMessages(response.body, { exceeds: messageMeter(maxBytes, isEventStream), maxBytes, release });
    return new Response(body, { status, statusText, headers });
  };
}

function isRedirect(status: number): boolean {
  return status >= 300 && status < 400;
}

/**
 * Create a signal that follows `source` until it is released. Node's client listens to the signal of a request until the
 * request is collected as garbage, and the signal of a connection sees thousands of requests.
 */
function ownSignal(source: AbortSignal | null | undefined): { readonly signal: AbortSignal; release(): void } {
  const controller = new AbortController();
  const abort = () => controller.abort(source?.reason);
  if (source?.aborted) abort();
  source?.addEventListener('abort', abort, { once: true });
  return { signal: controller.signal, release: () => source?.removeEventListener('abort', abort) };
}

interface BodyLimit {
  /** Takes each chunk. @returns True when the message has become too large. */
  readonly exceeds: (chunk: Uint8Array) => boolean;
  readonly maxBytes: number;
  /** Called when the body has ended in any way. */
  readonly release: () => void;
}

/** Pass bytes on as they are read, and fail when a message grows too large. */
function limitMessages(
  body: ReadableStream<Uint8Array>,
  { exceeds, maxBytes, release }: BodyLimit,
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  async function pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    try {
      const { done, value } = await reader.read();
      if (done) {
        release();
        return controller.close();
      }
      if (!exceeds(value)) return controller.enqueue(value);
      // The body may be broken by now, which no one needs to know any more.
      reader.cancel().catch(() => undefined);
      throw new Error(`the server sent a message of more than ${maxBytes} bytes`);
    } catch (error) {
      release();
      throw error;
    }
  }
  function cancel(reason: unknown): Promise<void> {
    release();
    return reader.cancel(reason);
  }
  return new ReadableStream({ pull, cancel }, { highWaterMark: 0 });
}

/** Create the measure of messages. In an event stream an empty line ends the message. */
function messageMeter(maxBytes: number, isEventStream: boolean): BodyLimit['exceeds'] {
  let messageBytes = 0;
  let isLineEmpty = false;
  return (chunk) => {
    messageBytes += chunk.length;
    if (isEventStream) {
      for (let index = chunk.indexOf(LINE_FEED); index !== -1; index = chunk.indexOf(LINE_FEED, index + 1)) {
        const before = chunk[index - 1] === CARRIAGE_RETURN ? index - 2 : index - 1;
        if (before < 0 ? isLineEmpty : chunk[before] === LINE_FEED) messageBytes = chunk.length - index - 1;
      }
      isLineEmpty = endsLine(chunk, isLineEmpty);
    }
    return messageBytes > maxBytes;
  };
}

/** True if the input so far ends at the start of a line. */
function endsLine(chunk: Uint8Array, wasLineEmpty: boolean): boolean {
  const last = chunk.at(-1);
  if (last === undefined) return wasLineEmpty;
  return (
    last === LINE_FEED || (last === CARRIAGE_RETURN && (chunk.length === 1 ? wasLineEmpty : chunk.at(-2) === LINE_FEED))
  );
}
