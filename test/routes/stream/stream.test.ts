import request from 'supertest';
import { describe, expect, test } from 'vitest';
import { AUTHORIZATION, listeningApp, TOKEN } from '../../helpers/listening-app.ts';
import { plainTool } from '../../helpers/plain-tool.ts';
import { waitingTool } from '../../helpers/slow-tools.ts';
import { openStream, type StreamOptions } from '../../helpers/stream-client.ts';
import { testSessions } from '../../helpers/test-sessions.ts';

const echo = plainTool('Echo', { touchesOnlySession: () => true, isConcurrencySafe: () => true });
const asking = plainTool('Asking');
const { tool: wait } = waitingTool();
const { directory, newSessionPool } = testSessions([echo, asking, wait]);
const { url } = await listeningApp({ directory, newSessionPool });
const block = (id: string, text = 'x', name = 'Echo') => ({ type: 'tool_use', id, name, input: { text } });
const post = (path: string, body: object = {}) => request(url).post(path).set(AUTHORIZATION).send(body);

async function newSession(): Promise<string> {
  return (await post('/sessions').expect(201)).body.session_id as string;
}

const open = async (options: StreamOptions = {}) => openStream(url, await newSession(), options);

describe('the upgrade', () => {
  test.each<[string, number, StreamOptions]>([
    ['no token', 401, { headers: {} }],
    ['a wrong token', 401, { headers: { authorization: 'Bearer x' } }],
    ['an evil origin', 403, { origin: 'http://evil.example' }],
    ['an evil host', 403, { headers: { ...AUTHORIZATION, host: 'evil.example' } }],
    ["someone else's session", 404, { headers: { authorization: `Bearer ${TOKEN}-other` } }],
    ['another subprotocol', 400, { protocols: ['other.v1'] }],
  ])('%s is refused with %i', async (_what, status, options) => {
    await expect(open(options)).rejects.toThrow(`refused with ${status}`);
  });

  test('an unknown session is refused as one that is not yours', async () => {
    await expect(openStream(url, 'nobody')).rejects.toThrow('refused with 404');
    await expect(openStream(url, '..%2fx')).rejects.toThrow('refused with 400');
  });

  test('plain HTTP is told what to do', async () => {
    const reply = await request(url)
      .get(`/sessions/${await newSession()}/stream`)
      .set(AUTHORIZATION)
      .expect(400);
    expect(reply.body.error.message).toContain('WebSocket');
  });

  test('a ticket opens one stream of one session, once', async () => {
    const session = await newSession();
    const issue = async () => (await post('/tickets', { session_id: session }).expect(200)).body.ticket as string;
    const [ticket, other] = [await issue(), await issue()];
    const offer = (value: string) => ({
      headers: {},
      origin: url,
      protocols: ['gauntlet.v1', `gauntlet.ticket.${value}`],
    });
    const client = await openStream(url, session, offer(ticket));
    expect(client.socket.protocol).toBe('gauntlet.v1');
    await expect(openStream(url, session, offer(ticket))).rejects.toThrow('refused with 401');
    await expect(openStream(url, await newSession(), offer(other))).rejects.toThrow('refused with 401');
    await client.close();
  });
});

