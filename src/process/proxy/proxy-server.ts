/**
 * The proxy as one session sees it: a server on a UNIX socket that only that session's sandboxes have.
 */
import { createServer, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { once } from 'node:events';
import type { Limits } from '../../../config/limits.ts';
import { type ErrorCode, errorMessage, isGauntletError } from '../../base/errors.ts';
import type { Dial } from './dial.ts';
import { forwardRequest } from './forward.ts';
import { openTunnel } from './tunnel.ts';

/** What a session's proxy is bounded by. */
export type ProxyLimits = Pick<
  Limits,
  'sandboxProxyHeaderBytes' | 'sandboxProxyHeaders' | 'sandboxProxyIdleMs' | 'sandboxProxySessionConnections'
>;

/** A proxy that listens. */
export interface ProxyServer {
  /** End every connection; the socket's file goes too. */
  close(): void;
}

/** By code; any other failure is one of the host that was asked for. */
const STATUS: Partial<Record<ErrorCode, number>> = {
  permission_denied: 403,
  invalid_request: 400,
  resource_exhausted: 503,
  timeout: 504,
};
const BAD_GATEWAY = 502;

/** Listen. @param path Of a socket that is not there yet, at most 107 bytes. @throws errno errors. */
export async function listenAsProxy(path: string, dial: Dial, limits: ProxyLimits): Promise<ProxyServer> {
  const tunnels = new Set<Duplex>();
  // How long a whole request takes is bounded where it leads to.
  const options = {
    maxHeaderSize: limits.sandboxProxyHeaderBytes,
    headersTimeout: limits.sandboxProxyIdleMs,
    requestTimeout: 0,
  };
  const server = createServer(options, (request, reply) => {
    forwardRequest(request, reply, dial).catch((error: unknown) => refuse(error, reply));
  });
  server.timeout = limits.sandboxProxyIdleMs;
  server.maxHeadersCount = limits.sandboxProxyHeaders;
  server.maxConnections = limits.sandboxProxySessionConnections;
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
  // What the client still sends is not read.
  const body = `${text}\n`;
  const headers = { 'content-type': 'text/plain', 'content-length': body.length, connection: 'close' };
  reply.writeHead(status, text, headers).end(body);
}

/** Of a refused CONNECT programs show the first line at most, so it says everything. */
function refuseTunnel(error: unknown, client: Duplex): void {
  const { status, text } = refusal(error);
  client.on('error', () => client.destroy());
  client.end(`HTTP/1.1 ${status} ${text}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
}

function refusal(error: unknown): { readonly status: number; readonly text: string } {
  const status = (isGauntletError(error) && STATUS[error.code]) || BAD_GATEWAY;
  return { status, text: errorMessage(error).replaceAll(/[^\x20-\x7e]/g, '?') };
}
