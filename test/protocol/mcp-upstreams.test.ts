/** PROTOCOL 9: `/mcp/servers/{name}`, what MCP clients are told of changes, and the standing session over a restart. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  Client,
  type ClientCapabilities,
  type ElicitResult,
  type Progress,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { type BuiltServer, startServer } from '../helpers/built-server.ts';
import { fixtureServer, offeringServer, packageServer } from '../helpers/mcp-servers.ts';
import { until, wireClient, type WireClient } from '../helpers/wire-client.ts';

let server: BuiltServer;
let client: WireClient;
const everything = packageServer('@modelcontextprotocol/server-everything/dist/index.js', 'stdio');
const tasks = {
  command: process.execPath,
  args: [new URL('../fixtures/task-server.mjs', import.meta.url).pathname],
};

beforeAll(async () => {
  server = await startServer({
    mayKeep: ['server-everything', 'mcp-server.mjs', 'mcp-offers.mjs', 'task-server.mjs'],
    settings: {
      permissions: {
        allow: [
          'mcp__own',
          'mcp__notes',
          'mcp__tasks',
          'mcp__everything__echo',
          'mcp__everything__trigger-long-running-operation',
        ],
        deny: ['mcp__everything__get-env', 'mcp__hidden'],
      },
      mcpServers: {
        everything,
        own: fixtureServer(),
        notes: offeringServer(),
        tasks,
        hidden: everything,
        broken: { command: '/nowhere/at-all' },
        off: { command: '/nowhere/at-all', disabled: true },
      },
    },
  });
  client = wireClient(server);
});

interface Connecting {
  /** Capabilities of a client of 2026-07-28. */
  readonly modern?: ClientCapabilities;
  readonly elicit?: (message: string) => ElicitResult;
  readonly onChanged?: () => void;
  readonly to?: BuiltServer;
}

async function connect(path: string, { modern, elicit, onChanged, to = server }: Connecting = {}) {
  const mcp = new Client(
    { name: 'test', version: '1' },
    {
      versionNegotiation: { mode: modern ? 'auto' : 'legacy' },
      capabilities: modern ?? (elicit ? { elicitation: { form: {} } } : {}),
      ...(onChanged && { listChanged: { resources: { autoRefresh: false, onChanged } } }),
    },
  );
  if (elicit) mcp.setRequestHandler('elicitation/create', ({ params }) => elicit(params.message));
  const requestInit = { headers: { authorization: `Bearer ${to.token}` } };
  const transport = new StreamableHTTPClientTransport(new URL(`${to.url}${path}`), { requestInit });
  await mcp.connect(transport);
  onTestFinished(() => mcp.close());
  return { mcp, transport };
}

const textOf = ({ content }: { content?: unknown }) =>
  (content as { text?: string }[]).map(({ text = '' }) => text).join('\n');

