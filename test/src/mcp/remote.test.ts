/** Servers behind a URL: both eras of Streamable HTTP, the older SSE, and what goes wrong on the way. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import { everythingOver, listen, modernServer } from '../../helpers/mcp-http.ts';
import { callTool, eventually, startServers } from '../../helpers/mcp-servers.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';

const signal = AbortSignal.timeout(60_000);

describe('a server over Streamable HTTP', () => {
  test('of the older era answers calls and tells progress', async () => {
    const { base } = await everythingOver('streamableHttp');
    const servers = startServers({ web: { type: 'http', url: `${base}/mcp` } });
    await servers.ready('web', signal);
    const seen: object[] = [];

    const input = { duration: 0.1, steps: 2 };
    await callTool(servers, 'mcp__web__trigger-long-running-operation', input, {
      onProgress: (data) => seen.push(data),
    });

    expect(seen).toContainEqual({ type: 'mcp', progress: 1, total: 2 });
  });

  test('of the newer era answers calls and says when its tools change', async () => {
    const { url, grow } = await modernServer();
    const servers = startServers({ web: { type: 'http', url } });
    await servers.ready('web', signal);

    await expect(callTool(servers, 'mcp__web__add', { a: 1, b: 2 })).resolves.toMatchObject({ content: '3' });
    grow();
    await eventually(() => servers.tools().some(({ name }) => name === 'mcp__web__late'));
  });

  test('of the newer era is listened to again when its stream of changes breaks', async () => {
    const { url, grow, cut, listens } = await modernServer();
    const servers = startServers({ web: { type: 'http', url } });
    await servers.ready('web', signal);

    cut();
    await eventually(() => listens() === 2);
    grow();
    await eventually(() => servers.tools().some(({ name }) => name === 'mcp__web__late'));
  });

  test('of the newer era connects at once though it never acknowledges its listener', async () => {
    const { url } = await modernServer({ isSilent: true });
    const servers = startServers({ web: { type: 'http', url } });
    await servers.ready('web', AbortSignal.timeout(5_000));
    await expect(callTool(servers, 'mcp__web__add', { a: 1, b: 2 })).resolves.toMatchObject({ content: '3' });
  });

  test('of the older era is noticed when it is gone', async () => {
    const { base, kill } = await everythingOver('streamableHttp');
    const servers = startServers({ web: { type: 'http', url: `${base}/mcp` } }, { maxFailures: 0 });
    await servers.ready('web', signal);

    await kill();
    await eventually(() => servers.states()[0]?.state === 'failed');
    expect(servers.tools()).toEqual([]);
  });

  test('is sent the configured headers', async () => {
    const { url, seen } = await scripted();
    const servers = startServers({ web: { type: 'http', url, headers: { 'X-Team': 'blue' } } });
    await servers.ready('web', signal);

    expect(seen.every(({ headers }) => headers['x-team'] === 'blue')).toBe(true);
  });

  test('is asked for its era once, not at each connection', async () => {
    const { url, seen, answers } = await scripted();
    const servers = startServers({ web: { type: 'http', url } });
    await servers.ready('web', signal);
    answers['tools/call'] = (_message, response) => void response.socket?.destroy();

    await expect(callTool(servers, 'mcp__web__go')).rejects.toMatchObject({ code: 'tool_failed' });
    await servers.ready('web', signal);

    const methods = seen.map(({ method }) => method);
    expect(methods.filter((method) => method === 'initialize')).toHaveLength(2);
    expect(methods.filter((method) => method === 'server/discover')).toHaveLength(1);
  });
});

describe('a server over SSE', () => {
  test('answers calls', async () => {
    const { base } = await everythingOver('sse');
    const url = `${base}/sse`;
    const servers = startServers({ old: { type: 'sse', url }, unnamed: { type: 'http', url } });

    await Promise.all([servers.ready('old', signal), servers.ready('unnamed', signal)]);

    await expect(callTool(servers, 'mcp__old__echo', { message: 'hello' })).resolves.toMatchObject({
      content: 'Echo: hello',
    });
    await expect(callTool(servers, 'mcp__unnamed__echo', { message: 'hi' })).resolves.toMatchObject({
      content: 'Echo: hi',
    });
  });
});

describe('a remote server that goes wrong', () => {
  test('needs authorisation when it says 401', async () => {
    const { url } = await listen((_request, response) => void response.writeHead(401).end());
    const servers = startServers({ web: { type: 'http', url }, old: { type: 'sse', url } });

    for (const name of ['web', 'old'])
      await expect(servers.ready(name, signal)).rejects.toMatchObject({ code: 'tool_failed' });

    expect(servers.states().map(({ state }) => state)).toEqual(['needs_auth', 'needs_auth']);
  });

  /** HARDENING A29. */
  test('leads nowhere with what it says of authorisation', async () => {
    const asked = new Set<string>();
    let mcpPath = '';
    const { url } = await listen((request, response) => {
      const { pathname, origin } = new URL(request.url ?? '', `http://${request.headers.host}`);
      asked.add(pathname);
      const endpoints = ['javascript:alert(1)', 'file:///etc/passwd', '$(touch led)', '-flag', 'http://127.0.0.1:1/'];
      response.setHeader('www-authenticate', `Bearer resource_metadata="${origin}/meta", scope="$(touch led)"`);
      response.writeHead(pathname === mcpPath ? 401 : 200, { 'content-type': 'application/json' });
      const [authorization_endpoint, token_endpoint, registration_endpoint] = endpoints;
      const authorization_servers = [origin, ...endpoints];
      const metadata = { issuer: origin, authorization_endpoint, token_endpoint, registration_endpoint };
      response.end(JSON.stringify({ resource: origin, authorization_servers, ...metadata }));
    });
    mcpPath = new URL(url).pathname;
    const servers = startServers({ web: { type: 'http', url } });
    await expect(servers.ready('web', signal)).rejects.toMatchObject({ code: 'tool_failed' });
    expect(servers.states()).toMatchObject([{ state: 'needs_auth' }]);
    expect([...asked]).toEqual([mcpPath]);
  });

  test('fails the calls that wait when its stream of events breaks off', async () => {
    const { base, kill } = await everythingOver('sse');
    const servers = startServers({ old: { type: 'sse', url: `${base}/sse` } }, { maxFailures: 0 });
    await servers.ready('old', signal);

    const call = callTool(servers, 'mcp__old__trigger-long-running-operation', { duration: 30, steps: 1 });
    setImmediate(() => void kill());

    await expect(call).rejects.toMatchObject({ code: 'tool_failed' });
  });

  test('is failed when nobody listens', async () => {
    const { url, stop } = await listen(() => undefined);
    await stop();
    const servers = startServers({ web: { type: 'http', url } }, { maxFailures: 0 });

    await expect(servers.ready('web', signal)).rejects.toMatchObject({ code: 'tool_failed' });
    expect(servers.states()[0]?.state).toBe('failed');
  });

  test('fails a call whose stream ends without an answer, at once', async () => {
    const { url, answers } = await scripted();
    const servers = startServers({ web: { type: 'http', url } });
    await servers.ready('web', signal);
    answers['tools/call'] = (_message, response) =>
      void response.writeHead(200, { 'content-type': 'text/event-stream' }).end(': nothing\n\n');

    await expect(callTool(servers, 'mcp__web__go')).rejects.toMatchObject({ code: 'tool_failed' });
  });

  test('that forgot the session is asked again only what it may do twice', async () => {
    const { url, seen, answers } = await scripted();
    const servers = startServers({ web: { type: 'http', url } });
    await servers.ready('web', signal);
    const answerCall = answers['tools/call'] as Answer;
    const forget: Answer = (_message, response) => {
      answers['tools/call'] = answerCall;
      response.writeHead(404).end('no such session');
    };

    answers['tools/call'] = forget;
    await expect(callTool(servers, 'mcp__web__look')).resolves.toMatchObject({ content: 'looked' });
    answers['tools/call'] = forget;
    await expect(callTool(servers, 'mcp__web__go')).rejects.toMatchObject({ code: 'tool_failed' });
    expect(seen.filter(({ method }) => method === 'tools/call')).toHaveLength(3);
  });

  test('cannot give away the headers it was sent by failing with them', async () => {
    const { url, answers, seen } = await scripted();
    const headers = { authorization: 'Bearer canary-of-a-header', 'x-api-key': 'canary-of-a-key' };
    const servers = startServers({ web: { type: 'http', url, headers } }, { maxFailures: 0 });
    await servers.ready('web', signal);
    answers['tools/call'] = (_message, response) => void response.writeHead(500).end(inspect(seen.at(-1)?.headers));

    const failure = await callTool(servers, 'mcp__web__go').catch(String);

    expect(failure).toContain('[hidden]');
    expect([failure, inspect(servers.states()), inspect(servers.notices)].join()).not.toContain('canary');
  });

  test('cannot fill the memory with one answer', async () => {
    const { url, answers } = await scripted();
    const servers = startServers({ web: { type: 'http', url } });
    await servers.ready('web', signal);
    answers['tools/call'] = (_message, response) =>
      void response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(`{"padding":"${'x'.repeat(11_000_000)}"}`);

    await expect(callTool(servers, 'mcp__web__go')).rejects.toMatchObject({
      code: 'tool_failed',
      message: expect.stringContaining('more than 10485760 bytes'),
    });
  });
});

