import type { FastifyInstance } from 'fastify';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import WebSocket from 'ws';
import { AUTHORIZATION, listeningApp, TOKEN } from '../helpers/listening-app.ts';

const sockets: Socket[] = [];
afterEach(() => sockets.splice(0).forEach((socket) => socket.destroy()));

interface Guest {
  readonly socket: Socket;
  /** Resolves with what was read when the server ends the connection. */
  readonly ended: Promise<string>;
  isOpen(): boolean;
  ask(path: string, headers?: string): Promise<string>;
}

async function guest(port: number, localAddress = '127.0.0.1'): Promise<Guest> {
  const socket = connect({ port, host: '127.0.0.1', localAddress }).setEncoding('utf8');
  sockets.push(socket);
  let text = '';
  socket.on('data', (chunk: string) => (text += chunk));
  const ended = new Promise<string>((resolve) => socket.once('close', () => resolve(text)));
  socket.on('error', () => undefined);
  await new Promise<void>((resolve) => socket.once('connect', resolve));
  return {
    socket,
    ended,
    isOpen: () => socket.readyState === 'open',
    ask: async (path, headers = '') => {
      const seen = text.length;
      socket.write(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n${headers}\r\n`);
      await expect.poll(() => text.slice(seen)).toContain('\r\n\r\n');
      return text.slice(seen);
    },
  };
}

function openSockets({ server }: FastifyInstance): Promise<number> {
  return new Promise((resolve, reject) =>
    server.getConnections((error, count) => (error === null ? resolve(count) : reject(error))),
  );
}

test('a socket that shows no good credential in time is closed, whatever else it asked for', async () => {
  const { port } = await listeningApp();
  const [silent, idle, wrong] = [await guest(port), await guest(port), await guest(port)];
  expect(await idle.ask('/healthz')).toMatch(/^HTTP\/1.1 200 /);
  expect(await wrong.ask('/tools', 'Authorization: Bearer wrong\r\n')).toMatch(/^HTTP\/1.1 401 /);
  expect(await silent.ended).toMatch(/^HTTP\/1.1 408 /);
  await Promise.all([idle.ended, wrong.ended]);
});

test('who showed one stays, and new sockets come in while unauthenticated ones crowd', async () => {
  const { port, url } = await listeningApp({
    limits: { unauthenticatedConnections: 4, connections: 40 },
  });
  const known = await guest(port);
  expect(await known.ask('/tools', `Authorization: Bearer ${TOKEN}\r\n`)).toMatch(/^HTTP\/1.1 200 /);
  const crowd = await Promise.all(Array.from({ length: 20 }, () => guest(port)));
  expect((await fetch(`${url}/tools`, { headers: AUTHORIZATION })).status).toBe(200);
  await expect.poll(() => crowd.filter((each) => each.isOpen()).length, { timeout: 5_000 }).toBe(4);
  expect(known.isOpen()).toBe(true);
});

test('who has sent a good credential while the server was busy is not closed before it is read', async () => {
  const { app, port } = await listeningApp({ limits: { unauthenticatedConnections: 4 } });
  const crowd = await Promise.all(Array.from({ length: 40 }, () => guest(port)));
  await expect.poll(() => openSockets(app)).toBe(40);
  const answers = crowd.map((each) => each.ask('/tools', `Authorization: Bearer ${TOKEN}\r\n`));
  // The event loop stands still for longer than a look: what was sent lies unread in the kernel.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2_000);
  for (const answer of answers) expect(await answer).toMatch(/^HTTP\/1.1 200 /);
});

test('no more sockets than the limit are open at once, and the next comes in when one goes', async () => {
  const { port } = await listeningApp({ limits: { connections: 3 } });
  const first = [await guest(port), await guest(port), await guest(port)];
  const refused = await guest(port);
  const reply = await refused.ask('/tools', `Authorization: Bearer ${TOKEN}\r\n`);
  expect(reply).toMatch(/^HTTP\/1.1 503 /);
  expect(reply).toMatch(/^retry-after: 2\r$/m);
  expect(await refused.ended).toContain('"code":"overloaded"');
  first[0]?.socket.destroy();
  await first[0]?.ended;
  await expect.poll(async () => (await guest(port)).ask('/healthz').catch(() => '')).toMatch(/^HTTP\/1.1 200 /);
});

test('no address has more sockets than the limit, whoever it is, and others come in', async () => {
  const { port } = await listeningApp({ limits: { addressConnections: 2 } });
  const known = await guest(port);
  expect(await known.ask('/tools', `Authorization: Bearer ${TOKEN}\r\n`)).toMatch(/^HTTP\/1.1 200 /);
  const second = await guest(port);
  expect(await (await guest(port)).ask('/healthz')).toMatch(/^HTTP\/1.1 503 /);
  expect(await (await guest(port, '127.0.0.2')).ask('/healthz')).toMatch(/^HTTP\/1.1 200 /);
  second.socket.destroy();
  await second.ended;
  await expect.poll(async () => (await guest(port)).ask('/healthz').catch(() => '')).toMatch(/^HTTP\/1.1 200 /);
});

test('a WebSocket that is one too many is refused with 503 and when to come back, not reset', async () => {
  const { port } = await listeningApp({ limits: { connections: 1 } });
  await guest(port);
  const socket = new WebSocket(`ws://127.0.0.1:${port}/sessions/ses_1/stream`, ['gauntlet.v1'], {
    headers: { authorization: `Bearer ${TOKEN}` },
  });
  socket.on('error', () => undefined);
  const [, response] = (await once(socket, 'unexpected-response')) as [unknown, IncomingMessage];
  response.resume();
  expect(response.statusCode).toBe(503);
  expect(response.headers['retry-after']).toBe('2');
  socket.terminate();
});

test('sockets beyond the limit are held for a moment and in small number, whether they ask or not', async () => {
  const { app, port } = await listeningApp({ limits: { connections: 1 } });
  const first = await guest(port);
  const crowd = await Promise.all(Array.from({ length: 300 }, () => guest(port)));
  expect(await openSockets(app)).toBeLessThanOrEqual(1 + 256);
  await expect.poll(() => crowd.some((each) => each.isOpen()), { timeout: 5_000 }).toBe(false);
  expect(await openSockets(app)).toBe(1);
  expect(first.isOpen()).toBe(true);
});

test('sockets that are held to be refused do not crowd out those that have not shown a credential yet', async () => {
  const { port } = await listeningApp({
    limits: { connections: 3, unauthenticatedConnections: 3 },
  });
  const admitted = [await guest(port), await guest(port), await guest(port)];
  await Promise.all(Array.from({ length: 20 }, () => guest(port)).map(async (each) => (await each).ended));
  expect(admitted.every((each) => each.isOpen())).toBe(true);
});
