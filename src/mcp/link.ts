/**
 * One live connection to one server: an SDK client over a transport, and a promise of its end.
 */
import { Client, type ConnectOptions, type Transport, type VersionNegotiationMode } from '@modelcontextprotocol/client';
import type { Limits } from '../../config/limits.ts';
import { capabilitiesOf, type LinkHandlers, registerHandlers, requestLogs } from './link-handlers.ts';
import { prepareMessages } from './received-messages.ts';
import { measureRoundTrips } from './round-trips.ts';

/** A server may take this long to end after its input was closed or its session was ended. */
export const CLOSE_MS = 500;

/** A live connection. It cannot be reopened; a new link replaces it. */
export interface McpLink {
  readonly client: Client;
  /** Resolves with the reason once the connection has ended; never rejects. */
  readonly closed: Promise<string>;
  /** The same reason once there is one. Requests use this, since each would leave a listener on `closed`. */
  endReason(): string | undefined;
  /** Median of the latest round trips in milliseconds; undefined before the first. */
  latencyMs(): number | undefined;
  /** Close it; pending requests fail at once. @returns Once the transport has ended. */
  close(): Promise<void>;
}

/** One message of a server; a larger one ends the connection. */
export const MAX_MESSAGE_BYTES = 10 * 1_024 * 1_024;

/** Answers to a server that it has not taken yet, in characters; one that asks without reading ends the connection. */
const MAX_UNREAD_CHARS = 16 * 1_024 * 1_024;

/** An answer that waits takes at least this much of the room. */
const MIN_ANSWER_CHARS = 1_024;

/** Options of `openLink`. */
export interface LinkOptions {
  readonly transport: Transport;
  readonly mode: VersionNegotiationMode;
  /** Result of an earlier negotiation of the protocol version with this server. */
  readonly prior?: ConnectOptions['prior'];
  readonly limits: Pick<Limits, 'mcpConnectMs'>;
  /** Handlers of the requests and announcements of the server. */
  readonly handlers: LinkHandlers;
  /** Returns the reason for `closed`; called when the connection ends. */
  readonly describeEnd: () => string;
  /** Called with errors that belong to no request. */
  readonly onError?: (error: Error) => void;
  /** Awaited before the transport closes, to notify the server. */
  readonly beforeClose?: () => Promise<void>;
  /** Aborts connecting. */
  readonly signal: AbortSignal;
}

/**
 * Connect and perform the handshake.
 *
 * @throws The error of the SDK or the transport, which is then closed.
 */
export async function openLink(options: LinkOptions): Promise<McpLink> {
  const { transport } = options;
  const latencyMs = measureRoundTrips(transport);
  const client = new Client(
    { name: 'gauntlet', version: '0.1.0' },
    // The SDK's own `listChanged` would make connecting wait for a stream that a server may never acknowledge.
    { versionNegotiation: { mode: options.mode }, capabilities: capabilitiesOf(options.handlers) },
  );
  const endHandlers = registerHandlers(client, options.handlers);
  if (options.onError !== undefined) client.onerror = options.onError;
  let reason: string | undefined;
  prepareMessages(transport);
  boundAnswers(transport, () => {
    reason ??= `it has not read ${MAX_UNREAD_CHARS} characters of answers to its requests`;
    void transport.close();
  });
  const closed = new Promise<string>((resolve) => {
    client.onclose = () => {
      endHandlers();
      resolve((reason ??= options.describeEnd()));
    };
  });
  const closeOnce = async () => {
    await options.beforeClose?.();
    await client.close();
    // The client drops its transport once that has closed itself, so its end is awaited here.
    await transport.close();
  };

  let closing: Promise<void> | undefined;
  const close = () => (closing ??= closeOnce());

  try {
    await untilAborted(connect(client, options), options.signal);
    requestLogs(client, options.handlers);
  } catch (error) {
    await transport.close();
    throw error;
  }
  return { client, closed, endReason: () => reason, latencyMs, close };
}

/** Bound the answers that wait until a server reads them. @param onExceeded Called when there are too many. */
function boundAnswers(transport: Transport, onExceeded: () => void): void {
  const send = transport.send.bind(transport);
  let unreadChars = 0;
  transport.send = async (message, options) => {
    if ('method' in message) return send(message, options);
    if (unreadChars > MAX_UNREAD_CHARS) return onExceeded();
    const chars = Math.max(MIN_ANSWER_CHARS, JSON.stringify(message).length);
    unreadChars += chars;
    try {
      await send(message, options);
    } finally {
      unreadChars -= chars;
    }
  };
}

function connect(client: Client, { transport, prior, limits, signal }: LinkOptions): Promise<void> {
  return client.connect(transport, { timeout: limits.mcpConnectMs, signal, ...(prior === undefined ? {} : { prior }) });
}

/** The SDK's timeout starts with the handshake; a transport that never starts would block for ever. */
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
