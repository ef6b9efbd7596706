/** PROTOCOL 5: hello, what was missed, live; wrong frames; close codes. */
import { beforeAll, describe, expect, it } from 'vitest';
import { sharedWorkspace } from '../helpers/shared-workspace.ts';
import { block, type WireClient } from '../helpers/wire-client.ts';

let client: WireClient;
let folder: string;

beforeAll(async () => {
  ({ client, folder } = await sharedWorkspace('stream'));
});

const open = () => client.session({ cwd: folder, mode: 'bypassPermissions' });
const bash = (command: string) => block('Bash', { command });
type Stream = Awaited<ReturnType<WireClient['stream']>>;
const kinds = ({ frames }: Stream) => frames.map(({ type }) => type);
/** Of log frames: `live` tells where the log stood. */
const seqs = ({ frames }: Stream) =>
  frames.flatMap(({ type, seq }) => (seq === undefined || type === 'live' ? [] : [seq]));

describe('the upgrade', () => {
  it.each<[string, string, object, number]>([
    ['no credential', 'own', { headers: {} }, 401],
    ['a wrong credential', 'own', { headers: { authorization: 'Bearer wrong' } }, 401],
    ['a ticket that is none', 'own', { headers: {}, protocols: ['gauntlet.v1', 'gauntlet.ticket.none'] }, 401],
    ['a session that is not there', 'ses_none', {}, 404],
  ])('is refused: %s', async (_what, id, options, status) => {
    const sessionId = id === 'own' ? await open() : id;
    await expect(client.stream(sessionId, {}, options)).rejects.toThrow(String(status));
  });

  it('agrees on the subprotocol', async () => {
    const stream = await client.stream(await open());
    expect(stream.socket.protocol).toBe('gauntlet.v1');
    await stream.close();
    await expect(client.stream(await open(), {}, { protocols: ['other.v1'] })).rejects.toThrow();
  });
});

describe('hello', () => {
  it('is answered by welcome, what was missed, and live', async () => {
    const sessionId = await open();
    await client.execute(sessionId, [bash('echo hi')]);
    const stream = await client.stream(sessionId, { from_seq: 0 });
    const live = await stream.next('live');
    const { epoch, head } = (await client.get(`/sessions/${sessionId}/events`)).body;
    expect(stream.frames[0]).toMatchObject({
      type: 'welcome',
      protocol: 'gauntlet.v1',
      session_id: sessionId,
      epoch,
      first: 1,
      head,
      resumed: true,
      pending: [],
      running: [],
      limits: expect.any(Object),
    });
    expect(seqs(stream)).toEqual([...Array(head).keys(), head].slice(1));
    expect(kinds(stream).at(-1)).toBe('live');
    expect(live).toMatchObject({ seq: head });
    await stream.close();
  });

  it('without from_seq starts at now', async () => {
    const sessionId = await open();
    await client.execute(sessionId, [bash('echo hi')]);
    const stream = await client.stream(sessionId);
    await stream.next('live');
    expect(kinds(stream)).toEqual(['welcome', 'live']);
    await stream.close();
  });

  it('resumes after what was seen, and each frame comes once', async () => {
    const sessionId = await open();
    await client.execute(sessionId, [bash('echo hi')]);
    const all = await client.frames(sessionId);
    for (const from_seq of [1, 3, all.length]) {
      const stream = await client.stream(sessionId, { from_seq });
      await stream.next('live');
      const missed = stream.frames.filter(({ type }) => type !== 'welcome' && type !== 'live');
      expect(missed).toEqual(all.slice(from_seq));
      await stream.close();
    }
  });

  it.each([
    ['from the future', (head: number, epoch: string) => ({ from_seq: head + 5, epoch })],
    ['of another epoch', () => ({ from_seq: 2, epoch: 'another' })],
  ])('%s gets everything, and is told so', async (_what, hello) => {
    const sessionId = await open();
    await client.execute(sessionId, [bash('echo hi')]);
    const { head, epoch } = (await client.get(`/sessions/${sessionId}/events`)).body;
    const stream = await client.stream(sessionId, hello(head, epoch));
    expect(await stream.next('welcome')).toMatchObject({ resumed: false });
    await stream.next('live');
    expect(stream.frames.filter(({ type }) => type !== 'welcome' && type !== 'live')).toHaveLength(head);
    await stream.close();
  });

  it('with progress false leaves progress out, without gaps', async () => {
    const sessionId = await open();
    await client.execute(sessionId, [bash('echo one; sleep 0.15; echo two')]);
    const stream = await client.stream(sessionId, { from_seq: 0, progress: false });
    await stream.next('live');
    expect(kinds(stream)).not.toContain('progress');
    stream.send({ type: 'tool_use', tool_use: bash('echo three') });
    await stream.next(({ type, turn_id }) => type === 'result' && turn_id === stream.frames.at(-1)?.['turn_id']);
    for (const kind of ['progress', 'gap']) expect(kinds(stream)).not.toContain(kind);
    await stream.close();
  });

  it('names what runs', async () => {
    const sessionId = await open();
    const first = await client.stream(sessionId);
    const call = block('Sleep', { duration_ms: 60_000 });
    first.send({ type: 'tool_use', tool_use: call });
    await first.next(({ state }) => state === 'executing');
    const second = await client.stream(sessionId);
    expect(JSON.stringify((await second.next('welcome'))['running'])).toContain(call.id);
    first.send({ type: 'cancel', tool_use_id: call.id });
    expect(await second.next('result')).toMatchObject({ call: { error_code: 'cancelled' } });
    await Promise.all([first.close(), second.close()]);
  });
});

