/**
 * Connects to a server behind a URL: Streamable HTTP in either protocol version, or the older SSE transport.
 */
import {
  type AuthProvider,
  type Client,
  type ConnectOptions,
  type FetchLike,
  isJSONRPCRequest,
  SSEClientTransport,
  SseError,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client';
import { setTimeout as delay } from 'node:timers/promises';
import { boundedFetch } from './bounded-fetch.ts';
import { httpStatus } from './call-error.ts';
import type { ServerCredentials } from './credentials.ts';
import type { HeadersHelper } from './headers-helper.ts';
import { type LinkOptions, type McpLink, openLink, CLOSE_MS, MAX_MESSAGE_BYTES } from './link.ts';
import { announceMissed, listenFilter, type LinkHandlers } from './link-handlers.ts';
import { MAX_RETRY_MS, RETRY_PACE, type RetryPace, retryPause } from './retry-pause.ts';
import type { RemoteServerSettings } from './server-settings.ts';

/** Bounds of a remote connection, and what adds headers to its requests. */
export interface RemoteBounds {
  readonly limits: LinkOptions['limits'];
  readonly helper?: HeadersHelper | undefined;
  /** Default: `RETRY_PACE`. */
  readonly pace?: RetryPace;
}

type Hooks = Pick<LinkOptions, 'handlers' | 'signal'>;

/** Attempts to resume a broken stream before the whole connection is replaced. */
const STREAM_RETRIES = 3;

/**
 * Create a function that opens links to one server.
 *
 * The server's protocol version is negotiated once and remembered until connecting fails.
 *
 * @returns A function that rejects with the SDK's error; `httpStatus` detects 401.
 */
export function remoteOpener(
  settings: RemoteServerSettings,
  { limits, pace = RETRY_PACE, helper }: RemoteBounds,
  credentials?: ServerCredentials,
): (hooks: Hooks) => Promise<McpLink> {
  const bounded = boundedFetch(MAX_MESSAGE_BYTES);
  const fetchBounded = helper?.watch(bounded) ?? bounded;
  const requests: RequestSettings = {
    requestInit: { headers: { ...settings.headers } },
    fetch: credentials?.watch(fetchBounded) ?? fetchBounded,
    ...(credentials && { authProvider: credentials.provider }),
  };
  let prior: ConnectOptions['prior'];

  return async function open(hooks) {
    if (settings.type === 'sse') return openSse(settings.url, requests, limits, hooks);
    try {
      const link = await openStreamable(settings.url, requests, { limits, pace }, hooks, prior);
      const discover = link.client.getDiscoverResult();
      prior = discover === undefined ? { kind: 'legacy' } : { kind: 'modern', discover };
      const listening = new AbortController();
      void link.closed.then(() => listening.abort());
      void keepListening(link.client, { limits, pace, handlers: hooks.handlers, signal: listening.signal });
      return link;
    } catch (error) {
      prior = undefined;
      const status = httpStatus(error);
      if (status === 404 || status === 405) return openSse(settings.url, requests, limits, hooks);
      throw error;
    }
  };
}

/** Options of the requests of a transport. */
interface RequestSettings {
  readonly requestInit: RequestInit;
  readonly fetch: FetchLike;
  readonly authProvider?: AuthProvider;
}

function openStreamable(
  url: string,
  requests: RequestSettings,
  { limits, pace }: Required<Omit<RemoteBounds, 'helper'>>,
  hooks: Hooks,
  prior: ConnectOptions['prior'],
): Promise<McpLink> {
  let endReason = 'the connection was closed';
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    ...requests,
    reconnectionOptions: {
      initialReconnectionDelay: pace.firstMs,
      maxReconnectionDelay: MAX_RETRY_MS,
      reconnectionDelayGrowFactor: 2,
      maxRetries: Infinity,
    },
    reconnectionScheduler(reconnect, delayMs, attempt) {
      if (attempt >= STREAM_RETRIES) {
        endReason = 'its stream of events broke off and could not be taken up again';
        void transport.close();
        return;
      }
      const timer = setTimeout(reconnect, delayMs);
      return () => clearTimeout(timer);
    },
  });
  failWithStream(transport);
  sendTraceHeaders(transport);
  return openLink({
    ...hooks,
    transport,
    limits,
    mode: 'auto',
    prior,
    describeEnd: () => endReason,
    beforeClose: () => endSession(transport, CLOSE_MS),
  });
}

