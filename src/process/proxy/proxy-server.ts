/**
 * One session's proxy: a server on a UNIX socket that only that session's sandboxes can access.
 */
import { type EventEmitter, once } from 'node:events';
import { createServer, type IncomingMessage, request as sendRequest, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type Endpoint, parseAuthority } from '../../../config/authority.ts';
import { type ErrorCode, errorMessage, GauntletError, isGauntletError } from '../../base/errors.ts';
import type { Dial } from './dial.ts';
import type { ProxyBounds } from './proxy-bounds.ts';

/** Hop-by-hop headers. @see RFC 9110, 7.6.1 */
const HOP_BY_HOP_HEADERS = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'proxy-authenticate',
  'proxy-authentication-info',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

const ABSOLUTE_FORM = /^http:\/\/([^/?#]*)(\/[^#]*)?$/i;

const HTTP_PORT = 80;

/** A proxy that listens. */
export interface ProxyServer {
  /** End every connection and remove the socket's file. */
  close(): void;
}

/** HTTP status by error code; any other error is a failure of the remote host. */
const STATUS: Partial<Record<ErrorCode, number>> = {
  permission_denied: 403,
  invalid_request: 400,
  resource_exhausted: 503,
  timeout: 504,
};

const BAD_GATEWAY = 502;

/** Start listening. @param path Path of a new socket, at most 107 bytes. @throws errno errors. */
export async function listenAsProxy(path: string, dial: Dial, bounds: ProxyBounds): Promise<ProxyServer> {
  const tunnels = new Set<Duplex>();
  // The duration of a request is bounded by the outgoing connection.
  const options = {
    maxHeaderSize: bounds.headerBytes,
    headersTimeout: bounds.idleMs,
    requestTimeout: 0,
  };
  const server = createServer(options, (request, reply) => {
    forwardRequest(request, reply, dial).catch((error: unknown) => refuse(error, reply));
  });
  server.timeout = bounds.idleMs;
  server.maxHeadersCount = bounds.headers;
  server.maxConnections = bounds.sessionConnections;
  server.on('connect', (request, client, head) => {
    tunnels.add(client);
    client.once('close', () => tunnels.delete(client));
    openTunnel(request, client, head, dial).catch((error: unknown) => refuseTunnel(error, client));
  });
  server.listen(path);
  await once(server, 'listening');
  return {
    close() {
      server.close();
      server.closeAllConnections();
      for (const tunnel of tunnels) tunnel.destroy();
    },
  };
}

function refuse(error: unknown, reply: ServerResponse): void {
  if (reply.headersSent) return void reply.destroy();
  const { status, text } = refusal(error);
  // The connection closes, so the rest of the client's request is not read.
  const body = `${text}\n`;
  const headers = { 'content-type': 'text/plain', 'content-length': body.length, connection: 'close' };
  reply.writeHead(status, text, headers).end(body);
}

/** Most programs show at most the first line of a refused CONNECT, so that line contains the whole message. */
function refuseTunnel(error: unknown, client: Duplex): void {
  const { status, text } = refusal(error);
  client.on('error', () => client.destroy());
  client.end(`HTTP/1.1 ${status} ${text}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
}

function refusal(error: unknown): { readonly status: number; readonly text: string } {
  const status = (isGauntletError(error) && STATUS[error.code]) || BAD_GATEWAY;
  return { status, text: errorMessage(error).replaceAll(/[^\x20-\x7e]/g, '?') };
}

/**
 * Open a tunnel, which ends when either side does.
 *
 * @param head Bytes that the client sent after its request.
 * @throws {GauntletError} `invalid_request` for a target that is not `host:port`, and as `Dial` does.
 */
async function openTunnel({ url = '' }: IncomingMessage, client: Duplex, head: Buffer, dial: Dial): Promise<void> {
  const { host, port } = parseAuthority(url) ?? {};
  if (host === undefined || port === undefined) {
    throw new GauntletError('invalid_request', 'Cannot read where this leads: CONNECT takes host:port');
  }
  const server = await dial({ host, port }, closeSignal(client));
  client.write('HTTP/1.1 200 Connection established\r\n\r\n');
  server.write(head);
  // One side may end and still read; an error on one side destroys the other, and needs no further handling.
  pipeline(client, server).catch(() => undefined);
  pipeline(server, client).catch(() => undefined);
}

/**
 * Forward a request and its whole response.
 *
 * @throws {GauntletError} `invalid_request` for a target of another form, and as `Dial` does.
 */
async function forwardRequest(request: IncomingMessage, reply: ServerResponse, dial: Dial): Promise<void> {
  const { endpoint, authority, path } = readTarget(request.url ?? '');
  const socket = await dial(endpoint, closeSignal(reply));
  const hasChunks = request.headers['transfer-encoding'] !== undefined;
  const outgoing = sendRequest({
    createConnection: () => socket,
    method: request.method,
    path,
    headers: [
      // The client's Host is replaced by that of the target, and its Expect has been answered already.
      ...forwardedHeaders(request.rawHeaders, ['host', 'expect']),
      ...['Host', authority, 'Connection', 'close'],
      ...(hasChunks ? ['Transfer-Encoding', 'chunked'] : []),
    ],
  });
  // Once the response has begun, an error appears as its early end.
  outgoing.on('error', () => undefined);
  reply.once('close', () => outgoing.destroy());
  // A host may respond before it has read the whole request; a missing response is detected below.
  pipeline(request, outgoing).catch(() => undefined);

  const [answer] = (await once(outgoing, 'response')) as [IncomingMessage];
  reply.sendDate = false;
  reply.writeHead(answer.statusCode ?? 502, answer.statusMessage, forwardedHeaders(answer.rawHeaders));
  await pipeline(answer, reply);
}

function readTarget(target: string): { endpoint: Endpoint; authority: string; path: string } {
  const [, authority = '', path = '/'] = ABSOLUTE_FORM.exec(target) ?? [];
  const read = parseAuthority(authority);
  if (read === undefined) {
    throw new GauntletError(
      'invalid_request',
      'Cannot read where this leads: ask for "http://host/path", or CONNECT to host:port',
    );
  }
  return { endpoint: { host: read.host, port: read.port ?? HTTP_PORT }, authority, path };
}

// prettier-ignore

/**
 * Remove headers that must not be forwarded.
 *
 * @param rawHeaders Alternating names and values, as in Node.
 * @param more Further names to remove, in lower case.
 * @returns The others, in the same form and order.
 */
function forwardedHeaders(rawHeaders: readonly string[], more: readonly string[] = []): string[] {
  const pairs = rawHeaders.flatMap((name, index) =>
    index % 2 === 0 ? [{ name, lower: name.toLowerCase(), value: rawHeaders[index + 1] ?? '' }] : [],
  );
  const named = pairs
    .filter(({ lower }) => lower === 'connection')
    .flatMap(({ value }) => value.toLowerCase().split(','));
  const dropped = new Set([...HOP_BY_HOP_HEADERS, ...more, ...named.map((name) => name.trim())]);
  return pairs.flatMap(({ name, lower, value }) => (dropped.has(lower) ? [] : [name, value]));
}

/** Create a signal that aborts when a client's stream closes. */
function closeSignal(stream: EventEmitter): AbortSignal {
  const controller = new AbortController();
  stream.once('close', () => controller.abort());
  return controller.signal;
}
