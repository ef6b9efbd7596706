/** What is broken on the wire is refused at every door, costs little and harms nobody else. */
import { connect, type Socket } from 'node:net';
import { randomBytes } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { startServer, type BuiltServer } from '../helpers/built-server.ts';
import { watchHealth } from '../helpers/health.ts';
import { block, wireClient, type WireClient } from '../helpers/wire-client.ts';

let server: BuiltServer;
let client: WireClient;
let sessionId: string;

beforeAll(async () => {
  server = await startServer();
  client = wireClient(server);
  sessionId = await client.session({ mode: 'bypassPermissions' });
});

const DOORS = [
  '/sessions',
  '/execute',
  '/tickets',
  '/sessions/{id}/permissions',
  '/sessions/{id}/permissions/explain',
  '/sessions/{id}/prompts/req_x',
  '/sessions/{id}/cancel',
];
const deep = (open: string, close: string) => `${open.repeat(10_000)}1${close.repeat(10_000)}`;

describe.each(DOORS)('A06, A07, A08: POST %s', (door) => {
  it.each([
    ['nested too deep', deep('{"a":', '}'), 'too_deep'],
    ['an array nested too deep', deep('[', ']'), 'too_deep'],
    ['a prototype', '{"__proto__":{"polluted":1}}', 'forbidden_key'],
    ['a prototype that is spelled otherwise', '{"\\u005f_proto__":{"polluted":1}}', 'forbidden_key'],
    ['a prototype further down', '{"a":[{"constructor":{"prototype":{"polluted":1}}}]}', 'forbidden_key'],
    ['no end', '{"a":', 'not_json'],
    ['no object', '"text"', undefined],
    ['a list', '[]', undefined],
  ])('refuses a body of %s', async (_what, body, reason) => {
    const reply = await client.post(door.replace('{id}', sessionId), body);
    expect([reply.status, reply.body.error.code]).toEqual([400, 'invalid_request']);
    if (reason !== undefined) expect(reply.body.error.details).toMatchObject({ reason });
  });

  it('takes a hundred thousand keys for what they are', async () => {
    const many = Object.fromEntries(Array.from({ length: 100_000 }, (_key, n) => [`k${n}`, n]));
    expect((await client.post(door.replace('{id}', sessionId), many)).status).toBeLessThan(500);
  });
});

describe('A15: an id', () => {
  const bad = ['..', '%2e%2e%2f', '..%5cx', '%2fetc%2fpasswd', '%00', 'a%00b', 'a.b', '%C3%A9', 'x'.repeat(4_096)];

  it.each([
    'GET /sessions/?',
    'DELETE /sessions/?',
    'GET /sessions/?/permissions',
    'POST /sessions/?/permissions',
    'POST /sessions/?/permissions/explain',
    'GET /sessions/?/prompts',
    'POST /sessions/?/prompts/x',
    'POST /sessions/x/prompts/?',
    'POST /sessions/?/cancel',
    'GET /sessions/?/events',
    'GET /sessions/?/results/x',
    'GET /sessions/?/search?q=a',
    'GET /sessions/?/stream',
    'GET /tools/?',
    'GET /tools?session_id=?',
  ])('is judged by its letters first: %s', async (route) => {
    const [method = '', path = ''] = route.split(' ');
    for (const id of bad) {
      const body = method === 'POST' ? '{}' : '';
      const target = path.includes('=?') ? path.replace('=?', `=${id}`) : path.replace('?', id);
      const reply = await exchange(`${method} ${target} HTTP/1.1`, ['Content-Type: application/json'], body);
      expect({ id, reply: reply.slice(0, 15) }).toEqual({ id, reply: 'HTTP/1.1 400 Ba' });
    }
  });

  it('of a call is any printable text, and no other', async () => {
    const route = (id: string) => exchange(`GET /sessions/x/results/${id} HTTP/1.1`, [], '');
    for (const id of ['..', '%2e', '%00', 'a%0Ab', '%E2%80%AE', '%E2%80%A8', 'x'.repeat(4_096)])
      expect({ id, reply: (await route(id)).slice(0, 15) }).toEqual({ id, reply: 'HTTP/1.1 400 Ba' });
    for (const id of ['%2e%2e%2f', '..%5cx', '%2fetc%2fpasswd', 'a.b', '%C3%A9', '%20', '%25'])
      expect({ id, reply: (await route(id)).slice(0, 15) }).toEqual({ id, reply: 'HTTP/1.1 404 No' });
  });

  it.each([[12_345_678_901_234_567_890], ['x'.repeat(1_048_576)], ['a\0'], ['\ud800'], [{}], [null]])(
    'of a block is a short text: %.30j',
    async (id) => {
      const blocks = [{ type: 'tool_use', id, name: 'Read', input: {} }];
      expect((await client.post('/execute', { tool_uses: blocks })).status).toBe(400);
    },
  );
});

