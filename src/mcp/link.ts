/**
 * One live connection to one server: an SDK client over a transport, and the promise of its end.
 */
import { Client, type ConnectOptions, type Transport, type VersionNegotiationMode } from '@modelcontextprotocol/client';
import type { Limits } from '../../config/limits.ts';

/** A live connection. It never comes back to life: whoever lost one opens the next. */
export interface McpLink {
  readonly client: Client;
  /** Resolves, never rejects, with the reason once the connection is gone, whoever ended it. */
  readonly closed: Promise<string>;
  /** The same reason once there is one: for requests, which would each leave a listener on `closed`. */
  endReason(): string | undefined;
  /** Ends it; pending requests fail at once. Resolves when nothing of it is left. */
  close(): Promise<void>;
}

/** How to make a link over a transport. */
export interface LinkOptions {
  readonly transport: Transport;
  readonly mode: VersionNegotiationMode;
  /** What an earlier connection found out about the server's protocol era. */
  readonly prior?: ConnectOptions['prior'];
  readonly limits: Pick<Limits, 'mcpConnectMs' | 'mcpListDebounceMs'>;
  /** The server says that its list of tools changed; already debounced. */
  readonly onListChanged: () => void;
  /** Said in `closed`; read when the connection ends. */
  readonly describeEnd: () => string;
  /** Hears what goes wrong beside any request. */
  readonly onError?: (error: Error) => void;
  /** Last words to the server before the transport closes. */
  readonly beforeClose?: () => Promise<void>;
  /** Gives up connecting. */
  readonly signal: AbortSignal;
}

/**
 * Connect and shake hands.
 *
 * @throws Whatever the SDK or the transport threw; the transport is closed then.
 */
export async function openLink(options: LinkOptions): Promise<McpLink> {
  const { transport, limits } = options;
  const client = new Client(
    { name: 'gauntlet', version: '0.1.0' },
    {
      versionNegotiation: { mode: options.mode },
      listChanged: {
        tools: { autoRefresh: false, debounceMs: limits.mcpListDebounceMs, onChanged: () => options.onListChanged() },
      },
    },
  );
  if (options.onError !== undefined) client.onerror = options.onError;
  let reason: string | undefined;
  const closed = new Promise<string>((resolve) => {
    client.onclose = () => resolve((reason ??= options.describeEnd()));
  });
  const closeOnce = async () => {
    await options.beforeClose?.();
    await client.close();
    // The client forgets its transport once that has closed itself; its end must be waited for all the same.
    await transport.close();
  };

  let closing: Promise<void> | undefined;
  const close = () => (closing ??= closeOnce());

  try {
    await untilAborted(connect(client, options), options.signal);
  } catch (error) {
    await transport.close();
    throw error;
  }
  return { client, closed, endReason: () => reason, close };
}

function connect(client: Client, { transport, prior, limits, signal }: LinkOptions): Promise<void> {
  return client.connect(transport, { timeout: limits.mcpConnectMs, signal, ...(prior === undefined ? {} : { prior }) });
}

/** The SDK's timeout begins with the handshake; a transport that never starts would wait for ever. */
async function untilAborted<Value>(work: Promise<Value>, signal: AbortSignal): Promise<Value> {
  let onAbort = (): void => undefined;
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(signal.reason as Error);
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
