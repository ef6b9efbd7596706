/** MCP servers on loopback ports for tests: one made of the SDK, one of any answers, one of a package. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import {
  acceptedContent,
  completable,
  createMcpHandler,
  inputRequired,
  McpServer,
  ResourceTemplate,
} from '@modelcontextprotocol/server';
import { onTestFinished } from 'vitest';
import { z } from 'zod';

const require = createRequire(import.meta.url);

/** Listen on a free loopback port until the test file ends. `stop` goes away earlier, `cut` breaks what is open. */
export async function listen(
  handler: (request: IncomingMessage, response: ServerResponse) => void | Promise<void>,
): Promise<{ url: string; stop: () => Promise<void>; cut: () => void }> {
  const server = createServer((request, response) => void handler(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const stop = async (): Promise<void> => {
    server.closeAllConnections();
    await new Promise<void>((resolve) => server.close(() => resolve()));
  };
  onTestFinished(stop);
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    stop,
    cut: () => server.closeAllConnections(),
  };
}

/**
 * A server of the 2026-07-28 era with tools `add`, `ask`, which needs a value first, and, once `grow` was called, `late`. `listens` counts its listeners,
 * whom one that `isSilent` never acknowledges. Requests that it does not admit are answered with 401.
 */
export async function modernServer({
  isSilent = false,
  admits = () => true,
}: { readonly isSilent?: boolean; readonly admits?: (request: IncomingMessage) => boolean } = {}): Promise<{
  url: string;
  grow: () => void;
  cut: () => void;
  listens: () => number;
}> {
  const methods: string[] = [];
  let hasGrown = false;
  const handler = createMcpHandler(
    () => {
      const server = new McpServer(
        { name: 'modern', version: '1' },
        { capabilities: { tools: { listChanged: true } } },
      );
      const sum = { inputSchema: z.object({ a: z.number(), b: z.number() }), annotations: { readOnlyHint: true } };
      server.registerTool('add', sum, ({ a, b }) => ({ content: [{ type: 'text', text: String(a + b) }] }));
      server.registerTool('ask', {}, ({ mcpReq }) => {
        const which = acceptedContent<{ which: string }>(mcpReq.inputResponses, 'asked');
        if (which) return { content: [{ type: 'text', text: `chose ${which.which}` }] };
        const requestedSchema = { type: 'object' as const, properties: { which: { type: 'string' as const } } };
        return inputRequired({
          inputRequests: { asked: inputRequired.elicit({ message: 'Which one?', requestedSchema }) },
        });
      });
      if (hasGrown) server.registerTool('late', {}, () => ({ content: [{ type: 'text', text: 'late' }] }));
      return server;
    },
    { legacy: 'reject' },
  );
  onTestFinished(() => handler.close());
  const { url, cut } = await listen(async (request, response) => {
    if (!admits(request)) return void response.writeHead(401).end();
    methods.push(String(request.headers['mcp-method'] ?? request.method));
    if (isSilent && methods.at(-1) === 'subscriptions/listen') return;
    await pipeFetch(request, response, (asked) => handler.fetch(asked));
  });
  return {
    url,
    cut,
    listens: () => methods.filter((method) => method === 'subscriptions/listen').length,
    grow: () => {
      hasGrown = true;
      handler.notify.toolsChanged();
    },
  };
}

/**
 * A server of the 2026-07-28 era that offers a prompt, which it completes, and resources, whose changes it reports by
 * `touch`. `listened` are the resources that each stream asked for; one that `isSilent` acknowledges none.
 */
export async function modernOfferingServer({ isSilent = false } = {}): Promise<{
  url: string;
  touch: (uri: string) => void;
  listened: readonly (readonly string[])[];
}> {
  const listened: string[][] = [];
  const handler = createMcpHandler(
    () => {
      const server = new McpServer(
        { name: 'modern', version: '1' },
        { instructions: 'Be modern.', capabilities: { resources: { subscribe: true } } },
      );
      const argsSchema = z.object({ topic: completable(z.string(), (value) => [`${value}-1`, `${value}-2`]) });
      server.registerPrompt('explain', { description: 'Explains', argsSchema }, ({ topic }) => ({
        messages: [{ role: 'user', content: { type: 'text', text: `Explain ${topic}` } }],
      }));
      const read = (uri: URL) => ({ contents: [{ uri: uri.href, text: `content of ${uri.href}` }] });
      server.registerResource('note', new ResourceTemplate('notes://{id}', { list: undefined }), {}, read);
      return server;
    },
    { legacy: 'reject' },
  );
  onTestFinished(() => handler.close());
  const { url } = await listen(async (request, response) => {
    await pipeFetch(request, response, async (asked) => {
      const body = (await asked.clone().json()) as {
        params?: { notifications?: { resourceSubscriptions?: string[] } };
      };
      const wanted = body.params?.notifications?.resourceSubscriptions;
      if (wanted) listened.push(wanted);
      if (wanted && isSilent) return new Promise<Response>(() => undefined);
      return handler.fetch(asked);
    });
  });
  return { url, touch: (uri) => handler.notify.resourceUpdated(uri), listened };
}

/** The everything server over HTTP or SSE, as a process of its own. */
export async function everythingOver(
  transport: 'streamableHttp' | 'sse',
): Promise<{ base: string; kill: () => Promise<void> }> {
  const port = await freePort();
  const program = require.resolve('@modelcontextprotocol/server-everything/dist/index.js');
  const child = spawn(process.execPath, [program, transport], {
    env: { PORT: String(port) },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const kill = async (): Promise<void> => {
    child.kill('SIGKILL');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  };
  onTestFinished(kill);
  for await (const line of createInterface({ input: child.stderr })) if (/on port \d+/.test(line)) break;
  child.stderr.resume();
  return { base: `http://127.0.0.1:${port}`, kill };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}

/** Answer a request of Node by a handler of the web. */
export async function pipeFetch(
  request: IncomingMessage,
  response: ServerResponse,
  handle: (request: Request) => Promise<Response>,
): Promise<void> {
  const ended = new AbortController();
  response.on('close', () => ended.abort());
  const hasBody = request.method === 'POST';
  const asked = new Request(`http://${request.headers.host ?? ''}${request.url ?? ''}`, {
    method: request.method ?? 'GET',
    headers: request.headers as Record<string, string>,
    signal: ended.signal,
    ...(hasBody ? { body: Readable.toWeb(request) as ReadableStream, duplex: 'half' } : {}),
  } as RequestInit);
  const answer = await handle(asked);
  response.writeHead(answer.status, Object.fromEntries(answer.headers));
  if (answer.body === null) response.end();
  else
    Readable.fromWeb(answer.body as never)
      .on('error', () => response.destroy())
      .pipe(response);
}