describe('A08, A12: a WebSocket', () => {
  it.each<[string, number, () => Buffer[]]>([
    ['a message over the limit', 1009, () => [frame(1, Buffer.alloc(2 ** 21, 'x'))]],
    ['the announcement of one', 1009, () => [frame(1, Buffer.alloc(0), { announcedBytes: 2 ** 40 })]],
    ['pieces that add up to one', 1009, () => pieces(32, 65_536)],
    ['ever more pieces', 1008, () => pieces(20_000, 1)],
    ['a packed message', 1002, () => [frame(1, Buffer.from('abc'), { flags: 0x40 })]],
    ['a bare message', 1002, () => [frame(1, Buffer.from('{}'), { isMasked: false })]],
    ['a kind nobody knows', 1002, () => [frame(3, Buffer.from('abc'))]],
    ['the end of nothing', 1002, () => [frame(0, Buffer.from('abc'))]],
    ['a long ping', 1002, () => [frame(9, Buffer.alloc(126))]],
    ['no UTF-8', 1007, () => [frame(1, Buffer.from([0xff, 0xfe]))]],
    ['binary', 1003, () => [frame(2, Buffer.from('abc'))]],
    ['no JSON', 4400, () => [frame(1, Buffer.from('hello'))]],
    ['no object', 4400, () => [frame(1, Buffer.from('[]'))]],
    ['no type', 4400, () => [frame(1, Buffer.from('{"type":7}'))]],
  ])('that sends %s is closed with %i, and costs little', async (_what, code, messages) => {
    const health = await watchHealth(server, { memoryMiB: 24 });
    const socket = await upgraded();
    for (const message of messages()) if (!socket.destroyed) socket.write(message);
    expect(await closeCode(socket)).toBe(code);
    await health.assertHealthy();
  });

  it.each([
    ['deep', `{"type":"tool_use","tool_use":${deep('{"a":', '}')}}`, 'too_deep'],
    ['a prototype', '{"type":"tool_use","tool_use":{"input":{"__proto__":{"polluted":1}}}}', 'forbidden_key'],
    ['a prototype', '{"type":"stream_event","event":{"constructor":{"prototype":{}}}}', 'forbidden_key'],
    ['a bad id', '{"type":"cancel","tool_use_id":".."}', undefined],
    ['a bad number', '{"type":"ack","seq":-1}', undefined],
    ['of a type nobody knows', '{"type":"nothing"}', undefined],
  ])('that sends a frame that is %s is told, and goes on', async (_what, text, reason) => {
    const stream = await client.stream(sessionId);
    stream.socket.send(text);
    const told = await stream.next('error');
    expect(told).toMatchObject({ code: 'invalid_request', message: expect.any(String) });
    if (reason !== undefined) expect(told['details']).toMatchObject({ reason });
    stream.send({ type: 'ping', t: 7 });
    expect(await stream.next('pong')).toMatchObject({ t: 7 });
    await stream.close();
  });

  it('that streams an input too deep or with a prototype runs no call', async () => {
    const stream = await client.stream(sessionId);
    for (const [turn, json] of [
      ['deep', deep('{"a":', '}')],
      ['proto', '{"__proto__":{"polluted":1}}'],
    ]) {
      const send = (event: object) => stream.send({ type: 'stream_event', turn_id: turn, event });
      send({
        type: 'content_block_start',
        index: 0,
        content_block: { type: 'tool_use', id: `t_${turn}`, name: 'Bash', input: {} },
      });
      send({ type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: json } });
      send({ type: 'content_block_stop', index: 0 });
      const told = await stream.next(({ type, message }) => type === 'error' && String(message).includes(`t_${turn}`));
      expect(told).toMatchObject({ code: 'invalid_request' });
    }
    expect(stream.frames.filter(({ type }) => type === 'tool_use')).toEqual([]);
    await stream.close();
  });
});

