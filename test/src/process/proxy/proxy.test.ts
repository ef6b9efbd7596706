/** The proxy on its socket, spoken to byte by byte, before real servers on loopback: HARDENING A23, for what commands fetch. */
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { type AddressInfo, type Server, connect, createServer as createTcpServer } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, describe, expect, it } from 'vitest';
import { allowedHosts } from '../../../../src/process/proxy/allowed-hosts.ts';
import type { Lookup } from '../../../../src/process/proxy/lookup.ts';
import { PROXY_BOUNDS, type ProxyBounds } from '../../../../src/process/proxy/proxy-bounds.ts';
import { type Proxy, openProxy } from '../../../../src/process/proxy/proxy.ts';
import { until } from '../../../helpers/process-host.ts';
import { temporaryFolder } from '../../../helpers/temporary-folder.ts';

const root = temporaryFolder();
const closed: (() => void)[] = [];
afterAll(() => closed.forEach((close) => close()));

async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closed.push(() => server.close());
  return (server.address() as AddressInfo).port;
}

const http = (listener: RequestListener) => listen(createServer(listener));

interface World {
  readonly allow?: readonly string[];
  readonly addresses?: readonly string[];
  readonly lookup?: Lookup;
  readonly bounds?: Partial<ProxyBounds>;
}

let folders = 0;

/** A proxy for `a.test` at `port`, which leads to this machine. */
function proxyTo(port: number, { allow = [], addresses = ['127.0.0.1'], lookup, bounds }: World = {}) {
  const denied: string[] = [];
  const folder = join(root, String((folders += 1)));
  const proxy = openProxy({
    allowed: allowedHosts([[`a.test:${port}`, `127.0.0.1:${port}`, ...allow]]),
    folder,
    bounds,
    lookup: lookup ?? (() => Promise.resolve(addresses.map((address) => ({ address, family: 4 })))),
    onDenied: (sessionId, { host }) => void denied.push(`${sessionId} ${host}`),
  });
  closed.push(() => proxy.close());
  return { ...proxy, denied, folder, ask: (...lines: readonly string[]) => ask(proxy, lines) };
}

/** Send a head, read the answer to its end. */
async function ask(proxy: Proxy, lines: readonly string[], body = ''): Promise<string> {
  const { socketPath, leave } = await proxy.enter('s');
  const socket = connect({ path: socketPath, allowHalfOpen: true });
  socket.write([...lines, '', body].join('\r\n'));
  const answer = await text(socket);
  socket.destroy();
  leave();
  return answer;
}