describe('hello', () => {
  test('is answered by welcome and live', async () => {
    const client = await open();
    expect(await client.next('live')).toEqual({ type: 'live', seq: 1 });
    expect(client.frames[0]).toMatchObject({
      type: 'welcome',
      protocol: 'gauntlet.v1',
      first: 1,
      head: 1,
      resumed: true,
      pending: [],
      running: [],
      limits: { message_bytes: 1_048_576 },
    });
    await client.close();
  });

  test.each<[string, number, (client: Awaited<ReturnType<typeof open>>) => void]>([
    ['is waited for, not long', 4405, () => undefined],
    ['comes first', 4405, (client) => client.send({ type: 'ping' })],
    ['is an object', 4400, (client) => client.socket.send('[]')],
    ['is JSON', 4400, (client) => client.socket.send('{')],
    ['is text', 1003, (client) => client.socket.send(Buffer.from('{}'), { binary: true })],
    ['is not too big', 1009, (client) => client.socket.send('x'.repeat(1_100_000))],
  ])('%s', async (_what, code, act) => {
    const client = await open({ hello: false });
    act(client);
    expect((await client.closed).code).toBe(code);
  });

  test('from a frame gives all after it, then live', async () => {
    const session = await newSession();
    await post('/execute', { session_id: session, tool_uses: [block('a')] }).expect(200);
    const client = await openStream(url, session, { hello: { from_seq: 1 } });
    const { seq: head } = await client.next('live');
    const seqs = client.frames.flatMap(({ type, seq }) => (type === 'live' || seq === undefined ? [] : [seq]));
    expect(seqs).toEqual(Array.from({ length: seqs.length }, (_, index) => index + 2));
    expect(seqs.at(-1)).toBe(head);
    await client.close();
  });

  test.each([{ from_seq: 99 }, { from_seq: 1, epoch: 'another' }])('%j starts over', async (hello) => {
    const client = await open({ hello });
    await client.next('live');
    expect(client.frames.map(({ type }) => type)).toEqual(['welcome', 'opened', 'live']);
    expect(client.frames[0]).toMatchObject({ resumed: false });
    await client.close();
  });
});

describe('turns', () => {
  test('a finished block is run and its result streams', async () => {
    const client = await open();
    client.send({ type: 'tool_use', turn_id: 't', tool_use: block('a') });
    const result = await client.next('result');
    expect(result).toMatchObject({ turn_id: 't', tool_use_id: 'a', call: { status: 'ok' } });
    client.send({ type: 'turn_end', turn_id: 't' });
    expect(await client.next('turn_end')).toMatchObject({ turn_id: 't' });
    await client.close();
  });

  test('a call starts when its block closes, before the message does', async () => {
    const client = await open();
    const event = (content: object) => client.send({ type: 'stream_event', turn_id: 't', event: content });
    event({ type: 'message_start', message: {} });
    event({
      type: 'content_block_start',
      index: 0,
      content_block: { type: 'tool_use', id: 'a', name: 'Echo', input: {} },
    });
    event({ type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: '{"text":"hi' } });
    event({ type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: '"}' } });
    event({ type: 'content_block_stop', index: 0 });
    expect(await client.next('result')).toMatchObject({ tool_result: { content: '{"text":"hi"}' } });
    event({ type: 'message_stop' });
    await client.next('turn_end');
    expect(client.frames.some(({ type }) => type === 'input_partial')).toBe(true);
    await client.close();
  });

  test('a block that is known is replayed, with another input refused', async () => {
    const client = await open();
    client.send({ type: 'tool_use', tool_use: block('a') });
    await client.next('result');
    client.send({ type: 'tool_use', tool_use: block('a') });
    expect(await client.next('replay')).toMatchObject({ tool_use_id: 'a', call: { replayed: true } });
    client.send({ type: 'tool_use', tool_use: block('a', 'other') });
    expect(await client.next('error')).toMatchObject({ code: 'conflict', tool_use_id: 'a' });
    await client.close();
  });

  test('cancel ends a call', async () => {
    const client = await open();
    client.send({ type: 'tool_use', tool_use: block('a', 'x', 'Wait') });
    await client.next(({ type, state }) => type === 'state' && state === 'executing');
    client.send({ type: 'cancel', tool_use_id: 'a' });
    expect(await client.next('result')).toMatchObject({ call: { status: 'cancelled', error_code: 'cancelled' } });
    await client.close();
  });

  test('discard drops what runs, without its content', async () => {
    const client = await open();
    client.send({ type: 'tool_use', turn_id: 't', tool_use: block('a', 'x', 'Wait') });
    await client.next(({ type, state }) => type === 'state' && state === 'executing');
    client.send({ type: 'discard', turn_id: 't' });
    expect(await client.next('result')).toMatchObject({ call: { status: 'cancelled', error_code: 'discarded' } });
    await client.close();
  });

  test('an interrupt is answered by a notice', async () => {
    const client = await open();
    client.send({ type: 'interrupt' });
    expect(await client.next('notice')).toMatchObject({ code: 'interrupted', cancelled: [], continuing: [] });
    await client.close();
  });
});

