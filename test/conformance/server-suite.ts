/**
 * The server half of the conformance suite, run against `/mcp/servers/{name}` with an upstream of our own behind it. The
 * suite sends no token, so a proxy adds it; host and origin stay those that the suite sends.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { createMcpHandler, type McpHttpHandler } from '@modelcontextprotocol/server';
import { runSuite } from './suite.ts';
import { createServer as createUpstream } from './upstream.ts';

const ROOT = new URL('../..', import.meta.url).pathname;
const TOKEN = 'conformance-token-0123456789abcdef';

/** Run it. @returns True if it passed. */
export async function runServerSuite(): Promise<boolean> {
  const home = mkdtempSync(join(tmpdir(), 'gauntlet-conformance-'));
  let target = 0;
  const proxy = await startProxy(() => target);
  const { port } = proxy.address() as AddressInfo;
  const upstream = await startUpstream();
  const modernUrl = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}/mcp`;
  const { child, port: serverPort } = await startServer(home, port, modernUrl);
  target = serverPort;
  try {
    const url = (name: string) => ['--url', `http://127.0.0.1:${port}/mcp/servers/${name}`];
    const old = await runSuite('server', url('legacy'), ['2025-11-25']);
    const modern = await runSuite('server', url('modern'), ['2026-07-28']);
    return old && modern;
  } finally {
    const exited = once(child, 'exit');
    child.kill('SIGTERM');
    await exited;
    for (const server of [proxy, upstream]) {
      server.closeAllConnections();
      server.close();
    }
    rmSync(home, { recursive: true, force: true });
  }
}

interface StartedServer {
  readonly child: ChildProcess;
  readonly port: number;
}

/** Forward each request as it comes, with the token. */
async function startProxy(target: () => number): Promise<Server> {
  const proxy = createServer((incoming, reply) => {
    const { method, url, rawHeaders } = incoming;
    const headers = [...rawHeaders, 'authorization', `Bearer ${TOKEN}`];
    const outgoing = request({ port: target(), host: '127.0.0.1', method, path: url, headers }, (answer) => {
      reply.writeHead(answer.statusCode ?? 502, answer.rawHeaders);
      reply.flushHeaders();
      answer.pipe(reply);
    });
    outgoing.on('error', () => reply.destroy());
    reply.on('close', () => outgoing.destroy());
    incoming.pipe(outgoing);
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  return proxy;
}

/** Serve the upstream in 2026-07-28 over HTTP. */
async function startUpstream(): Promise<Server> {
  const changed = { tools: () => handler.notify.toolsChanged(), prompts: () => handler.notify.promptsChanged() };
  const handler: McpHttpHandler = createMcpHandler(() => createUpstream(changed), { legacy: 'reject' });
  const upstream = createServer((incoming, reply) => {
    const gone = new AbortController();
    reply.on('close', () => gone.abort());
    void webRequest(incoming, gone.signal)
      .then(handler.fetch)
      .then(async ({ status, headers, body }) => {
        reply.writeHead(status, Object.fromEntries(headers));
        for await (const chunk of body ?? []) reply.write(chunk);
        reply.end();
      })
      .catch(() => reply.destroy());
  });
  upstream.listen(0, '127.0.0.1');
  await once(upstream, 'listening');
  return upstream;
}

async function webRequest(incoming: IncomingMessage, signal: AbortSignal): Promise<Request> {
  const { method = 'GET', headers } = incoming;
  const pairs = Object.entries(headers).map(([name, value]): [string, string] => [name, String(value)]);
  const body = method === 'POST' ? await buffer(incoming) : null;
  return new Request('http://upstream/mcp', { method, headers: pairs, body, signal });
}

async function startServer(home: string, proxyPort: number, modernUrl: string): Promise<StartedServer> {
  for (const name of ['data', 'workspace']) mkdirSync(join(home, name), { mode: 0o700 });
  const program = new URL('upstream.ts', import.meta.url).pathname;
  const legacy = { command: process.execPath, args: ['--import', import.meta.resolve('tsx'), program] };
  const settings = {
    mcpServers: { legacy, modern: { type: 'http', url: modernUrl } },
    permissions: { allow: ['mcp__legacy', 'mcp__modern'] },
    allowedHosts: [`127.0.0.1:${proxyPort}`, `localhost:${proxyPort}`],
  };
  writeFileSync(join(home, 'data/gauntlet.config.json'), JSON.stringify(settings));
  const child = spawn(process.execPath, [join(ROOT, 'dist/gauntlet.js'), 'serve'], {
    cwd: join(home, 'workspace'),
    env: {
      PATH: process.env['PATH'],
      HOME: home,
      GAUNTLET_PORT: '0',
      GAUNTLET_DATA_DIR: join(home, 'data'),
      GAUNTLET_TOKEN: TOKEN,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let printed = '';
  for await (const chunk of child.stdout) {
    printed += String(chunk);
    const port = /^Listening on http:\/\/\S+:(\d+)/m.exec(printed)?.[1];
    if (port !== undefined) return { child, port: Number(port) };
  }
  throw new Error('The server ended before it listened');
}
