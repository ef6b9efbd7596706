/** PROTOCOL 1: credentials, Host, Origin, content types, limits, and the shape of errors. */
import { connect } from 'node:net';
import { beforeAll, describe, expect, it } from 'vitest';
import { sharedServer } from '../helpers/shared-workspace.ts';
import { block, rawRequest, wireClient, type ServerAddress, type WireClient } from '../helpers/wire-client.ts';

let server: ServerAddress;
let client: WireClient;
let host: string;
let authorization: string;

beforeAll(async () => {
  server = await sharedServer();
  client = wireClient(server);
  host = new URL(server.url).host;
  authorization = `Bearer ${server.token}`;
});

describe('A01: a credential', () => {
  it.each([
    ['none', {}],
    ['an empty one', { authorization: 'Bearer ' }],
    ['a wrong one', { authorization: 'Bearer wrong' }],
    ['a very long one', { authorization: `Bearer ${'x'.repeat(4_000)}` }],
    ['another scheme', { authorization: 'Basic dTpw' }],
  ])('is wanted before anything is told: %s', async (_what, headers) => {
    const bodies = new Set<string>();
    for (const path of ['/tools', '/sessions', '/no/such/route', '/sessions/ses_x/stream', '/metrics', '/readyz']) {
      const { status, text } = await rawRequest(server.url + path, { headers: { host, ...headers } });
      expect(status).toBe(401);
      bodies.add(text.replace(/"request_id":"[^"]+"/, ''));
    }
    expect(bodies.size).toBe(1);
  });

  it('is refused when cut short or stretched', async () => {
    for (const token of [server.token.slice(0, -1), `${server.token}x`]) {
      expect((await wireClient({ ...server, token }).get('/tools')).body.error.code).toBe('unauthenticated');
    }
  });

  it('is refused in a query', async () => {
    const { token } = server;
    for (const name of ['token', 'access_token']) {
      const { status, text } = await rawRequest(`${server.url}/tools?${name}=${token}`, { headers: { host } });
      expect(status).toBeGreaterThanOrEqual(400);
      expect(text).not.toContain(token);
    }
  });
});

describe('A02, A03: Host and Origin', () => {
  it.each(['evil.example', '127.0.0.1.evil', 'localhost:1', '127.0.0.1', '[::1]:1', 'localhost.'])(
    'the host "%s" is forbidden',
    async (evil) => {
      const { status, text } = await rawRequest(`${server.url}/healthz`, { headers: { host: evil, authorization } });
      expect(status).toBe(403);
      expect(JSON.parse(text)).toMatchObject({ error: { code: 'forbidden' } });
    },
  );

  it('two hosts and an absolute address are forbidden', async () => {
    const { port } = new URL(server.url);
    const rest = `Authorization: ${authorization}\r\nConnection: close\r\n\r\n`;
    const two = await exchange(Number(port), `GET /tools HTTP/1.1\r\nHost: ${host}\r\nHost: evil\r\n${rest}`);
    const absolute = await exchange(Number(port), `GET http://evil.example/tools HTTP/1.1\r\nHost: ${host}\r\n${rest}`);
    for (const reply of [two, absolute]) expect(reply).toMatch(/^HTTP\/1\.1 40[03] /);
    for (const reply of [two, absolute]) expect(reply).not.toContain('built_in_count');
  });

  it.each(['http://evil.example', 'null', 'http://127.0.0.1.evil'])('the origin "%s" is forbidden', async (origin) => {
    const { status } = await rawRequest(`${server.url}/tools`, { headers: { host, authorization, origin } });
    expect(status).toBe(403);
    const sessionId = await client.session();
    const opened = client.stream(sessionId, {}, { origin, headers: { authorization } });
    await expect(opened).rejects.toThrow('403');
  });

  it("the server's own origin may ask", async () => {
    const own = { headers: { host, authorization, origin: server.url } };
    expect((await rawRequest(`${server.url}/tools`, own)).status).toBe(200);
  });
});

describe('A04 to A08: a body', () => {
  it.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'application/jsonx',
    'application/json-seq',
    '\tjson',
    '',
  ])('of the type "%s" is not read', async (type) => {
    const headers = { host, authorization, ...(type !== '' && { 'content-type': type }) };
    const { status, text } = await rawRequest(`${server.url}/sessions`, { method: 'POST', headers, body: '{}' });
    expect(status).toBe(415);
    expect(JSON.parse(text)).toMatchObject({ error: { code: 'unsupported_media_type' } });
  });

  it.each(['application/json; charset=utf-8', 'APPLICATION/JSON', 'application/json;'])(
    'of the type "%s" is never taken unchecked',
    async (type) => {
      const reply = await client.post('/execute', '{"tool_uses":[]}', { headers: { 'content-type': type } });
      expect([400, 415]).toContain(reply.status);
    },
  );

  it.each<[string, string, string | undefined]>([
    ['is no JSON', '{"tool_uses":', undefined],
    ['is an array', '[]', undefined],
    ['is null', 'null', undefined],
    ['is empty', '', undefined],
    ['holds __proto__', '{"__proto__":{"a":1},"tool_uses":[]}', undefined],
    ['holds constructor.prototype', '{"constructor":{"prototype":{"a":1}},"tool_uses":[]}', undefined],
    ['holds __proto__ deep inside', toolUses({ a: 1 }).replace('"a"', '"__proto__"'), undefined],
    ['is too deep', toolUses(nested(70)), 'too_deep'],
    ['is far too deep', toolUses({}).replace('{}', '[['.repeat(5_000) + ']]'.repeat(5_000)), 'too_deep'],
  ])('that %s is an invalid request', async (_what, body, reason) => {
    const reply = await client.post('/execute', body);
    expect(reply.status).toBe(400);
    expect(reply.body).toMatchObject({ error: { code: 'invalid_request' }, request_id: expect.any(String) });
    if (reason !== undefined) expect(reply.body.error.details).toMatchObject({ reason });
  });

  it('may be as deep as the limit', async () => {
    expect((await client.post('/execute', toolUses(nested(59)))).status).toBe(200);
  });

  it('over four MiB is too large', async () => {
    const reply = await client.post('/execute', toolUses({ command: 'x'.repeat(4 * 1_024 * 1_024) }));
    expect(reply.status).toBe(413);
    expect(reply.body.error.code).toBe('payload_too_large');
  });

  it('with more than 256 blocks is refused, with 256 taken', async () => {
    const blocks = Array.from({ length: 257 }, () => block('Nothing', {}));
    expect((await client.post('/execute', { tool_uses: blocks })).status).toBe(400);
    expect((await client.post('/execute', { tool_uses: blocks.slice(1) })).body.results).toHaveLength(256);
  });
});