describe('a plain request', () => {
  it('goes on to its host without what is for the proxy, and its answer comes back', async () => {
    const port = await http((request, reply) => {
      reply.writeHead(201, 'Made', [
        'X-One',
        '1',
        'X-One',
        '2',
        'Connection',
        'x-own',
        'X-Own',
        '3',
        'Keep-Alive',
        '4',
      ]);
      request.resume().on('end', () => reply.end(JSON.stringify([request.method, request.url, request.rawHeaders])));
    });
    const answer = await proxyTo(port).ask(
      `DELETE http://A.test:${port}/p?q=/../%2e HTTP/1.1`,
      ...[
        'Host: other.test',
        'Proxy-Authorization: Basic eA==',
        'Connection: close, X-Mine',
        'X-Mine: 1',
        'TE: trailers',
      ],
      ...['Upgrade: x', 'Authorization: own', 'X-Two: 1', 'X-Two: 2'],
    );
    const [head = '', body = ''] = answer.split('\r\n\r\n');
    expect(head.split('\r\n').filter((line) => !line.startsWith('Date'))).toEqual([
      ...['HTTP/1.1 201 Made', 'X-One: 1', 'X-One: 2', 'Connection: close', 'Transfer-Encoding: chunked'],
    ]);
    const seen = ['Authorization', 'own', 'X-Two', '1', 'X-Two', '2', 'Host', `A.test:${port}`, 'Connection', 'close'];
    expect(JSON.parse(body.split('\r\n')[1] ?? '')).toEqual(['DELETE', '/p?q=/../%2e', seen]);
  });

  it('is carried with its body, counted or in chunks', async () => {
    const port = await http((request, reply) => request.pipe(reply));
    const proxy = proxyTo(port);
    const head = [`POST http://a.test:${port}/ HTTP/1.1`, 'Host: a.test', 'Connection: close'];
    expect(await ask(proxy, [...head, 'Content-Length: 3'], 'one')).toContain('one');
    expect(await ask(proxy, [...head, 'Transfer-Encoding: chunked'], '3\r\ntwo\r\n0\r\n\r\n')).toContain('two');
  });

  it.each([
    ['/path', 400],
    ['*', 400],
    ['https://a.test:PORT/', 400],
    ['ftp://a.test:PORT/', 400],
    ['http:a.test:PORT/', 400],
    ['http://a.test\\@b.test:PORT/', 400],
    ['http://user@a.test:PORT/', 400],
    ['http://a.test:PORT@b.test/', 400],
    ['http://a.test.:PORT/', 400],
    ['http://127.1:PORT/', 400],
    ['http://2130706433:PORT/', 400],
    ['http://0x7f000001:PORT/', 400],
    ['http://localhost.:PORT/', 400],
    ['http://localhost:PORT/', 403],
    ['http://[::ffff:7f00:1]:PORT/', 403],
    ['http://[::1]:PORT/', 403],
    ['http://b.test:PORT/', 403],
    ['http://a.test/', 403],
    ['http://A.TEST:PORT/', 200],
    ['http://127.0.0.1:PORT/', 200],
  ])('for %s is answered with %i', async (target, status) => {
    const port = await http((_request, reply) => reply.end('reached'));
    const answer = await proxyTo(port).ask(
      `GET ${target.replace('PORT', String(port))} HTTP/1.1`,
      'Host: a.test',
      'Connection: close',
    );
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(answer.includes('reached')).toBe(status === 200);
  });

  it('is told in one line why it was refused, and so is the server', async () => {
    const proxy = proxyTo(1);
    const answer = await proxy.ask('GET http://b.test/secret-path HTTP/1.1', 'Host: b.test', 'Connection: close');
    expect(answer).toMatch(/\r\n\r\nCannot reach "b.test:80" from the sandbox: .* "sandbox.network.allow"\n$/);
    expect(proxy.denied).toEqual(['s b.test']);
  });

  it('that could be read two ways is refused', async () => {
    const port = await http((_request, reply) => reply.end('reached'));
    const head = [
      `POST http://a.test:${port}/ HTTP/1.1`,
      'Host: a.test',
      'Content-Length: 3',
      'Transfer-Encoding: chunked',
    ];
    expect(await ask(proxyTo(port), [...head], '0\r\n\r\n')).toMatch(/^HTTP\/1.1 400 /);
  });

  it('is answered with 502 by a host that breaks off, or is not there', async () => {
    const port = await listen(createTcpServer((socket) => socket.destroy()));
    const head = (to: number) => [`GET http://a.test:${to}/ HTTP/1.1`, 'Host: a.test', 'Connection: close'];
    expect(await ask(proxyTo(port), head(port))).toMatch(/^HTTP\/1.1 502 /);
    expect(await ask(proxyTo(1), head(1))).toMatch(/^HTTP\/1.1 502 Cannot connect to "a.test:1": ECONNREFUSED/);
  });
});