describe('an upstream', () => {
  it('is passed through with its own names, prompts and resources', async () => {
    const { mcp } = await connect('/mcp/servers/everything');
    const { tools } = await mcp.listTools();
    expect(tools.map(({ name }) => name)).toContain('get-sum');
    const { prompts } = await mcp.listPrompts();
    expect(prompts.map(({ name }) => name)).toContain('simple-prompt');
    const { messages } = await mcp.getPrompt({ name: 'args-prompt', arguments: { city: 'Oslo' } });
    expect(JSON.stringify(messages)).toContain('Oslo');
    const { resources } = await mcp.listResources();
    const { contents } = await mcp.readResource({ uri: resources[0]?.uri ?? '' });
    expect(contents).toHaveLength(1);
  });

  it('has its calls in the log of the standing session, and its progress at the client', async () => {
    const { mcp } = await connect('/mcp/servers/everything');
    const seen: Progress[] = [];
    const long = { name: 'trigger-long-running-operation', arguments: { duration: 0.3, steps: 3 } };
    await mcp.callTool(long, { onprogress: (progress) => seen.push(progress) });
    expect(seen.map(({ progress, total }) => [progress, total])).toEqual([
      [1, 3],
      [2, 3],
      [3, 3],
    ]);
    const echoed = await mcp.callTool({ name: 'echo', arguments: { message: 'passed through' } });
    expect(textOf(echoed)).toBe('Echo: passed through');
    const { body } = await client.get(`/sessions/${await standing()}/search?q=passed`);
    expect(body['hits']).toHaveLength(1);
    const { body: log } = await client.get(`/sessions/${await standing()}/events?from_seq=0&limit=1000`);
    const names = log.frames.flatMap((frame) =>
      frame.type === 'result' ? [(frame.call as { name: string }).name] : [],
    );
    expect(names).toEqual(['mcp__everything__trigger-long-running-operation', 'mcp__everything__echo']);
  });

  it('has its calls asked about, and denied where nobody may answer or a rule says so', async () => {
    const sum = { name: 'get-sum', arguments: { a: 2, b: 3 } };
    const asked: string[] = [];
    const elicit = (message: string): ElicitResult => {
      asked.push(message);
      return { action: 'accept', content: { decision: 'allow' } };
    };
    const { mcp: asking } = await connect('/mcp/servers/everything', { elicit });
    expect(textOf(await asking.callTool(sum))).toContain('5');
    expect(asked).toEqual([expect.stringContaining('mcp__everything__get-sum')]);

    const { mcp } = await connect('/mcp/servers/everything');
    const refused = await mcp.callTool(sum);
    expect(refused).toMatchObject({ isError: true, _meta: { 'gauntlet/status': 'denied' } });
    expect(await mcp.callTool({ name: 'get-env', arguments: {} })).toMatchObject({ isError: true });
  });

  it('has one connection for clients of 2026-07-28 that differ in what does not concern it', async () => {
    /** Each process has a marker of its own in its environment. */
    const environmentFor = async (modern: ClientCapabilities) => {
      const { mcp } = await connect('/mcp/servers/own', { modern });
      return textOf(await mcp.callTool({ name: 'environment', arguments: {} }));
    };
    const first = await environmentFor({ experimental: { one: {} } });
    expect(await environmentFor({ experimental: { two: {} }, extensions: { 'x/y': {} } })).toBe(first);
    expect(await environmentFor({ sampling: {} })).not.toBe(first);
  });

  it.each([undefined, {}])('has its tasks followed for a client, which need not know of them: %j', async (modern) => {
    const { mcp } = await connect('/mcp/servers/tasks', modern && { modern });
    expect((await mcp.listTools()).tools.map(({ name }) => name)).toContain('slow');
    const seen: (string | undefined)[] = [];
    const onprogress = ({ message }: Progress) => void seen.push(message);
    expect(textOf(await mcp.callTool({ name: 'slow', arguments: {} }, { onprogress }))).toBe('done');
    expect(seen).toEqual(expect.arrayContaining(['step 1', 'step 2']));
  });

  it.each([undefined, {}])('has answers that cannot be passed on replaced by errors: %j', async (modern) => {
    const { mcp } = await connect('/mcp/servers/own', modern && { modern });
    const call = (name: string) => mcp.callTool({ name, arguments: { count: 20_000 } });
    await expect(call('abyss')).rejects.toMatchObject({ code: -32_603, message: expect.stringContaining('nested') });
    await expect(call('nulls')).rejects.toMatchObject({ code: -32_603, message: expect.stringContaining('"content"') });
    expect(textOf(await call('echo'))).toBe('{"count":20000}');
  });

  it('that floods a client with changes is heard now and then', async () => {
    const { mcp } = await connect('/mcp/servers/notes');
    let updates = 0;
    mcp.setNotificationHandler('notifications/resources/updated', () => void updates++);
    await mcp.subscribeResource({ uri: 'notes://one' });
    await mcp.callTool({ name: 'touch', arguments: { times: 10_000 } });
    await until(() => Promise.resolve(updates > 0));
    expect(updates).toBeLessThan(5);
  });

  it('that a rule hides as a whole is refused, and one that is not there is told of', async () => {
    const post = (name: string) =>
      client.post(`/mcp/servers/${name}`, { jsonrpc: '2.0', id: 1, method: 'prompts/list' });
    const hidden = await post('hidden');
    expect([hidden.status, hidden.body.error.message]).toEqual([403, expect.stringContaining('"mcp__hidden"')]);
    expect((await post('nothing')).status).toBe(404);
    const broken = await post('broken');
    expect([broken.status, broken.body.error.code]).toEqual([503, 'overloaded']);
  });

  it('is connected again when that is asked for, and the reply says what came of it', async () => {
    const again = (name: string) => client.post(`/mcp-servers/${name}/reconnect`, {});
    expect((await again('hidden')).body).toMatchObject({
      name: 'hidden',
      state: 'connected',
      since: expect.stringMatching(/Z$/),
      latency_ms: expect.any(Number),
    });
    expect((await again('broken')).body).toMatchObject({ state: 'failed', reason: expect.any(String) });
    expect(await again('off')).toMatchObject({ status: 409, body: { error: { code: 'conflict' } } });
    expect((await again('nothing')).status).toBe(404);
  });
});

