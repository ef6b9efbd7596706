import { connect, type Socket } from 'node:net';
import { afterEach, expect, test } from 'vitest';
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

test('a socket that shows no good credential in time is closed, whatever else it asked for', async () => {
  const { port } = await listeningApp({ limits: { strangerMs: 300, requestCheckMs: 50 } });
  const [silent, idle, wrong] = [await guest(port), await guest(port), await guest(port)];
  expect(await idle.ask('/healthz')).toMatch(/^HTTP\/1.1 200 /);
  expect(await wrong.ask('/tools', 'Authorization: Bearer wrong\r\n')).toMatch(/^HTTP\/1.1 401 /);
  expect(await silent.ended).toMatch(/^HTTP\/1.1 408 /);
  await Promise.all([idle.ended, wrong.ended]);
});

test('who showed one stays, and new sockets come in while strangers crowd', async () => {
  const { port, url } = await listeningApp({ limits: { strangers: 4, requestCheckMs: 50, connections: 40 } });
  const known = await guest(port);
  expect(await known.ask('/tools', `Authorization: Bearer ${TOKEN}\r\n`)).toMatch(/^HTTP\/1.1 200 /);
  const crowd = await Promise.all(Array.from({ length: 20 }, () => guest(port)));
  expect((await fetch(`${url}/tools`, { headers: AUTHORIZATION })).status).toBe(200);
  await expect.poll(() => crowd.filter((each) => each.isOpen()).length).toBe(4);
  expect(known.isOpen()).toBe(true);
});

test('no more sockets than the limit are open at once, and the next comes in when one goes', async () => {
  const { port } = await listeningApp({ limits: { connections: 3 } });
  const first = [await guest(port), await guest(port), await guest(port)];
  const refused = await guest(port);
  expect(await refused.ended).toBe('');
  first[0]?.socket.destroy();
  await first[0]?.ended;
  await expect.poll(async () => (await guest(port)).ask('/healthz').catch(() => '')).toMatch(/^HTTP\/1.1 200 /);
});

test('no address has more sockets than the limit, whoever it is, and others come in', async () => {
  const { port } = await listeningApp({ limits: { addressConnections: 2 } });
  const known = await guest(port);
  expect(await known.ask('/tools', `Authorization: Bearer ${TOKEN}\r\n`)).toMatch(/^HTTP\/1.1 200 /);
  const second = await guest(port);
  expect(await (await guest(port)).ended).toBe('');
  expect(await (await guest(port, '127.0.0.2')).ask('/healthz')).toMatch(/^HTTP\/1.1 200 /);
  second.socket.destroy();
  await second.ended;
  await expect.poll(async () => (await guest(port)).ask('/healthz').catch(() => '')).toMatch(/^HTTP\/1.1 200 /);
});