type Message = { id?: number; method: string; params?: Record<string, unknown> };
type Answer = (message: Message, response: ServerResponse) => void;

/** A server of the older era whose answers a test may replace by method. */
async function scripted() {
  const seen: { method: string; headers: IncomingMessage['headers'] }[] = [];
  const schema = { type: 'object' };
  const reply =
    (result: (message: Message) => object): Answer =>
    (message, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'mcp-session-id': 'session-1' });
      response.end(JSON.stringify({ jsonrpc: '2.0', id: message.id, result: result(message) }));
    };
  const answers: Record<string, Answer> = {
    initialize: reply(({ params }) => ({
      protocolVersion: params?.['protocolVersion'],
      serverInfo: { name: 'scripted', version: '1' },
      capabilities: { tools: {} },
    })),
    'tools/list': reply(() => ({
      tools: [
        { name: 'go', inputSchema: schema },
        { name: 'look', inputSchema: schema, annotations: { readOnlyHint: true } },
      ],
    })),
    'tools/call': reply(({ params }) => ({ content: [{ type: 'text', text: `${String(params?.['name'])}ed` }] })),
  };
  const { url } = await listen(async (request, response) => {
    if (request.method !== 'POST') return void response.writeHead(405).end();
    const message = (await json(request)) as Message;
    seen.push({ method: message.method, headers: request.headers });
    const answer = answers[message.method];
    if (answer !== undefined) answer(message, response);
    else response.writeHead(message.id === undefined ? 202 : 400).end();
  });
  return { url, seen, answers };
}