describe('A10: clients that only hold on', () => {
  it('do not keep others waiting', async () => {
    const idle = Array.from({ length: 400 }, () => connect(Number(new URL(server.url).port), '127.0.0.1'));
    for (const socket of idle) socket.on('error', () => undefined);
    await Promise.all(idle.slice(0, 300).map((socket) => new Promise((resolve) => socket.once('connect', resolve))));
    const { calls } = await client.execute(sessionId, [block('Bash', { command: 'true' })]);
    expect(calls[0]?.status).toBe('ok');
    for (const socket of idle) socket.destroy();
  });
});

function exchange(start: string, headers: readonly string[], body: string): Promise<string> {
  const { host, port } = new URL(server.url);
  const lines = [start, `Host: ${host}`, `Authorization: Bearer ${server.token}`, ...headers, 'Connection: close'];
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), '127.0.0.1');
    socket.write(`${lines.join('\r\n')}\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
    let reply = '';
    socket.setEncoding('utf8').on('data', (chunk: string) => (reply += chunk));
    socket.on('close', () => resolve(reply)).on('error', reject);
  });
}

/** A bare socket after the upgrade and the hello. */
async function upgraded(): Promise<Socket> {
  const { host, port } = new URL(server.url);
  const socket = connect(Number(port), '127.0.0.1');
  const lines = [
    `GET /sessions/${sessionId}/stream HTTP/1.1`,
    `Host: ${host}`,
    `Authorization: Bearer ${server.token}`,
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    `Sec-WebSocket-Key: ${randomBytes(16).toString('base64')}`,
    'Sec-WebSocket-Protocol: gauntlet.v1',
    'Sec-WebSocket-Extensions: permessage-deflate',
  ];
  socket.write(`${lines.join('\r\n')}\r\n\r\n`);
  const head = await new Promise<Buffer>((resolve) => socket.once('data', resolve));
  expect(head.toString('latin1')).toMatch(/^HTTP\/1\.1 101 (?!.*permessage-deflate)/s);
  socket.write(frame(1, Buffer.from('{"type":"hello"}')));
  return socket;
}

interface FrameShape {
  readonly isFinal?: boolean;
  readonly isMasked?: boolean;
  /** Reserved bits. */
  readonly flags?: number;
  /** Length in the header, where it is not that of the payload. */
  readonly announcedBytes?: number;
}

/** One WebSocket frame; the mask is zero, which leaves the payload as it is. */
function frame(opcode: number, payload: Buffer, shape: FrameShape = {}): Buffer {
  const { isFinal = true, isMasked = true, flags = 0, announcedBytes = payload.length } = shape;
  const header = Buffer.alloc(10);
  header[0] = (isFinal ? 0x80 : 0) | flags | opcode;
  const mask = isMasked ? 0x80 : 0;
  const short = announcedBytes < 126;
  header[1] = mask | (short ? announcedBytes : 127);
  if (!short) header.writeBigUInt64BE(BigInt(announcedBytes), 2);
  return Buffer.concat([header.subarray(0, short ? 2 : 10), Buffer.alloc(isMasked ? 4 : 0), payload]);
}

function pieces(count: number, bytes: number): Buffer[] {
  const payload = Buffer.alloc(bytes, 'a');
  return Array.from({ length: count }, (_piece, index) => frame(index === 0 ? 1 : 0, payload, { isFinal: false }));
}

/** The code of the close frame that a server sends; its own frames are not masked, and those before it are short. */
function closeCode(socket: Socket): Promise<number> {
  let bytes = Buffer.alloc(0);
  return new Promise((resolve, reject) => {
    socket.on('error', () => undefined).on('close', () => reject(new Error('Ended without a close frame')));
    socket.on('data', (chunk: Buffer) => {
      bytes = Buffer.concat([bytes, chunk]);
      for (;;) {
        const long = (bytes[1] ?? 0) === 126;
        const start = long ? 4 : 2;
        const length = long ? bytes.readUInt16BE(2) : (bytes[1] ?? 0);
        if (bytes.length < Math.max(2, start + length)) return;
        if ((bytes[0] ?? 0) === 0x88) {
          resolve(bytes.readUInt16BE(start));
          socket.destroy();
          return;
        }
        bytes = bytes.subarray(start + length);
      }
    });
  });
}
