/**
 * Measures the round trips to a server by requests that it answers without work: a call takes as long as its tool.
 */
import { isJSONRPCRequest, type Transport } from '@modelcontextprotocol/client';

/** Requests whose time is that of the way to the server. A handshake has the start of a process in it. */
const QUICK: ReadonlySet<string> = new Set([
  'ping',
  'tools/list',
  'prompts/list',
  'resources/list',
  'resources/templates/list',
  'resources/subscribe',
  'resources/unsubscribe',
  'logging/setLevel',
]);

/** Round trips that the median is of: the latest. */
const MAX_SAMPLES = 9;

/** Requests without an answer that are kept; a server may answer none. */
const MAX_PENDING = 64;

/**
 * Measure the round trips over a transport that is not connected yet.
 *
 * @returns A function that returns the median of the latest ones in milliseconds; undefined before the first.
 */
export function measureRoundTrips(transport: Transport): () => number | undefined {
  /** Start times by the id of the request, the oldest first. */
  const pending = new Map<string | number, number>();
  let samples: readonly number[] = [];

  const send = transport.send.bind(transport);
  transport.send = (message, options) => {
    if (isJSONRPCRequest(message) && QUICK.has(message.method)) {
      const [oldest] = pending.keys();
      if (pending.size >= MAX_PENDING && oldest !== undefined) pending.delete(oldest);
      pending.set(message.id, performance.now());
    }
    return send(message, options);
  };
  // The client calls it before its own.
  transport.onmessage = (message: unknown) => {
    const { id, method, result } = (message ?? {}) as { id?: string | number; method?: unknown; result?: unknown };
    if (id === undefined || method !== undefined) return;
    const beganMs = pending.get(id);
    pending.delete(id);
    if (beganMs === undefined || result === undefined) return;
    samples = [...samples, performance.now() - beganMs].slice(-MAX_SAMPLES);
  };
  return () => median(samples);
}

function median(values: readonly number[]): number | undefined {
  return [...values].sort((one, other) => one - other)[Math.floor((values.length - 1) / 2)];
}