describe('a server whose headers come from a command', () => {
  /** A server that takes one token at a time, and the file that the command prints. */
  async function guarded() {
    const folder = temporaryFolder();
    const printed = join(folder, 'headers');
    const runs = join(folder, 'runs');
    let token = '';
    const seen: string[] = [];
    const { url } = await modernServer({
      admits({ headers: { authorization = '' } }) {
        seen.push(authorization);
        return authorization === `Bearer ${token}`;
      },
    });
    const command = `echo "$CLAUDE_CODE_MCP_SERVER_NAME" >> ${runs}; cat ${printed}`;
    const say = (value: string) => {
      token = value;
      writeFileSync(printed, JSON.stringify({ Authorization: `Bearer ${value}` }));
    };
    return { url, command, say, seen, runs: () => readFileSync(runs, 'utf8') };
  }

  test('gets them with every request, and new ones once they were refused', async () => {
    const { url, command, say, seen, runs } = await guarded();
    say('first-token');
    const servers = startServers({
      web: { type: 'http', url, headersHelper: command, headers: { Authorization: 'Bearer static' } },
    });
    await servers.ready('web', signal);
    await expect(callTool(servers, 'mcp__web__add', { a: 1, b: 2 })).resolves.toMatchObject({ content: '3' });
    expect(runs()).toBe('web\n');
    expect(new Set(seen)).toEqual(new Set(['Bearer first-token']));

    say('second-token');
    await expect(callTool(servers, 'mcp__web__add', { a: 1, b: 3 })).resolves.toMatchObject({ content: '4' });
    expect(runs()).toBe('web\nweb\n');
  });

  test.each([
    ['fails', 'echo secret-words; exit 3', 'exit code 3'],
    ['cannot be found', '/nonexistent/helper', 'exit code 127'],
    ['prints something else', 'echo secret-words', 'no JSON object'],
    ['prints other values', `echo '{"a": 7}'`, 'no JSON object'],
    ['prints what is no header', `echo '{"a b": "c"}'`, 'no JSON object'],
    ['prints too much', 'head -c 100000 /dev/zero', 'more than 65536 bytes'],
  ])('is failed with the reason if the command %s', async (_case, headersHelper, reason) => {
    const servers = startServers({ web: { type: 'http', url: 'http://127.0.0.1:1/', headersHelper } });
    await expect(servers.ready('web', signal)).rejects.toThrow(reason);
    expect(JSON.stringify(servers.states())).not.toContain('secret-words');
  });
});