/**
 * Make a request fail at once when its event stream ends without an answer; the SDK would wait until the request times
 * out.
 */
function failWithStream(transport: StreamableHTTPClientTransport): void {
  const send = transport.send.bind(transport);
  transport.send = (message, options) => {
    if (!isJSONRPCRequest(message) || options?.onRequestStreamEnd !== undefined) return send(message, options);
    const error = { code: -32_000, message: 'the connection ended before the answer came' };
    // If the answer arrived earlier, the request is settled and this message is ignored.
    const onRequestStreamEnd = () => transport.onmessage?.({ jsonrpc: '2.0', id: message.id, error });
    return send(message, { ...options, onRequestStreamEnd });
  };
}

/** Send the trace of a request's `_meta` in the headers, too, for what stands between. */
function sendTraceHeaders(transport: StreamableHTTPClientTransport): void {
  const send = transport.send.bind(transport);
  transport.send = (message, options) => {
    const { traceparent, tracestate } = (isJSONRPCRequest(message) && message.params?._meta) || {};
    if (typeof traceparent !== 'string') return send(message, options);
    const headers = { traceparent, ...(typeof tracestate === 'string' && { tracestate }) };
    return send(message, { ...options, headers: { ...headers, ...options?.headers } });
  };
}

/** Ask the server to delete the session, and wait at most `closeMs`. */
async function endSession(transport: StreamableHTTPClientTransport, closeMs: number): Promise<void> {
  const stop = new AbortController();
  // Errors are ignored: the server is gone, or does not support deleting sessions.
  const ended = transport.terminateSession().catch(() => undefined);
  await Promise.race([ended, delay(closeMs, undefined, { signal: stop.signal }).catch(() => undefined)]);
  stop.abort();
}

function openSse(
  url: string,
  requests: RequestSettings,
  limits: LinkOptions['limits'],
  hooks: Hooks,
): Promise<McpLink> {
  const transport = new SSEClientTransport(new URL(url), { ...requests });
  return openLink({
    ...hooks,
    transport,
    limits,
    mode: 'legacy',
    describeEnd: () => 'its stream of events broke off',
    // The transport would resume the stream in a new session, which has none of the pending requests.
    onError: (error) => {
      if (error instanceof SseError) void transport.close();
    },
  });
}

/** Options of `keepListening`. */
interface ListenOptions extends Required<Omit<RemoteBounds, 'helper'>> {
  readonly handlers: LinkHandlers;
  /** Ends the listening. */
  readonly signal: AbortSignal;
}

/**
 * Keep a stream of changes open at a server of the newer era. Nothing waits for it: a server may never acknowledge it.
 *
 * Resolves when `signal` is aborted or the retries are exhausted; never rejects.
 */
async function keepListening(client: Client, { limits, pace, handlers, signal }: ListenOptions): Promise<void> {
  const filter = client.getProtocolEra() === 'modern' ? listenFilter(client, handlers) : undefined;
  if (filter === undefined) return;
  const pause = retryPause(pace);
  for (let failures = 0; failures <= pace.maxFailures && !signal.aborted; failures++) {
    const openedAt = performance.now();
    try {
      const stream = await client.listen(filter, { timeout: limits.mcpConnectMs, signal });
      // A list that changed before the stream was open was announced to nobody.
      announceMissed(handlers, { honored: stream.honoredFilter });
      await stream.closed;
    } catch {
      // A lost connection is detected by the next request; here the stream is only retried.
    }
    if (performance.now() - openedAt >= MAX_RETRY_MS) failures = 0;
    await pause.wait({ failures, isParked: false, signal });
  }
}
