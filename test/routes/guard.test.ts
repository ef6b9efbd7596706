import request from 'supertest';
import { describe, expect, test } from 'vitest';
import { AUTHORIZATION, listeningApp, rawExchange, TOKEN } from '../helpers/listening-app.ts';

const { url, port } = await listeningApp();
const raw = (lines: readonly string[]) => rawExchange(port, `${[...lines, 'Connection: close'].join('\r\n')}\r\n\r\n`);
const head = `Authorization: Bearer ${TOKEN}`;

describe('credentials', () => {
  const bad = [
    '',
    'Bearer',
    'Bearer ',
    `Bearer ${TOKEN.slice(1)}`,
    `Bearer ${TOKEN}x`,
    `Basic ${TOKEN}`,
    `Bearer ${'x'.repeat(9_000)}`,
  ];

  test.each(['/tools', '/tools/Bash', '/sessions', '/nothing', '/tools/%ff', `/tools/${'a'.repeat(5_000)}`])(
    'without a good one %.30s tells nothing',
    async (path) => {
      for (const authorization of bad) {
        const reply = await request(url).get(path).set({ authorization }).expect(401);
        expect(reply.body.error).toEqual({
          code: 'unauthenticated',
          message: 'Send a valid token as "Authorization: Bearer <token>"',
        });
        expect(reply.headers['www-authenticate']).toBe('Bearer');
      }
    },
  );

  test('one in the query is refused, even beside a good header', async () => {
    await request(url).get(`/tools?token=${TOKEN}`).expect(401);
    await request(url).get(`/tools?access_token=${TOKEN}`).set(AUTHORIZATION).expect(401);
  });

  test('a second one is refused, whichever is good', async () => {
    for (const headers of [
      [head, 'Authorization: Bearer x'],
      ['Authorization: Bearer x', head],
    ]) {
      const reply = await raw(['GET /tools HTTP/1.1', `Host: 127.0.0.1:${port}`, ...headers]);
      expect(reply).toMatch(/^HTTP\/1.1 401 /);
    }
  });

  test('an unknown address is told only to who may know', async () => {
    const { body } = await request(url).get('/nothing').set(AUTHORIZATION).expect(404);
    expect(body).toEqual({
      error: { code: 'not_found', message: 'There is nothing at this address' },
      request_id: expect.stringMatching(/./),
    });
  });
});

describe('Host', () => {
  test.each([
    ['another name', ['GET /tools HTTP/1.1', 'Host: evil.example', head]],
    ['a name that begins alike', ['GET /tools HTTP/1.1', 'Host: 127.0.0.1.evil', head]],
    ['another port', ['GET /tools HTTP/1.1', 'Host: localhost:1', head]],
    ['two hosts', ['GET /tools HTTP/1.1', `Host: 127.0.0.1:${port}`, 'Host: evil.example', head]],
    ['an absolute target', [`GET http://127.0.0.1:${port}/tools HTTP/1.1`, `Host: 127.0.0.1:${port}`, head]],
    ['an absolute evil target', ['GET http://evil.example/tools HTTP/1.1', `Host: 127.0.0.1:${port}`, head]],
    ['no host', ['GET /tools HTTP/1.1', head]],
    ['an asterisk', ['OPTIONS * HTTP/1.1', `Host: 127.0.0.1:${port}`, head]],
  ])('%s is refused', async (_what, lines) => {
    const reply = await raw(lines);
    expect(reply).toMatch(/^HTTP\/1.1 403 /);
    expect(reply).toContain('"code":"forbidden"');
  });

  test.each(['127.0.0.1', 'LOCALHOST', '[::1]'])('%s with the port is served', async (name) => {
    expect(await raw(['GET /tools HTTP/1.1', `Host: ${name}:${port}`, head])).toMatch(/^HTTP\/1.1 200 /);
  });
});