describe('a call over the stream', () => {
  it('is accepted, executes, completes and yields, on disk before it is sent', async () => {
    const sessionId = await open();
    const stream = await client.stream(sessionId, { from_seq: 0 });
    const call = bash('echo hi');
    stream.send({ type: 'tool_use', turn_id: 'turn-1', tool_use: call });
    stream.send({ type: 'turn_end', turn_id: 'turn-1' });
    await stream.next('turn_end');
    const told = stream.frames.filter(({ type }) => ['tool_use', 'state', 'result', 'turn_end'].includes(type));
    expect(told).toMatchObject([
      { type: 'tool_use', turn_id: 'turn-1', index: 0, tool_use: call, display: { title: expect.any(String) } },
      { type: 'state', tool_use_id: call.id, state: 'executing' },
      { type: 'state', tool_use_id: call.id, state: 'completed' },
      {
        type: 'result',
        turn_id: 'turn-1',
        index: 0,
        tool_use_id: call.id,
        tool_result: { type: 'tool_result', tool_use_id: call.id, content: 'hi' },
        call: { status: 'ok' },
        display: { title: expect.any(String), blocks: expect.any(Array) },
      },
      { type: 'turn_end', turn_id: 'turn-1', calls: [{ tool_use_id: call.id, status: 'ok' }] },
    ]);
    for (const frame of told) expect(frame['ts']).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
    expect(seqs(stream)).toEqual(seqs(stream).map((_seq, index) => index + 1));
    await stream.close();
  });

  it('that ended its turn takes no more blocks', async () => {
    const stream = await client.stream(await open());
    stream.send({ type: 'tool_use', turn_id: 'turn-1', tool_use: bash('true') });
    stream.send({ type: 'turn_end', turn_id: 'turn-1' });
    await stream.next('turn_end');
    const late = bash('true');
    stream.send({ type: 'tool_use', turn_id: 'turn-1', tool_use: late });
    expect(await stream.next('error')).toMatchObject({ code: 'conflict', tool_use_id: late.id });
    await stream.close();
  });

  it('is seen by every viewer, in one order', async () => {
    const sessionId = await open();
    const viewers = await Promise.all([0, 0, 0].map((from_seq) => client.stream(sessionId, { from_seq })));
    await client.execute(sessionId, [bash('echo a'), bash('echo b')]);
    await Promise.all(viewers.map((viewer) => viewer.next('turn_end')));
    const [first, ...others] = viewers.map(({ frames }) =>
      frames.filter(({ type, seq }) => seq !== undefined && type !== 'live'),
    );
    for (const frames of others) expect(frames).toEqual(first);
    await Promise.all(viewers.map((viewer) => viewer.close()));
  });

  it('puts its progress out at once and in pieces that join', async () => {
    const stream = await client.stream(await open());
    stream.send({ type: 'tool_use', tool_use: bash('for i in 1 2 3 4 5; do echo $i; sleep 0.05; done') });
    await stream.next('result');
    const pieces = stream.frames.filter(({ type }) => type === 'progress');
    expect(pieces.length).toBeGreaterThan(1);
    expect(pieces.map(({ data }) => (data as { text: string }).text).join('')).toBe('1\n2\n3\n4\n5\n');
    expect(pieces.map(({ n }) => n)).toEqual(pieces.map((_piece, index) => Number(pieces[0]?.['n']) + index));
    await stream.close();
  });
});

