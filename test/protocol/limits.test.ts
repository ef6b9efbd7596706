/** PROTOCOL 1 and 5: bounds of time and speed, on a server whose own are small. */
import { connect } from 'node:net';
import { beforeAll, describe, expect, it } from 'vitest';
import { startServer, type BuiltServer } from '../helpers/built-server.ts';
import { block, until, wireClient, type WireClient } from '../helpers/wire-client.ts';

let server: BuiltServer;
let client: WireClient;

beforeAll(async () => {
  server = await startServer({
    settings: {
      limits: {
        bodyTimeoutMs: 700,
        turnFeederMs: 200,
        slowReaderMs: 300,
        messagesPerSecond: 5,
      },
    },
  });
  client = wireClient(server);
});

const open = () => client.session({ mode: 'bypassPermissions' });
const bash = (command: string) => block('Bash', { command });

describe('A10, F25: a client that is slow', () => {
  it('to send its body gets 408, and others do not wait', async () => {
    const { hostname, port, host } = new URL(server.url);
    const socket = connect(Number(port), hostname);
    const head = ['POST /execute HTTP/1.1', `Host: ${host}`, `Authorization: Bearer ${server.token}`];
    socket.write([...head, 'Content-Type: application/json', 'Content-Length: 50', '', '{'].join('\r\n'));
    let reply = '';
    socket.setEncoding('utf8').on('data', (chunk: string) => (reply += chunk));
    const closed = new Promise((resolve) => socket.once('close', resolve));
    expect((await client.get('/tools')).status).toBe(200);
    await closed;
    expect(reply).toMatch(/^HTTP\/1\.1 408 /);
    expect(reply).toContain('"reason":"body_timeout"');
  });

  it('to read is closed with 4008, and resumes without a gap', async () => {
    const sessionId = await open();
    const slow = await client.stream(sessionId, { from_seq: 0 });
    await slow.next('live');
    slow.socket.pause();
    const batch = () => Array.from({ length: 6 }, () => bash('head -c 30000 /dev/zero | tr "\\0" a'));
    for (let turn = 0; turn < 40; turn++) await client.execute(sessionId, batch());
    slow.socket.resume();
    expect(await slow.closed).toMatchObject({ code: 4008 });
    const seen = slow.frames.flatMap(({ type, seq }) => (seq === undefined || type === 'live' ? [] : [seq]));
    const back = await client.stream(sessionId, { from_seq: seen.at(-1) });
    await back.next('live');
    for (const { type, seq } of back.frames) if (seq !== undefined && type !== 'live') seen.push(seq);
    expect(seen).toEqual(seen.map((_seq, index) => index + 1));
    expect(seen).toHaveLength((await client.get(`/sessions/${sessionId}`)).body.head);
    await back.close();
  });
});

describe('A16: a client that is too fast', () => {
  it('is closed with 4429', async () => {
    const stream = await client.stream(await open());
    for (let t = 0; t < 200; t++) stream.send({ type: 'ping', t });
    expect(await stream.closed).toMatchObject({ code: 4429 });
  });
});

describe('an open turn', () => {
  it('ends when its feeder has been gone for long', async () => {
    const sessionId = await open();
    const stream = await client.stream(sessionId);
    stream.send({ type: 'tool_use', turn_id: 'left', tool_use: bash('echo 1') });
    await stream.next('result');
    await stream.close();
    const ended = () => client.frames(sessionId).then((frames) => frames.find(({ type }) => type === 'turn_end'));
    expect(await until(ended)).toMatchObject({ turn_id: 'left', calls: [{ status: 'ok' }] });
  });

  it('stays while its feeder does', async () => {
    const sessionId = await open();
    const stream = await client.stream(sessionId);
    stream.send({ type: 'tool_use', turn_id: 'kept', tool_use: bash('echo 1') });
    stream.send({ type: 'tool_use', turn_id: 'clock', tool_use: block('Sleep', { duration_ms: 500 }) });
    await stream.next(({ type, turn_id }) => type === 'result' && turn_id === 'clock');
    stream.send({ type: 'tool_use', turn_id: 'kept', tool_use: bash('echo 2') });
    expect(await stream.next(({ type, index }) => type === 'result' && index === 1)).toMatchObject({ turn_id: 'kept' });
    await stream.close();
  });
});

describe('clients that race', () => {
  it('each get a version of their own when they change permissions', async () => {
    const id = await open();
    const updates = Array.from({ length: 20 }, (_update, n) =>
      client.post(`/sessions/${id}/permissions`, {
        updates: [{ type: 'addRules', behavior: 'allow', rules: [`Bash(tool${n}:*)`] }],
      }),
    );
    const versions = (await Promise.all(updates)).map(({ body }) => Number(body['version']));
    expect(versions.sort((a, b) => a - b)).toEqual(versions.map((_version, index) => index + 2));
    const { rules } = (await client.get(`/sessions/${id}/permissions`)).body as {
      rules?: { session: { allow: string[] } };
    };
    expect(rules?.session.allow).toHaveLength(20);
  });

  it('over a session that is deleted all get an answer', async () => {
    const id = await open();
    const replies = [1, 2, 3].map(() =>
      client.post('/execute', { session_id: id, tool_uses: [bash('touch x; sleep 60')] }),
    );
    await until(async () => (await client.frames(id)).some(({ state }) => state === 'executing'));
    const deletes = await Promise.all([1, 2].map(() => client.send('DELETE', `/sessions/${id}`)));
    expect(deletes.map(({ status }) => status).sort()).toEqual([204, 404]);
    for (const { body } of await Promise.all(replies)) expect(body.error.code).toMatch(/^(gone|not_found)$/);
  });
});