describe('A15: an id', () => {
  it.each(['', '.', '..', 'a\nb', 'a\u200db', 'a\0b', 'a\ud800', 'x'.repeat(129), 7, null])(
    'of a block that is %j is an invalid request',
    async (id) => {
      const reply = await client.post('/execute', { tool_uses: [{ type: 'tool_use', id, name: 'Read', input: {} }] });
      expect(reply.status).toBe(400);
      expect(reply.body.error.code).toBe('invalid_request');
    },
  );

  it.each(['..', '%2e%2e%2fetc', '..%5cx', '%00', 'a%20b', 'x'.repeat(4_000)])(
    'in an address that is "%s" is refused by its letters',
    async (id) => {
      const headers = { host, authorization };
      for (const path of [`/sessions/${id}/events`, `/sessions/ses_x/results/${id}`]) {
        const { status, text } = await rawRequest(server.url + path, { headers });
        expect([400, 404]).toContain(status);
        expect(JSON.parse(text)).toHaveProperty('error.code');
      }
    },
  );
});

describe('A18: an error', () => {
  it('is one shape with one request id', async () => {
    const { status, headers, body } = await client.get('/sessions/ses_none');
    expect(status).toBe(404);
    expect(headers.get('content-type')).toMatch(/^application\/json/);
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('access-control-allow-origin')).toBeNull();
    expect(body).toEqual({
      error: expect.objectContaining({ code: 'not_found', message: expect.any(String) }),
      request_id: expect.any(String),
    });
  });

  it('answers a route that is not there and a method that is not taken', async () => {
    for (const reply of [await client.get('/nowhere'), await client.send('PUT', '/tools', {})]) {
      expect(reply.body.error.code).toBe('not_found');
    }
  });
});

function toolUses(input: unknown): string {
  return JSON.stringify({ tool_uses: [block('Nothing', input)] });
}

function nested(levels: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < levels; level++) value = { a: value };
  return value;
}

function exchange(port: number, request: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(request));
    let reply = '';
    socket.setEncoding('utf8').on('data', (chunk: string) => (reply += chunk));
    socket.on('close', () => resolve(reply)).on('error', reject);
  });
}