describe('interrupt', () => {
  it('cancels what may be cancelled and what waits, and says so', async () => {
    const stream = await client.stream(await open());
    const calls = [block('Sleep', { duration_ms: 60_000 }), bash('touch never')];
    for (const tool_use of calls) stream.send({ type: 'tool_use', tool_use });
    await stream.next(({ state }) => state === 'executing');
    stream.send({ type: 'interrupt' });
    const notice = await stream.next('notice');
    expect(notice).toMatchObject({ code: 'interrupted', cancelled: expect.any(Array), continuing: expect.any(Array) });
    const told = [...(notice['cancelled'] as string[]), ...(notice['continuing'] as string[])];
    expect(new Set(told)).toEqual(new Set(calls.map(({ id }) => id)));
    expect(notice['cancelled']).toContain(calls[1]?.id);
    stream.send({ type: 'cancel' });
    await stream.next(({ type, tool_use_id }) => type === 'result' && tool_use_id === calls[1]?.id);
    await stream.close();
  });
});

describe('a frame', () => {
  it('ping is answered by pong', async () => {
    const stream = await client.stream(await open());
    stream.send({ type: 'ping', t: 42 });
    const pong = await stream.next('pong');
    expect(pong).toMatchObject({ t: 42 });
    expect(pong).not.toHaveProperty('seq');
    stream.send({ type: 'ack', seq: 1 });
    await stream.close();
  });

  it.each<[string, object, object]>([
    ['of an unknown type', { type: 'nonsense' }, { code: 'invalid_request' }],
    [
      'with a wrong field',
      { type: 'tool_use', tool_use: { ...block('Read', {}, 'a'), name: 7 } },
      { code: 'invalid_request', path: expect.any(String) },
    ],
    ['with a wrong id', { type: 'tool_use', tool_use: block('Read', {}, 'a\tb') }, { code: 'invalid_request' }],
    ['that ends no turn', { type: 'turn_end', turn_id: 'none' }, { code: 'not_found' }],
    [
      'that answers no question',
      { type: 'permission_answer', request_id: 'none', behavior: 'allow' },
      { code: 'not_found', request_id: 'none' },
    ],
    ['hello again', { type: 'hello' }, { code: 'invalid_request' }],
  ])('%s is an error, and the connection stays', async (_what, frame, expected) => {
    const stream = await client.stream(await open());
    stream.send(frame);
    const error = await stream.next('error');
    expect(error).toMatchObject({ message: expect.any(String), ...expected });
    expect(error).not.toHaveProperty('seq');
    stream.send({ type: 'ping', t: 1 });
    await stream.next('pong');
    await stream.close();
  });

  it('with __proto__ or too deep is an error', async () => {
    const stream = await client.stream(await open());
    const call = JSON.stringify({ type: 'tool_use', tool_use: block('Read', { a: 1 }) });
    stream.socket.send(call.replace('"a"', '"__proto__"'));
    stream.socket.send(call.replace('{"a":1}', '['.repeat(100) + ']'.repeat(100)));
    await expect.poll(() => kinds(stream).filter((type) => type === 'error').length).toBe(2);
    expect(kinds(stream)).not.toContain('tool_use');
    await stream.close();
  });
});

describe('the close code', () => {
  it.each<[string, string | Buffer, number]>([
    ['no JSON', 'hello', 4400],
    ['no type', '{}', 4400],
    ['no object', '[1]', 4400],
    ['binary', Buffer.from([1, 2]), 1003],
    ['over one MiB', 'x'.repeat(1_024 * 1_024 + 1), 1009],
  ])('for a message that is %s', async (_what, message, code) => {
    const stream = await client.stream(await open());
    await stream.next('live');
    stream.socket.send(message);
    expect(await stream.closed).toMatchObject({ code });
  });

  it('is 4405 for who says something else first, or nothing', async () => {
    const chatty = await client.stream(await open(), false);
    chatty.send({ type: 'ping', t: 1 });
    expect(await chatty.closed).toMatchObject({ code: 4405 });
    const silent = await client.stream(await open(), false);
    expect(await silent.closed).toMatchObject({ code: 4405 });
  });

  it('is 4410 when the session is deleted, with a bye before', async () => {
    const sessionId = await open();
    const stream = await client.stream(sessionId);
    await stream.next('live');
    await client.send('DELETE', `/sessions/${sessionId}`);
    expect(await stream.closed).toMatchObject({ code: 4410 });
    expect(stream.frames.at(-1)).toMatchObject({
      type: 'bye',
      code: 4410,
      reason: expect.any(String),
      retry_ms: expect.any(Number),
    });
  });
});
