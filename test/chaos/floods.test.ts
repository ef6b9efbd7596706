/** A16: floods of frames, of cancellations, and of connections by somebody without a credential. */
import { connect, type Socket } from 'node:net';
import { expect, it } from 'vitest';
import { startServer } from '../helpers/built-server.ts';
import { wireClient } from '../helpers/wire-client.ts';

const server = await startServer();
const client = wireClient(server);

it('two hundred frames a millisecond end in 4429, and nobody else waits', async () => {
  const stream = await client.stream(await client.session());
  await stream.next('live');
  const flood = setInterval(() => {
    for (let t = 0; t < 200; t++) stream.send({ type: 'ping', t });
  }, 1);
  const began = performance.now();
  expect((await client.get('/tools')).status).toBe(200);
  expect(performance.now() - began).toBeLessThan(2_000);
  expect(await stream.closed).toMatchObject({ code: 4429 });
  clearInterval(flood);
});

it('ten thousand cancellations change nothing', async () => {
  const id = await client.session();
  const stream = await client.stream(id);
  for (let count = 0; count < 10_000; count++) stream.send({ type: 'cancel' });
  stream.send({ type: 'ping', t: 'last' });
  expect(await stream.next('pong')).toMatchObject({ t: 'last' });
  expect((await client.get(`/sessions/${id}`)).body).toMatchObject({ state: 'idle' });
  await stream.close();
});

it('a thousand streams without a credential are all refused, and silent sockets are gone in time', async () => {
  const eve = wireClient({ ...server, token: 'wrong' });
  const id = await client.session();
  for (let round = 0; round < 10; round++) {
    const tries = await Promise.allSettled(Array.from({ length: 100 }, () => eve.stream(id)));
    expect(tries.every(({ status }) => status === 'rejected')).toBe(true);
  }
  const { hostname, port } = new URL(server.url);
  const silent: Socket[] = Array.from({ length: 200 }, () => connect(Number(port), hostname));
  silent.forEach((socket) => socket.on('error', () => undefined).resume());
  const openCount = () => silent.filter(({ readyState }) => readyState === 'open').length;
  await expect.poll(openCount, { timeout: 4_000 }).toBeLessThanOrEqual(32);
  expect((await client.get('/tools')).status).toBe(200);
  await expect.poll(openCount, { timeout: 8_000 }).toBe(0);
}, 30_000);