async function standing(): Promise<string> {
  const { sessions } = (await client.get('/sessions')).body;
  return sessions.map(({ session_id: id }) => id).find((id) => id.startsWith('ses_standing')) ?? '';
}

describe('a client of a session', () => {
  it('is told that a call changed a file that it can read', async () => {
    const sessionId = (await client.post('/sessions', { mode: 'bypassPermissions' })).body.session_id;
    let changes = 0;
    const { mcp } = await connect(`/mcp?session_id=${sessionId}`, { onChanged: () => (changes += 1) });
    const write = (content: string) =>
      mcp.callTool({ name: 'Write', arguments: { file_path: join(server.workspace, `${content}.txt`), content } });
    let count = 0;
    let writtenMs = -Infinity;
    // The client may begin to listen after the first change, and waits for a pause between changes.
    await until(async () => {
      if (performance.now() - writtenMs > 1_000) {
        await write(`told-${(count += 1)}`);
        writtenMs = performance.now();
      }
      return changes > 0;
    });
    expect(readFileSync(join(server.workspace, 'told-1.txt'), 'utf8')).toBe('told-1');
  });

  it('reads a result as a whole that was too long to be shown', async () => {
    const sessionId = (await client.post('/sessions', { mode: 'bypassPermissions' })).body.session_id;
    const { mcp } = await connect(`/mcp?session_id=${sessionId}`);
    const result = await mcp.callTool({ name: 'Bash', arguments: { command: 'seq 1 100000' } });
    const link = (result.content as { type: string; uri?: string }[]).find(({ type }) => type === 'resource_link');
    expect(textOf(result)).not.toContain('\n50000\n');
    const { contents } = await mcp.readResource({ uri: link?.uri ?? '' });
    expect(contents).toMatchObject([{ text: expect.stringContaining('\n50000\n') as string }]);
    const { resources } = await mcp.listResources();
    const ofSession = resources.map(({ uri }) => uri).filter((uri) => !uri.includes('/servers/'));
    expect(ofSession).toEqual([link?.uri]);
  });

  it('that ended its MCP session, or whose server restarted, begins another with the same standing session', async () => {
    const first = await startServer();
    const { mcp, transport } = await connect('/mcp', { to: first });
    const before = await mcp.callTool({ name: 'Glob', arguments: { pattern: 'before' } });
    const { sessionId = '' } = transport;
    await transport.terminateSession();
    const headers = {
      authorization: `Bearer ${first.token}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-session-id': sessionId,
    };
    const ping = { method: 'POST', headers, body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' }) };
    expect((await fetch(`${first.url}/mcp`, ping)).status).toBe(404);
    await first.end();

    const second = await startServer({ home: first.home });
    expect((await fetch(`${second.url}/mcp`, ping)).status).toBe(404);
    const { mcp: again } = await connect('/mcp', { to: second });
    const after = await again.callTool({ name: 'Glob', arguments: { pattern: 'after' } });
    const id = before._meta?.['gauntlet/session_id'];
    expect(after._meta?.['gauntlet/session_id']).toBe(id);
    const { body } = await wireClient(second).get(`/sessions/${String(id)}/events?from_seq=0&limit=1000`);
    const results = body.frames.filter(({ type }) => type === 'result');
    expect(results).toHaveLength(2);
  }, 60_000);
});
