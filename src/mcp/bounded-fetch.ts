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
    const options = { ...init, dispatcher: await dispatcher };
    const response = await fetch(url, options as RequestInit);
    // The SDK handles redirects by their headers, without reading the body; it does read the body of an error.
    if (response.body === null || isRedirect(response.status)) return response;
    const isEventStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
    const { status, statusText, headers } = response;
    return new Response(response.body.pipeThrough(messageLimit(maxBytes, isEventStream)), {
      status,
      statusText,
      headers,
    });
  };
}

function isRedirect(status: number): boolean {
  return status >= 300 && status < 400;
}

/** Pass bytes on, and fail when a message grows too large. In an event stream an empty line ends the message. */
function messageLimit(maxBytes: number, isEventStream: boolean): TransformStream<Uint8Array, Uint8Array> {
  let messageBytes = 0;
  let isLineEmpty = false;
  return new TransformStream({
    transform(chunk, controller) {
      messageBytes += chunk.length;
      if (isEventStream) {
        for (let index = chunk.indexOf(LINE_FEED); index !== -1; index = chunk.indexOf(LINE_FEED, index + 1)) {
          const before = chunk[index - 1] === CARRIAGE_RETURN ? index - 2 : index - 1;
          if (before < 0 ? isLineEmpty : chunk[before] === LINE_FEED) messageBytes = chunk.length - index - 1;
        }
        isLineEmpty = endsLine(chunk, isLineEmpty);
      }
      if (messageBytes > maxBytes)
        controller.error(new Error(`the server sent a message of more than ${maxBytes} bytes`));
      else controller.enqueue(chunk);
    },
  });
}

/** True if the input so far ends at the start of a line. */
function endsLine(chunk: Uint8Array, wasLineEmpty: boolean): boolean {
  const last = chunk.at(-1);
  if (last === undefined) return wasLineEmpty;
  return (
    last === LINE_FEED || (last === CARRIAGE_RETURN && (chunk.length === 1 ? wasLineEmpty : chunk.at(-2) === LINE_FEED))
  );
}