describe('questions', () => {
  test('wait for an answer while someone is connected', async () => {
    const client = await open();
    client.send({ type: 'tool_use', tool_use: block('a', 'x', 'Asking') });
    const { request_id } = await client.next('permission_request');
    client.send({ type: 'permission_answer', request_id, behavior: 'allow' });
    expect(await client.next('result')).toMatchObject({ call: { status: 'ok' } });
    client.send({ type: 'permission_answer', request_id, behavior: 'deny' });
    expect(await client.next('error')).toMatchObject({ code: 'conflict', request_id });
    await client.close();
  });

  test('stand in the welcome of whoever comes later', async () => {
    const session = await newSession();
    const first = await openStream(url, session);
    first.send({ type: 'tool_use', tool_use: block('a', 'x', 'Asking') });
    const { request_id } = await first.next('permission_request');
    const second = await openStream(url, session);
    expect(await second.next('welcome')).toMatchObject({ pending: [{ request_id, tool_name: 'Asking' }] });
    second.send({ type: 'permission_answer', request_id, behavior: 'deny', message: 'not now' });
    expect(await first.next('result')).toMatchObject({ call: { status: 'denied' } });
    await Promise.all([first.close(), second.close()]);
  });
});

describe('frames that are wrong', () => {
  test.each<[string, object, object]>([
    ['an unknown type', { type: 'sing' }, { code: 'invalid_request', path: 'type' }],
    [
      'a block without a name',
      { type: 'tool_use', tool_use: { type: 'tool_use', id: 'z' } },
      { tool_use_id: 'z', path: 'tool_use.name' },
    ],
    [
      'an answer that is neither yes nor no',
      { type: 'permission_answer', request_id: 'q', behavior: 'so' },
      { path: 'behavior' },
    ],
    ['a turn that is not there', { type: 'turn_end', turn_id: 'nobody' }, { code: 'not_found' }],
    ['a second hello', { type: 'hello' }, { code: 'invalid_request' }],
    [
      'a key that reaches a prototype',
      JSON.parse('{"type":"ping","__proto__":1}') as object,
      { details: { reason: 'forbidden_key' } },
    ],
  ])('%s is an error, and the stream goes on', async (_what, frame, expected) => {
    const client = await open();
    client.send(frame);
    expect(await client.next('error')).toMatchObject(expected);
    client.send({ type: 'ping', t: 7 });
    expect(await client.next('pong')).toEqual({ type: 'pong', t: 7 });
    await client.close();
  });
});

test('progress can be left out, without gaps', async () => {
  const client = await open({ hello: { progress: false } });
  const event = (content: object) => client.send({ type: 'stream_event', event: content });
  event({
    type: 'content_block_start',
    index: 0,
    content_block: { type: 'tool_use', id: 'a', name: 'Echo', input: {} },
  });
  event({ type: 'content_block_stop', index: 0 });
  await client.next('result');
  expect(client.frames.filter(({ type }) => type === 'input_partial' || type === 'gap')).toEqual([]);
  await client.close();
});

test('a session that is deleted closes its streams with 4410', async () => {
  const session = await newSession();
  const client = await openStream(url, session);
  await client.next('live');
  await request(url).delete(`/sessions/${session}`).set(AUTHORIZATION).expect(204);
  expect(await client.closed).toEqual({ code: 4410, reason: 'session_closed' });
  expect(client.frames.at(-1)).toMatchObject({ type: 'bye', code: 4410 });
});