describe('Origin', () => {
  test.each(['http://evil.example', 'null', 'http://listed.example.evil', 'HTTP://LISTED.EXAMPLE'])(
    '%s is refused before the credential is looked at',
    async (origin) => {
      const reply = await request(url).get('/tools').set({ origin }).expect(403);
      expect(reply.headers['access-control-allow-origin']).toBeUndefined();
    },
  );

  test("the server's own passes without CORS", async () => {
    const reply = await request(url)
      .get('/tools')
      .set({ ...AUTHORIZATION, origin: url })
      .expect(200);
    expect(reply.headers['access-control-allow-origin']).toBeUndefined();
  });

  test('a listed one may ask beforehand and read the reply', async () => {
    const origin = 'http://listed.example';
    const asked = await request(url).options('/execute').set({ origin, 'access-control-request-method': 'POST' });
    expect([asked.status, asked.headers['access-control-allow-origin']]).toEqual([204, origin]);
    const reply = await request(url)
      .get('/tools')
      .set({ ...AUTHORIZATION, origin })
      .expect(200);
    expect(reply.headers['access-control-allow-origin']).toBe(origin);
  });
});

test.each([
  ['an unknown address', 'GET /nothing HTTP/1.1', 404],
  ['no credential', 'GET /tools HTTP/1.1\r\nAuthorization: x', 401],
  ['an address that cannot be read', 'GET /%zz HTTP/1.1', 400],
  ['what is no HTTP', 'hello', 400],
  ['headers that are too large', `GET / HTTP/1.1\r\nX-A: ${'a'.repeat(20_000)}`, 431],
  ['an expectation', 'GET / HTTP/1.1\r\nExpect: miracles', 400],
  ['no host', 'GET / HTTP/1.1\r\nX-Host: x', 403],
])('the reply to %s forbids sniffing, framing and storing', async (_what, start, status) => {
  const host = status === 403 ? '' : `Host: 127.0.0.1:${port}\r\n`;
  const auth = status === 401 ? '' : `${head}\r\n`;
  const reply = await rawExchange(port, `${start}\r\n${host}${auth}Connection: close\r\n\r\n`);
  expect(reply.startsWith(`HTTP/1.1 ${status} `)).toBe(true);
  for (const header of [
    'x-content-type-options: nosniff',
    'cache-control: no-store',
    "content-security-policy: default-src 'none'; frame-ancestors 'none'",
  ]) {
    expect(reply.split('\r\n\r\n')[0]).toContain(header);
  }
  expect(reply).toMatch(/\{"error":\{"code":"[a-z_]+","message":"[^"]+/);
});

describe('requests that are not sound', () => {
  test.each([
    ['two lengths', ['POST /tools HTTP/1.1', 'Content-Length: 1', 'Content-Length: 2']],
    ['a length beside chunks', ['POST /tools HTTP/1.1', 'Content-Length: 1', 'Transfer-Encoding: chunked']],
    ['an expectation nobody can meet', ['GET /tools HTTP/1.1', 'Expect: miracles', 'Connection: close']],
    ['a folded header', ['GET /tools HTTP/1.1', 'X-A: b', ' c']],
    ['chunks of something else', ['POST /tools HTTP/1.1', 'Transfer-Encoding: gzip, chunked']],
    ['an upgrade with a body', ['GET /tools HTTP/1.1', 'Connection: Upgrade', 'Upgrade: h2c', 'Content-Length: 1']],
  ])('%s ends the connection with 400', async (_what, [line = '', ...rest]) => {
    const request = [line, `Host: 127.0.0.1:${port}`, head, ...rest].join('\r\n');
    const reply = await rawExchange(port, `${request}\r\n\r\nx`);
    expect(reply).toMatch(/^HTTP\/1.1 400 /);
    expect(reply).toContain('"code":"invalid_request"');
  });

  test('an upgrade to something else is answered as plain HTTP', async () => {
    const reply = await raw(['GET /tools HTTP/1.1', `Host: 127.0.0.1:${port}`, head, 'Upgrade: h2c']);
    expect(reply).toMatch(/^HTTP\/1.1 200 /);
  });
});