describe('a tunnel', () => {
  const upperCase = () =>
    listen(createTcpServer((socket) => socket.on('data', (data) => socket.write(String(data).toUpperCase()))));

  it('carries what was sent along with its request, both ways', async () => {
    const port = await upperCase();
    const { socketPath } = await proxyTo(port).enter('s');
    const socket = connect(socketPath);
    socket.write(`CONNECT a.test:${port} HTTP/1.1\r\nHost: a.test\r\n\r\nearly`);
    let said = '';
    socket.on('data', (data) => (said += String(data)));
    await until(() => said.endsWith('EARLY'));
    socket.write('late');
    await until(() => said === 'HTTP/1.1 200 Connection established\r\n\r\nEARLYLATE');
    socket.destroy();
  });

  it('carries what comes after one side has said all', async () => {
    const port = await listen(
      createTcpServer({ allowHalfOpen: true }, (socket) => {
        let all = '';
        socket.on('data', (data) => (all += String(data))).on('end', () => socket.end(`got ${all}`));
      }),
    );
    const { socketPath } = await proxyTo(port).enter('s');
    const socket = connect({ path: socketPath, allowHalfOpen: true });
    socket.end(`CONNECT a.test:${port} HTTP/1.1\r\nHost: a.test\r\n\r\nall`);
    expect(await text(socket)).toMatch(/got all$/);
  });

  it.each([
    ['a.test', 400],
    ['a.test:PORT/', 400],
    ['user@a.test:PORT', 400],
    ['http://a.test:PORT', 400],
    ['127.1:PORT', 400],
    ['b.test:443', 403],
    ['a.test:22', 403],
    ['[::ffff:127.0.0.1]:PORT', 403],
  ])('to %s is answered with %i', async (target, status) => {
    const port = await upperCase();
    const answer = await proxyTo(port).ask(`CONNECT ${target.replace('PORT', String(port))} HTTP/1.1`, 'Host: a.test');
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} Cannot `));
  });

  it('ends at both ends with the session’s socket', async () => {
    const port = await upperCase();
    const proxy = proxyTo(port);
    const { socketPath } = await proxy.enter('s');
    const socket = connect(socketPath).on('error', () => undefined);
    socket.write(`CONNECT a.test:${port} HTTP/1.1\r\nHost: a.test\r\n\r\n`);
    await once(socket, 'data');
    proxy.close();
    await once(socket, 'close');
    await until(() => !existsSync(socketPath));
  });
});

describe('an address behind a name', () => {
  const head = (port: number) => [`GET http://n.test:${port}/ HTTP/1.1`, 'Host: n.test', 'Connection: close'];
  const answered = async (world: World) => {
    const port = await http((_request, reply) => reply.end('reached'));
    return ask(proxyTo(port, { allow: [`n.test:${port}`], ...world }), head(port));
  };

  it.each([
    ['of the local network', ['10.0.0.1']],
    ['of a cloud’s metadata', ['169.254.169.254']],
    ['of this machine in IPv6', ['::ffff:127.0.0.1']],
    ['of this machine, beside a public one', ['1.1.1.1', '127.0.0.2']],
    ['that is none', ['']],
  ])('%s is refused', async (_what, addresses) => {
    expect(await answered({ addresses })).toMatch(/^HTTP\/1.1 403 .*neither public nor on the list/);
  });

  it('is asked for once, and the connection goes there', async () => {
    const answers = ['127.0.0.1', '10.0.0.1'];
    const lookup: Lookup = () => Promise.resolve([{ address: answers.shift() ?? '', family: 4 }]);
    expect(await answered({ lookup })).toContain('reached');
    expect(answers).toEqual(['10.0.0.1']);
  });

  it('that cannot be found or takes too long is the proxy’s failure', async () => {
    expect(await answered({ addresses: [] })).toMatch(/^HTTP\/1.1 403 /);
    expect(await answered({ lookup: () => Promise.reject(new Error('ENOTFOUND')) })).toMatch(
      /^HTTP\/1.1 502 Cannot find "n.test"/,
    );
    const bounds = { connectMs: 30 };
    const lookup: Lookup = (_name, signal) => once(signal, 'abort').then(() => Promise.reject(new Error('late')));
    expect(await answered({ lookup, bounds })).toMatch(/^HTTP\/1.1 504 /);
  });

  it('that the machine knows is looked up as the machine does', async () => {
    const port = await http((_request, reply) => reply.end('reached'));
    const proxy = openProxy({
      allowed: allowedHosts([[`localhost:${port}`, `127.0.0.1:${port}`, `[::1]:${port}`]]),
      folder: join(root, 'machine'),
      onDenied: () => undefined,
    });
    closed.push(() => proxy.close());
    expect(await ask(proxy, [`GET http://localhost:${port}/ HTTP/1.1`, 'Host: x', 'Connection: close'])).toContain(
      'reached',
    );
  });
});

describe('what is bounded', () => {
  const tunnel = (port: number) => [`CONNECT a.test:${port} HTTP/1.1`, 'Host: a.test'];
  const silent = () => listen(createTcpServer(() => undefined));

  it('is the size of a head', async () => {
    const proxy = proxyTo(1);
    const answer = await proxy.ask('GET http://a.test/ HTTP/1.1', `X: ${'x'.repeat(PROXY_BOUNDS.headerBytes)}`);
    expect(answer).toMatch(/^HTTP\/1.1 431 /);
  });

  it('is the silence, the time and the size of a connection', async () => {
    const flood = await listen(
      createTcpServer((socket) => void socket.on('error', () => undefined).write(Buffer.alloc(1e6))),
    );
    const look = { checkMs: 10 };
    expect(await proxyTo(await silent(), { bounds: { idleMs: 30 } }).ask(...tunnel(await silent()))).toMatch(/^HTTP/);
    const port = await silent();
    expect(await proxyTo(port, { bounds: { idleMs: 30 } }).ask(...tunnel(port))).toContain('200');
    expect(await proxyTo(port, { bounds: { ...look, totalMs: 30 } }).ask(...tunnel(port))).toContain('200');
    expect(await proxyTo(flood, { bounds: { ...look, bytes: 1_000 } }).ask(...tunnel(flood))).toContain('200');
  });

  it('is the number of connections of all sessions', async () => {
    const port = await silent();
    const proxy = proxyTo(port, { bounds: { connections: 1 } });
    const { socketPath } = await proxy.enter('other');
    const held = connect(socketPath);
    const open = `${tunnel(port).join('\r\n')}\r\n\r\n`;
    held.write(open);
    await once(held, 'data');
    expect(await proxy.ask(...tunnel(port))).toMatch(/^HTTP\/1.1 503 Too many/);
    held.destroy();
    await until(async () => {
      const next = connect(socketPath);
      next.write(open);
      const [answer] = (await once(next, 'data')) as [Buffer];
      next.destroy();
      return String(answer).includes(' 200 ');
    });
  });

  it('is the number of connections of one session', async () => {
    const proxy = proxyTo(1, { bounds: { sessionConnections: 1 } });
    const { socketPath } = await proxy.enter('s');
    const held = connect(socketPath);
    await once(held, 'connect');
    expect(await text(connect(socketPath))).toBe('');
    held.destroy();
  });

  it('is the number of sockets of sessions that run nothing', async () => {
    const proxy = proxyTo(1, { bounds: { idleSockets: 1 } });
    const [one, two] = [await proxy.enter('one'), await proxy.enter('two')];
    one.leave();
    expect((await proxy.enter('one')).socketPath).toBe(one.socketPath);
    two.leave();
    const three = await proxy.enter('three');
    three.leave();
    await until(() => readdirSync(proxy.folder).length === 2);
    expect(existsSync(one.socketPath) && existsSync(three.socketPath)).toBe(true);
  });

  it('is the length of a socket’s path', () => {
    expect(() =>
      openProxy({
        allowed: allowedHosts([]),
        folder: join(root, 'x'.repeat(90)),
        onDenied: () => undefined,
      }),
    ).toThrow(/too long for sockets/);
  });
});
