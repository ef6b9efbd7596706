import request from 'supertest';
import { expect, test } from 'vitest';
import { DEFAULT_LIMITS } from '../../config/limits.ts';
import { AUTHORIZATION, listeningApp, rawExchange, TOKEN } from '../helpers/listening-app.ts';
import { plainTool } from '../helpers/plain-tool.ts';
import { openStream } from '../helpers/stream-client.ts';
import { testSessions } from '../helpers/test-sessions.ts';

const OTHER = { authorization: `Bearer ${TOKEN}-other` };

test('a principal that asks too often gets 429 and when to come back; others do not notice', async () => {
  const limitsOf = (principal: string) => ({ ...DEFAULT_LIMITS, requestsPerSecond: principal === 'owner' ? 2 : 0 });
  const { url } = await listeningApp({ limitsOf });
  const asked = Array.from({ length: 5 }, () => request(url).get('/tools').set(AUTHORIZATION));
  const statuses = (await Promise.all(asked)).map(({ status }) => status);
  expect(statuses.sort()).toEqual([200, 200, 429, 429, 429]);
  const { body, headers } = await request(url).get('/nothing').set(AUTHORIZATION).expect(429);
  expect(body.error).toMatchObject({ code: 'rate_limited', details: { reason: 'requests' } });
  expect(headers['retry-after']).toBe('1');
  await request(url).get('/tools').set(OTHER).expect(200);
  await request(url).get('/healthz').set(AUTHORIZATION).expect(200);
});

test('over a WebSocket it is closed with 4429; pings and pieces of a block do not count', async () => {
  const { directory } = testSessions([plainTool('Quick')]);
  const limitsOf = () => ({ ...DEFAULT_LIMITS, requestsPerSecond: 1, requestBurst: 4 });
  const { url } = await listeningApp({ directory, limitsOf });
  const { session_id: id } = (await request(url).post('/sessions').set(AUTHORIZATION).send({}).expect(201)).body;
  const client = await openStream(url, id as string);
  const delta = { type: 'content_block_delta', index: 9, delta: { type: 'text_delta', text: 'x' } };
  for (let t = 0; t < 20; t++) client.send({ type: 'ping', t });
  for (let n = 0; n < 20; n++) client.send({ type: 'stream_event', event: delta });
  await client.next(({ type, t }) => type === 'pong' && t === 19);
  for (let n = 0; n < 5; n++) client.send({ type: 'interrupt' });
  expect(await client.closed).toEqual({ code: 4429, reason: 'rate_limited' });
});

test('a principal opens no more WebSockets than it may', async () => {
  const { directory } = testSessions([plainTool('Quick')]);
  const { url } = await listeningApp({ directory, limitsOf: () => ({ ...DEFAULT_LIMITS, streams: 2 }) });
  const { session_id: id } = (await request(url).post('/sessions').set(AUTHORIZATION).send({})).body;
  const open = () => openStream(url, id as string);
  const clients = await Promise.allSettled([open(), open(), open(), open()]);
  const taken = clients.flatMap((client) => (client.status === 'fulfilled' ? [client.value] : []));
  const ends = Promise.all(taken.slice(2).map(({ closed }) => closed));
  expect((await ends).every(({ code }) => code === 4429)).toBe(true);
  await expect(open()).rejects.toThrow('429');
  await taken[0]?.close();
  await expect.poll(() => open().then(() => 'open', String)).toBe('open');
});

test('an address with too many bad credentials gets 429, and a good one still comes in', async () => {
  const refused: string[] = [];
  const { port, url } = await listeningApp({ onBadCredential: (address) => refused.push(address) });
  const bad = (more = '') =>
    `GET /tools HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer wrong\r\n${more}\r\n`;
  const replies = await rawExchange(port, bad().repeat(2_999) + bad('Connection: close\r\n'));
  const statuses = [...replies.matchAll(/HTTP\/1.1 (\d+) /g)].map(([, status]) => status);
  expect(statuses).toHaveLength(3_000);
  expect(statuses.slice(0, 2_000)).toEqual(Array(2_000).fill('401'));
  expect(statuses.slice(2_000)).toContain('429');
  expect(refused).toEqual(statuses.filter((status) => status === '401').map(() => '127.0.0.1'));
  await request(url).get('/tools').set(AUTHORIZATION).expect(200);
});
