import request from 'supertest';
import { expect, test } from 'vitest';
import { AUTHORIZATION, listeningApp } from '../../helpers/listening-app.ts';
import { plainTool } from '../../helpers/plain-tool.ts';
import { openStream } from '../../helpers/stream-client.ts';
import { testSessions } from '../../helpers/test-sessions.ts';

const TEXT = 'x'.repeat(1_000);
const long = plainTool('Long', {
  touchesOnlySession: () => true,
  isConcurrencySafe: () => true,
  call: () => Promise.resolve({ data: TEXT }),
});

async function server(limits: Parameters<typeof listeningApp>[0] = {}) {
  const { directory, newSessionPool } = testSessions([long]);
  const app = await listeningApp({ directory, newSessionPool, ...limits });
  const post = (path: string, body: object) => request(app.url).post(path).set(AUTHORIZATION).send(body);
  const session = (await post('/sessions', {}).expect(201)).body.session_id as string;
  return { ...app, post, session, directory };
}

test('a server that closes sends what is in the log, then 1001', async () => {
  const { app, url, session, post } = await server();
  const client = await openStream(url, session);
  await client.next('live');
  await post('/execute', { session_id: session, tool_uses: [{ type: 'tool_use', id: 'a', name: 'Long', input: {} }] });
  await app.close();
  expect(await client.closed).toEqual({ code: 1001, reason: 'server_shutdown' });
  expect(client.frames.slice(-2)).toMatchObject([{ type: 'turn_end' }, { type: 'bye', code: 1001, retry_ms: 2_000 }]);
});

test('followers of events see the rest of the log, then the end', async () => {
  const { app, url, session } = await server();
  const headers = { ...AUTHORIZATION, accept: 'text/event-stream' };
  const reply = await fetch(`${url}/sessions/${session}/events`, { headers });
  const text = reply.text();
  await app.close();
  expect(await text).toMatch(/^id: [^.]+\.1\ndata: \{[^\n]+\}\n\n$/);
});

test('a client that floods is cut off with 4429', async () => {
  const { url, session } = await server({ limits: { messagesPerSecond: 5 } });
  const client = await openStream(url, session);
  for (let count = 0; count < 60; count++) client.send({ type: 'ping', t: count });
  expect(await client.closed).toEqual({ code: 4429, reason: 'too_many_messages' });
});

test('a client that stops reading is cut off with 4008 and holds nobody up', async () => {
  const { url, session, post } = await server({ limits: { slowReaderMs: 100 } });
  const client = await openStream(url, session);
  await client.next('live');
  client.socket.pause();
  // More than the buffers of both kernels hold.
  for (let round = 0; round < 15; round++) {
    const tool_uses = Array.from({ length: 100 }, (_, index) => ({
      type: 'tool_use',
      id: `r${round}_${index}`,
      name: 'Long',
      input: { text: TEXT.repeat(10) },
    }));
    await post('/execute', { session_id: session, tool_uses }).expect(200);
  }
  client.socket.resume();
  expect(await client.closed).toEqual({ code: 4008, reason: 'slow_reader' });
  const seqs = client.frames.flatMap(({ seq, type }) => (type === 'live' || seq === undefined ? [] : [seq]));
  expect(seqs).toEqual(seqs.map((_, index) => (seqs[0] ?? 0) + index));
});

test('a client that answers no ping is let go, its session stays', async () => {
  const { url, session, directory } = await server({ limits: { webSocketPingMs: 20 } });
  const client = await openStream(url, session);
  await client.next('live');
  const opened = await directory.open('owner', session);
  expect(opened.isInUse).toBe(true);
  client.socket.pause();
  await expect.poll(() => opened.isInUse).toBe(false);
  client.socket.resume();
  expect((await client.closed).code).toBe(1006);
});
