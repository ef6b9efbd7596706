/**
 * Clients that add as little as they can: one kept-alive HTTP connection, one WebSocket.
 */
import { Agent, request } from 'node:http';
import WebSocket from 'ws';
import type { RunningServer } from './servers.ts';

/** Any JSON reply. */
export type Reply = Record<string, unknown>;

/** One connection to a server. */
export interface HttpClient {
  send(method: string, path: string, body?: unknown): Promise<Reply>;
  close(): void;
}

/** Connect. */
export function httpClient(server: RunningServer): HttpClient {
  const agent = new Agent({ keepAlive: true, maxSockets: 1, noDelay: true });
  return {
    send: (method, path, body) =>
      new Promise((resolve, reject) => {
        const text = body === undefined ? undefined : JSON.stringify(body);
        const headers = {
          ...server.headers,
          ...(text === undefined
            ? {}
            : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }),
        };
        const outgoing = request(`${server.url}${path}`, { method, agent, headers }, (incoming) => {
          const chunks: Buffer[] = [];
          incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
          incoming.on('end', () => {
            const reply = Buffer.concat(chunks).toString();
            if (incoming.statusCode !== undefined && incoming.statusCode < 300)
              resolve(JSON.parse(reply || '{}') as Reply);
            else reject(new Error(`${method} ${path} answered ${incoming.statusCode}: ${reply}`));
          });
        });
        outgoing.on('error', reject);
        outgoing.end(text);
      }),
    close: () => agent.destroy(),
  };
}

/** A WebSocket whose frames can be waited for. */
export interface SocketClient {
  send(frame: unknown): void;
  /** Resolves with the first frame, from now on, that fits. */
  next(fits: (frame: Reply) => boolean): Promise<Reply>;
  close(): void;
}

/** Open a WebSocket; ours says hello and waits until it is live. */
export async function socketClient(server: RunningServer, path: string, isOurs: boolean): Promise<SocketClient> {
  const url = `${server.url.replace('http', 'ws')}${path}`;
  const socket = new WebSocket(url, isOurs ? ['gauntlet.v1'] : [], {
    headers: server.headers,
    perMessageDeflate: false,
  });
  const waiting = new Set<{ fits: (frame: Reply) => boolean; resolve: (frame: Reply) => void }>();
  socket.on('message', (data) => {
    const frame = JSON.parse((data as Buffer).toString()) as Reply;
    for (const each of waiting) {
      if (!each.fits(frame)) continue;
      waiting.delete(each);
      each.resolve(frame);
    }
  });
  const client: SocketClient = {
    send: (frame) => socket.send(JSON.stringify(frame)),
    next: (fits) => new Promise((resolve) => waiting.add({ fits, resolve })),
    close: () => socket.terminate(),
  };
  await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
  if (!isOurs) return client;
  const live = client.next(({ type }) => type === 'live');
  client.send({ type: 'hello' });
  await live;
  return client;
}
