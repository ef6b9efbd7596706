/**
 * Connects to a server behind a URL: Streamable HTTP in either protocol era, or the SSE transport
 * that came before it.
 */
import {
  type Client,
  type ConnectOptions,
  isJSONRPCRequest,
  SSEClientTransport,
  SseError,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client';
import { setTimeout as delay } from 'node:timers/promises';
import type { Limits } from '../../config/limits.ts';
import { boundedFetch } from './bounded-fetch.ts';
import { httpStatus } from './call-error.ts';
import { type LinkOptions, type McpLink, openLink } from './link.ts';
import { retryPause } from './retry-pause.ts';
import type { RemoteServerSettings } from './server-settings.ts';

/** What a remote server is bounded by. */
export type RemoteLimits = LinkOptions['limits'] &
  ListenOptions['limits'] &
  Pick<Limits, 'mcpMessageBytes' | 'mcpCloseMs'>;

type Hooks = Pick<LinkOptions, 'onListChanged' | 'signal'>;

/** Attempts to take up a stream that broke off before the whole connection is made anew. */
const STREAM_RETRIES = 3;

/**
 * Make the way to open links to one server.
 *
 * Which era the server speaks is asked once and remembered until connecting fails.
 *
 * @returns Throws whatever the SDK threw; `httpStatus` tells 401.
 */
export function remoteOpener(settings: RemoteServerSettings, limits: RemoteLimits): (hooks: Hooks) => Promise<McpLink> {
  let prior: ConnectOptions['prior'];

  return async function open(hooks) {
    if (settings.type === 'sse') return openSse(settings, limits, hooks);
    try {
      const link = await openStreamable(settings, limits, hooks, prior);
      const discover = link.client.getDiscoverResult();
      prior = discover === undefined ? { kind: 'legacy' } : { kind: 'modern', discover };
      const listening = new AbortController();
      void link.closed.then(() => listening.abort());
      void keepListening(link.client, { limits, onListChanged: hooks.onListChanged, signal: listening.signal });
      return link;
    } catch (error) {
      prior = undefined;
      const status = httpStatus(error);
      if (status === 404 || status === 405) return openSse(settings, limits, hooks);
      throw error;
    }
  };
}

function openStreamable(
  { url, headers }: RemoteServerSettings,
  limits: RemoteLimits,
  hooks: Hooks,
  prior: ConnectOptions['prior'],
): Promise<McpLink> {
  let endReason = 'the connection was closed';
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    requestInit: { headers: { ...headers } },
    fetch: boundedFetch(limits.mcpMessageBytes),
    reconnectionOptions: {
      initialReconnectionDelay: limits.mcpRetryMs,
      maxReconnectionDelay: limits.mcpRetryMaxMs,
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
  return openLink({
    ...hooks,
    transport,
    limits,
    mode: 'auto',
    prior,
    describeEnd: () => endReason,
    beforeClose: () => endSession(transport, limits.mcpCloseMs),
  });
}

/**
 * A request whose stream of events ended without its answer fails at once; the SDK would wait for the
 * answer until the request times out.
 */
function failWithStream(transport: StreamableHTTPClientTransport): void {
  const send = transport.send.bind(transport);
  transport.send = (message, options) => {
    if (!isJSONRPCRequest(message) || options?.onRequestStreamEnd !== undefined) return send(message, options);
    const error = { code: -32_000, message: 'the connection ended before the answer came' };
    // An answer that did come was taken already: then nobody waits for this one.
    const onRequestStreamEnd = () => transport.onmessage?.({ jsonrpc: '2.0', id: message.id, error });
    return send(message, { ...options, onRequestStreamEnd });
  };
}

/** Say goodbye, so that the server need not keep the session; not for longer than `closeMs`. */
async function endSession(transport: StreamableHTTPClientTransport, closeMs: number): Promise<void> {
  const stop = new AbortController();
  // A server that is gone, or that does not end sessions, loses nothing by it.
  const ended = transport.terminateSession().catch(() => undefined);
  await Promise.race([ended, delay(closeMs, undefined, { signal: stop.signal }).catch(() => undefined)]);
  stop.abort();
}

function openSse({ url, headers }: RemoteServerSettings, limits: RemoteLimits, hooks: Hooks): Promise<McpLink> {
  const transport = new SSEClientTransport(new URL(url), {
    requestInit: { headers: { ...headers } },
    fetch: boundedFetch(limits.mcpMessageBytes),
  });
  return openLink({
    ...hooks,
    transport,
    limits,
    mode: 'legacy',
    describeEnd: () => 'its stream of events broke off',
    // The transport would take up the stream in a new session, which knows nothing of pending requests.
    onError: (error) => {
      if (error instanceof SseError) void transport.close();
    },
  });
}

/** What listening needs. */
interface ListenOptions {
  readonly limits: Pick<Limits, 'mcpConnectMs' | 'mcpRetryMs' | 'mcpRetryMaxMs' | 'mcpRetries'>;
  /** The list of tools may have changed. */
  readonly onListChanged: () => void;
  /** Ends the listening. */
  readonly signal: AbortSignal;
}

/**
 * Keep the stream open that `client` opened when it connected, if it did.
 *
 * Resolves when `signal` is aborted, or when the server would not have it any more; never rejects.
 */
async function keepListening(client: Client, { limits, onListChanged, signal }: ListenOptions): Promise<void> {
  let stream = client.autoOpenedSubscription;
  if (stream === undefined) return;
  const pause = retryPause(limits);
  let openedAt = performance.now();
  for (let failures = 0; failures <= limits.mcpRetries && !signal.aborted; failures++) {
    await stream?.closed;
    stream = undefined;
    if (performance.now() - openedAt >= limits.mcpRetryMaxMs) failures = 0;
    await pause.wait({ failures, isParked: false, signal });
    openedAt = performance.now();
    try {
      stream = await client.listen({ toolsListChanged: true }, { timeout: limits.mcpConnectMs, signal });
      onListChanged();
    } catch {
      // Whether the whole connection is lost shows at the next request; here it is only tried again.
    }
  }
}
