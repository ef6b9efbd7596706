import type { Socket } from 'node:net';
import request from 'supertest';
import { expect, test } from 'vitest';
import type { Limits } from '../../../config/limits.ts';
import type { SessionDirectory } from '../../../src/session/directory/session-directory.ts';
import type { Session } from '../../../src/session/session.ts';
import { AUTHORIZATION, listeningApp } from '../../helpers/listening-app.ts';
import { plainTool } from '../../helpers/plain-tool.ts';
import { openStream } from '../../helpers/stream-client.ts';
import { testSessions } from '../../helpers/test-sessions.ts';

async function connected(limits: Partial<Limits> = {}) {
  const { directory } = testSessions([plainTool('Quick')]);
  const { url } = await listeningApp({ directory, limits });
  const { body } = await request(url).post('/sessions').set(AUTHORIZATION).send({}).expect(201);
  const client = await openStream(url, body.session_id as string);
  await client.next('live');
  const wire = (client.socket as unknown as { readonly _socket: Socket })._socket;
  return { client, wire, url };
}

/** A frame as a client must send it, masked with zeros; the first byte says what it is. */
function frame(first: number, payload: string | Buffer): Buffer {
  const bytes = Buffer.from(payload);
  return Buffer.concat([Buffer.from([first, 0x80 | bytes.length, 0, 0, 0, 0]), bytes]);
}

test.each<[string, number, Buffer]>([
  ['without a mask', 1002, Buffer.from([0x81, 0x02, 0x7b, 0x7d])],
  ['that claims to be compressed', 1002, frame(0xc1, '{}')],
  ['of an unknown kind', 1002, frame(0x83, '{}')],
  ['that goes on with nothing', 1002, frame(0x80, '{}')],
  ['that is no UTF-8', 1007, frame(0x81, Buffer.from([0xff, 0xfe]))],
  ['that ends within a letter', 1007, frame(0x81, Buffer.from([0xc3]))],
])('a frame %s ends the connection with %i, and no other', async (_what, code, bytes) => {
  const { client, wire, url } = await connected();
  wire.write(bytes);
  expect((await client.closed).code).toBe(code);
  await request(url).get('/tools').set(AUTHORIZATION).expect(200);
});

test('a message in too many or too large pieces ends the connection', async () => {
  const crumbs = await connected();
  crumbs.wire.write(Buffer.concat([frame(0x01, 'x'), ...Array.from({ length: 140_000 }, () => frame(0x00, 'x'))]));
  expect((await crumbs.client.closed).code).toBeOneOf([1008, 1009]);
  const chunks = await connected({ webSocketMessageBytes: 1_000 });
  chunks.wire.write(
    Buffer.concat([frame(0x01, 'x'), ...Array.from({ length: 20 }, () => frame(0x00, 'x'.repeat(100)))]),
  );
  expect((await chunks.client.closed).code).toBe(1009);
});

test('a log that cannot be read ends its streams with 1011, and tells nothing of why', async () => {
  const { directory } = testSessions([plainTool('Quick')]);
  const next = () => Promise.reject(new Error('canary of the disk'));
  const failing = (session: Session) =>
    new Proxy(session, {
      get(target, member) {
        const value: unknown = Reflect.get(target, member, target);
        if (member === 'read') return () => ({ [Symbol.asyncIterator]: () => ({ next }) });
        return typeof value === 'function' ? (value.bind(target) as unknown) : value;
      },
    });
  const logger = { debug: quiet, info: quiet, warn: quiet, error: quiet };
  const open = async (principal: string, id: string) => failing(await directory.open(principal, id));
  const { url } = await listeningApp({ logger, directory: { ...membersOf(directory), open } });
  const { id } = await directory.create('owner', {});
  const client = await openStream(url, id);
  expect(await client.closed).toEqual({ code: 1011, reason: 'internal' });
  expect(JSON.stringify(client.frames)).not.toContain('canary');
});

test('pings of the protocol are answered, and a flood of them is cut off with 4429', async () => {
  const { client } = await connected({ messagesPerSecond: 5 });
  const answered = new Promise((resolve) => client.socket.once('pong', resolve));
  client.socket.ping();
  await answered;
  for (let count = 0; count < 60; count++) client.socket.ping();
  expect(await client.closed).toEqual({ code: 4429, reason: 'too_many_messages' });
});

test('answers to a client that does not read them do not pile up: it is cut off with 4008', async () => {
  const { client } = await connected({ slowReaderMs: 1_000 });
  client.socket.pause();
  const t = 'x'.repeat(100_000);
  for (let count = 0; count < 700; count++) client.send({ type: 'ping', t });
  // The server stops reading as well, so that most of it stays here, until it loses patience and reads to the end.
  let before = -1;
  const isStuck = (now: number) => now > 0 && now === before;
  const look = (now: number) => [isStuck(now), (before = now)][0];
  await expect.poll(() => look(client.socket.bufferedAmount), { interval: 100 }).toBe(true);
  await expect.poll(() => client.socket.bufferedAmount, { timeout: 10_000 }).toBe(0);
  client.socket.resume();
  expect((await client.closed).code).toBe(4008);
  expect(client.frames.filter(({ type }) => type === 'pong').length).toBeLessThan(700);
});

function membersOf(directory: SessionDirectory) {
  return {
    create: directory.create.bind(directory),
    createForBatch: directory.createForBatch.bind(directory),
    openToAnswer: directory.openToAnswer.bind(directory),
    standing: directory.standing.bind(directory),
    usage: directory.usage.bind(directory),
    openQuestions: directory.openQuestions.bind(directory),
    list: directory.list.bind(directory),
    watch: directory.watch.bind(directory),
    relabel: directory.relabel.bind(directory),
    remove: directory.remove.bind(directory),
  };
}

function quiet(): void {
  // The failure is meant.
}
