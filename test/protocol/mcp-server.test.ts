/** `/mcp`: the tools of a session for MCP clients, in both revisions, with the real SDKs. */
import { createHash } from 'node:crypto';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { existsSync, mkdirSync, writeFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  Client,
  discoverOAuthProtectedResourceMetadata,
  type ElicitResult,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { Client as FirstClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as FirstTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { type BuiltServer, serverHome, startServer } from '../helpers/built-server.ts';
import { fixtureServer } from '../helpers/mcp-servers.ts';
import { until, wireClient, type WireClient } from '../helpers/wire-client.ts';

const OTHER_TOKEN = 'other-token-0123456789abcdef';

let server: BuiltServer;
let client: WireClient;

beforeAll(async () => {
  const home = serverHome();
  const skill = join(home, 'data/skills/release');
  mkdirSync(skill, { recursive: true });
  writeFileSync(
    join(skill, 'SKILL.md'),
    '---\nname: release\ndescription: Cuts a release\nargument-hint: "[version]"\n---\nRelease $1 now.\n',
  );
  const theirs = join(home, 'workspace/theirs');
  mkdirSync(theirs);
  server = await startServer({
    home,
    settings: {
      skills: ['./skills'],
      publicUrl: 'https://gauntlet.example/',
      mcpAuthorization: { servers: ['https://login.example'], scopes: ['gauntlet'] },
      principals: [
        { name: 'other', tokenSha256: createHash('sha256').update(OTHER_TOKEN).digest('hex'), roots: [theirs] },
      ],
    },
  });
  client = wireClient(server);
});

/** The revisions, and how a client comes to speak each. */
const ERAS = [
  ['2025-11-25', 'legacy'],
  ['2026-07-28', 'auto'],
] as const;

interface Connecting {
  readonly mode?: 'legacy' | 'auto';
  readonly token?: string;
  readonly query?: string;
  /** Default: the shared server, and `/mcp`. */
  readonly at?: BuiltServer;
  readonly path?: string;
  /** Given: the client can show a form to a person, who fills it in so. */
  readonly elicit?: (message: string) => ElicitResult | Promise<ElicitResult>;
  readonly onToolsChanged?: () => void;
}

async function connect({
  mode = 'auto',
  at = server,
  path = '/mcp',
  token = at.token,
  query = '',
  elicit,
  onToolsChanged,
}: Connecting = {}) {
  const mcp = new Client(
    { name: 'test', version: '1' },
    {
      versionNegotiation: { mode },
      capabilities: elicit ? { elicitation: { form: {} } } : {},
      ...(onToolsChanged && { listChanged: { tools: { autoRefresh: false, onChanged: onToolsChanged } } }),
    },
  );
  if (elicit) mcp.setRequestHandler('elicitation/create', async ({ params }) => elicit(params.message));
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  const transport = new StreamableHTTPClientTransport(new URL(`${at.url}${path}${query}`), { requestInit });
  await mcp.connect(transport);
  mcpSessionOf.set(mcp, query.replace('?session_id=', ''));
  onTestFinished(() => mcp.close());
  return mcp;
}

const mcpSessionOf = new WeakMap<Client, string>();

async function newSession(mode: string): Promise<string> {
  return (await client.post('/sessions', { mode })).body.session_id;
}

const textOf = ({ content }: { content?: unknown }) =>
  (content as { text?: string }[]).map(({ text = '' }) => text).join('\n');

const accept = (content: ElicitResult['content']): ElicitResult => ({ action: 'accept', content });

describe.each(ERAS)('a client of %s', (revision, mode) => {
  it('lists the tools of a session, calls one, and reads the file that the call changed', async () => {
    const mcp = await connect({ mode });
    expect(mcp.getNegotiatedProtocolVersion()).toBe(revision);
    const { tools } = await mcp.listTools();
    expect(tools.find(({ name }) => name === 'Read')).toMatchObject({ annotations: { readOnlyHint: true } });
    expect(tools.map(({ name }) => name)).toContain('Bash');

    const read = await mcp.callTool({ name: 'Glob', arguments: { pattern: '**/*.nothing' } });
    expect(read.isError).toBeUndefined();
  });

  it('is told of a wrong input within the result, and of a tool that is not there by an error', async () => {
    const mcp = await connect({ mode });
    const wrong = await mcp.callTool({ name: 'Read', arguments: { file: 'x' } });
    expect(wrong).toMatchObject({ isError: true, _meta: { 'gauntlet/error_code': 'invalid_input' } });
    expect(textOf(wrong)).toContain('file_path');
    await expect(mcp.callTool({ name: 'Nothing', arguments: {} })).rejects.toMatchObject({ code: -32_602 });
  });

  it('that can ask a person has a question answered, and the call goes on', async () => {
    const asked: string[] = [];
    const path = join(server.workspace, `asked-${mode}.txt`);
    const mcp = await connect({
      mode,
      elicit: (message) => {
        asked.push(message);
        return accept({ decision: 'allow' });
      },
    });
    const result = await mcp.callTool({ name: 'Write', arguments: { file_path: path, content: 'by a yes' } });
    expect(textOf(result)).not.toBe('');
    expect(asked).toHaveLength(1);
    expect(asked[0]).toContain(path);
    expect(readFileSync(path, 'utf8')).toBe('by a yes');

    const { resources } = await mcp.listResources();
    const file = resources.find(({ name }) => name === path);
    expect(file?.uri).toMatch(/^gauntlet:\/\/sessions\/.*\/files\//);
    const { contents } = await mcp.readResource({ uri: file?.uri ?? '' });
    expect(contents).toMatchObject([{ text: 'by a yes' }]);
  });

  it('whose person says no, or anything but a clear yes, has the call denied', async () => {
    for (const answer of [
      { action: 'decline' },
      { action: 'cancel' },
      accept({ decision: 'deny', message: 'Not so' }),
    ]) {
      const mcp = await connect({ mode, elicit: () => answer as ElicitResult });
      const path = join(server.workspace, 'never.txt');
      const result = await mcp.callTool({ name: 'Write', arguments: { file_path: path, content: 'no' } });
      expect(result).toMatchObject({ isError: true, _meta: { 'gauntlet/status': 'denied' } });
    }
  });

  it('that cannot ask has the question denied where nobody watches', async () => {
    const mcp = await connect({ mode });
    const path = join(server.workspace, 'never.txt');
    const result = await mcp.callTool({ name: 'Write', arguments: { file_path: path, content: 'no' } });
    expect(textOf(result)).toContain('no client that may answer is connected');
  });

  it('fills in the form of a question of the model', async () => {
    const mcp = await connect({ mode, elicit: () => accept({ answer_1: 'Blue', answer_2_other: 'Neither' }) });
    const options = (labels: string[]) => labels.map((label) => ({ label, description: label }));
    const questions = [
      { question: 'Which colour?', header: 'Colour', options: options(['Red', 'Blue']) },
      { question: 'Which size?', header: 'Size', options: options(['S', 'L']) },
    ];
    const result = await mcp.callTool({ name: 'AskUserQuestion', arguments: { questions } });
    expect(textOf(result)).toContain('- "Which colour?": Blue');
    expect(textOf(result)).toContain('- "Which size?": Neither');
  });

  it('hears of progress, and cancels a call', async () => {
    const mcp = await connect({ mode, query: `?session_id=${await newSession('bypassPermissions')}` });
    const messages: string[] = [];
    const cancelling = new AbortController();
    const sleeping = mcp.callTool(
      { name: 'Bash', arguments: { command: 'echo begun; sleep 60' } },
      {
        signal: cancelling.signal,
        onprogress: ({ message = '' }) => {
          messages.push(message);
          cancelling.abort();
        },
      },
    );
    await expect(sleeping).rejects.toThrow();
    expect(messages.length).toBeGreaterThan(0);
    const sessionId = mcpSessionOf.get(mcp) ?? '';
    await until(async () => {
      const { body } = await client.get(`/sessions/${sessionId}`);
      return Array.isArray(body['running']) && body['running'].length === 0;
    });
  });

  it('is told when the list of tools changes', async () => {
    const sessionId = await newSession('default');
    let changes = 0;
    const mcp = await connect({ mode, query: `?session_id=${sessionId}`, onToolsChanged: () => (changes += 1) });
    const before = (await mcp.listTools()).tools.map(({ name }) => name);
    expect(before).toContain('WebFetch');
    let isDenied = false;
    let dueMs = 0;
    await until(async () => {
      // The client may begin to listen after the first change, and waits for changes to end before it tells of them.
      if (performance.now() >= dueMs) {
        dueMs = performance.now() + 2_000;
        isDenied = !isDenied;
        const updates = [{ type: 'replaceRules', behavior: 'deny', rules: isDenied ? ['WebFetch'] : [] }];
        await client.post(`/sessions/${sessionId}/permissions`, { updates });
      }
      return changes > 0;
    });
  });

  it('gets a skill as a prompt', async () => {
    const mcp = await connect({ mode });
    const { prompts } = await mcp.listPrompts();
    expect(prompts).toMatchObject([{ name: 'release', description: 'Cuts a release' }]);
    const { messages } = await mcp.getPrompt({ name: 'release', arguments: { arguments: '2.0' } });
    expect(messages).toMatchObject([{ role: 'user', content: { type: 'text' } }]);
    expect(JSON.stringify(messages)).toContain('Release 2.0 now.');
    await expect(mcp.getPrompt({ name: 'nothing' })).rejects.toMatchObject({ code: -32_602 });
  });
});

describe('the standing session', () => {
  it('is one for each principal, and the same for all of its clients', async () => {
    const ids = new Set<unknown>();
    for (const token of [server.token, server.token, OTHER_TOKEN]) {
      const mcp = await connect({ token });
      const { _meta: meta } = await mcp.callTool({ name: 'Glob', arguments: { pattern: '*' } });
      ids.add(meta?.['gauntlet/session_id']);
    }
    expect(ids.size).toBe(2);
    const { body } = await client.get(`/sessions/${[...ids].join(' ').split(' ')[0]}`);
    expect(body['title']).toBe('Standing session');
  });

  it('keeps what it is asked in its log, as every session does', async () => {
    const mcp = await connect();
    const { _meta: meta } = await mcp.callTool({ name: 'Glob', arguments: { pattern: 'to-be-found' } });
    const { body } = await client.get(`/sessions/${meta?.['gauntlet/session_id']}/search?q=to-be-found`);
    expect(JSON.stringify(body)).toContain(meta?.['gauntlet/tool_use_id']);
  });
});

describe('the address', () => {
  const init = { jsonrpc: '2.0', id: 1, method: 'initialize', params: {} };
  const post = (headers: Record<string, string>, body: string = JSON.stringify(init), query = '') =>
    fetch(`${server.url}/mcp${query}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
      body,
    });
  const authorization = () => ({ authorization: `Bearer ${server.token}` });

  it('wants the token, and an origin that is listed', async () => {
    expect((await post({})).status).toBe(401);
    expect((await post({ authorization: 'Bearer wrong-token-0123456789' })).status).toBe(401);
    expect((await post({ ...authorization(), origin: 'http://evil.example' })).status).toBe(403);
  });

  it.each(['/mcp', '/mcp/servers/a%20%22b%22'])('tells who has no token at %s where tokens come from', async (path) => {
    const refused = await fetch(`${server.url}${path}`, { method: 'POST' });
    expect(refused.status).toBe(401);
    const challenge = refused.headers.get('www-authenticate') ?? '';
    const [, address = ''] = /^Bearer resource_metadata="(\S+)", scope="gauntlet"$/.exec(challenge) ?? [];
    const { origin, pathname } = new URL(address);
    expect([origin, pathname]).toEqual(['https://gauntlet.example', `/.well-known/oauth-protected-resource${path}`]);
    const metadata = await fetch(`${server.url}${pathname}`);
    expect(await metadata.json()).toEqual({
      resource: `https://gauntlet.example${path}`,
      authorization_servers: ['https://login.example'],
      bearer_methods_supported: ['header'],
      resource_name: 'Gauntlet',
      scopes_supported: ['gauntlet'],
    });
  });

  it('is found by an SDK that looks for its authorization server, and no other address says so', async () => {
    const found = await discoverOAuthProtectedResourceMetadata(`${server.url}/mcp`);
    expect(found.authorization_servers).toEqual(['https://login.example']);
    const whole = await fetch(`${server.url}/.well-known/oauth-protected-resource`);
    expect(await whole.json()).toMatchObject({ resource: 'https://gauntlet.example' });
    const tools = await fetch(`${server.url}/tools`);
    expect([tools.status, tools.headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
    expect((await fetch(`${server.url}/.well-known/oauth-protected-resource/tools`)).status).toBe(401);
  });

  it('answers what cannot be read with an error of JSON-RPC', async () => {
    const broken = await post(authorization(), '{"jsonrpc":');
    expect(broken.status).toBe(400);
    expect(await broken.json()).toMatchObject({ jsonrpc: '2.0', id: null, error: { code: -32_700 } });
    const unknown = await post(
      { ...authorization(), 'mcp-session-id': 'nobodys' },
      '{"jsonrpc":"2.0","id":1,"method":"ping"}',
    );
    expect(unknown.status).toBe(404);
    expect(await unknown.json()).toMatchObject({ error: { code: -32_001 } });
  });

  it('has nothing at a session that is not there, or is of another principal', async () => {
    const theirs = await wireClient({ ...server, token: OTHER_TOKEN }).post('/sessions', {});
    for (const id of ['ses_nobodys', theirs.body.session_id]) {
      expect((await post(authorization(), undefined, `?session_id=${id}`)).status).toBe(404);
    }
  });

  it('knows an MCP session only with the token and at the address that it was begun with', async () => {
    const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '1' } };
    const begun = await post(authorization(), JSON.stringify({ ...init, params }));
    const id = begun.headers.get('mcp-session-id') ?? '';
    expect(id).not.toBe('');
    await begun.text();
    const ping = JSON.stringify({ jsonrpc: '2.0', id: 2, method: 'ping' });
    const own = await post({ ...authorization(), 'mcp-session-id': id }, ping);
    expect(own.status).toBe(200);
    await own.text();
    expect((await post({ authorization: `Bearer ${OTHER_TOKEN}`, 'mcp-session-id': id }, ping)).status).toBe(404);
    const query = `?session_id=${await newSession('default')}`;
    expect((await post({ ...authorization(), 'mcp-session-id': id }, ping, query)).status).toBe(404);
  });

  it('serves the first SDK too', async () => {
    const mcp = new FirstClient({ name: 'first', version: '1' });
    const requestInit = { headers: authorization() };
    await mcp.connect(new FirstTransport(new URL(`${server.url}/mcp`), { requestInit }));
    onTestFinished(() => mcp.close());
    const { content } = await mcp.callTool({ name: 'Glob', arguments: { pattern: '*' } });
    expect(content).toBeInstanceOf(Array);
  });
});

describe.each(ERAS)('a server that is passed through to a client of %s', (_revision, mode) => {
  it('gets and gives what hooks made of a call and its answer', async () => {
    const hook = (matcher: string, output: object) => ({
      matcher,
      hooks: [{ type: 'command', command: `echo '${JSON.stringify({ hookSpecificOutput: output })}'` }],
    });
    const withheld = { matcher: 'mcp__up__fails|mcp__up__progress', hooks: [{ type: 'command', command: 'exit 2' }] };
    const at = await startServer({
      mayKeep: ['mcp-server.mjs'],
      settings: {
        permissions: { allow: ['mcp__up'] },
        mcpServers: { up: fixtureServer() },
        hooks: {
          PreToolUse: [hook('mcp__up__echo', { hookEventName: 'PreToolUse', updatedInput: { said: 'by the hook' } })],
          PostToolUse: [
            hook('mcp__up__environment', { hookEventName: 'PostToolUse', updatedToolOutput: 'nothing to see' }),
            withheld,
          ],
          PostToolUseFailure: [{ matcher: 'mcp__up__crash', hooks: [{ type: 'command', command: 'exit 2' }] }],
        },
      },
    });
    const mcp = await connect({ mode, at, path: '/mcp/servers/up' });
    const echoed = await mcp.callTool({ name: 'echo', arguments: { said: 'by the client' } });
    expect(textOf(echoed)).toBe('{"said":"by the hook"}');
    expect(textOf(await mcp.callTool({ name: 'environment', arguments: {} }))).toBe('nothing to see');
    const objected = textOf(await mcp.callTool({ name: 'progress', arguments: {} }));
    expect(objected).toContain('objects');
    const failed = await mcp.callTool({ name: 'crash', arguments: {} });
    expect([failed.isError, textOf(failed)]).toEqual([true, expect.stringContaining('objects')]);
  });
});

describe('gauntlet mcp', () => {
  const program = new URL('../../dist/gauntlet.js', import.meta.url).pathname;

  async function speak(words: readonly string[], environment: Record<string, string>, mode: 'legacy' | 'auto') {
    const env = { PATH: process.env['PATH'] ?? '', ...environment };
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [program, 'mcp', ...words],
      env,
      cwd: environment['GAUNTLET_WORKSPACE'] ?? server.workspace,
      stderr: 'pipe',
    });
    const mcp = new Client(
      { name: 'test', version: '1' },
      { versionNegotiation: { mode }, capabilities: { elicitation: {} } },
    );
    mcp.setRequestHandler('elicitation/create', () => accept({ decision: 'allow' }));
    await mcp.connect(transport);
    onTestFinished(() => mcp.close());
    return mcp;
  }

  const joining = () => ({
    GAUNTLET_TOKEN: server.token,
    GAUNTLET_DATA_DIR: server.dataFolder,
  });

  it.each(ERAS)('joins the running server, in %s', async (revision, mode) => {
    const mcp = await speak(['--url', server.url, '--mode', 'acceptEdits'], joining(), mode);
    expect(mcp.getNegotiatedProtocolVersion()).toBe(revision);
    const path = join(server.workspace, `by-stdio-${mode}.txt`);
    const result = await mcp.callTool({ name: 'Write', arguments: { file_path: path, content: 'piped' } });
    expect(result.isError).toBeUndefined();
    const asked = await mcp.callTool({ name: 'Bash', arguments: { command: `rm ${path}` } });
    expect(asked.isError).toBeUndefined();
  });

  it('takes messages that a client sends before it has read the reply to initialize', async () => {
    const env = { PATH: process.env['PATH'], ...joining() };
    const stdio = spawn(process.execPath, [program, 'mcp', '--url', server.url], {
      env,
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    onTestFinished(() => void stdio.kill('SIGKILL'));
    const clientInfo = { name: 'test', version: '1' };
    const messages = [
      { id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo } },
      { method: 'notifications/initialized' },
      { id: 2, method: 'tools/call', params: { name: 'Glob', arguments: { pattern: 'none' } } },
    ];
    for (const message of messages) stdio.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
    let said = '';
    stdio.stdout.on('data', (chunk) => (said += String(chunk)));
    const lines = await until(() => Promise.resolve(said.split('\n').length > 2 && said.trim().split('\n')));
    expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject([
      { id: 1, result: { protocolVersion: '2025-11-25' } },
      { id: 2, result: { content: [{ type: 'text' }] } },
    ]);
    stdio.stdin.end();
    await once(stdio, 'exit');
  });

  /** The environment of a server that does not run yet. */
  async function ownServer() {
    const home = serverHome();
    const probe = createServer().listen(0, '127.0.0.1');
    await once(probe, 'listening');
    const { port } = probe.address() as AddressInfo;
    probe.close();
    return {
      HOME: home,
      GAUNTLET_PORT: String(port),
      GAUNTLET_DATA_DIR: join(home, 'data'),
      GAUNTLET_WORKSPACE: join(home, 'workspace'),
    };
  }

  it('leaves no server behind when it is ended while that one starts', async () => {
    const program = join(import.meta.dirname, '../../dist/gauntlet.js');
    const env = { PATH: process.env['PATH'], ...(await ownServer()) };
    const stdio = spawn(process.execPath, [program, 'mcp'], { env, stdio: 'ignore' });
    const path = `/proc/${stdio.pid}/task/${stdio.pid}/children`;
    const started = Number(await until(() => Promise.resolve(readFileSync(path, 'utf8').trim() || undefined)));
    const isRunning = () => existsSync(`/proc/${started}`);
    onTestFinished(() => void (isRunning() && process.kill(started, 'SIGKILL')));
    // It is still starting when the signal comes.
    process.kill(started, 'SIGSTOP');
    const exited = once(stdio, 'exit');
    stdio.kill('SIGTERM');
    process.kill(started, 'SIGCONT');
    await exited;
    await until(() => Promise.resolve(!isRunning()));
  });

  it('starts a server where none runs, and ends it with its input', async () => {
    const environment = await ownServer();
    const mcp = await speak([], environment, 'legacy');
    const { tools } = await mcp.listTools();
    expect(tools.map(({ name }) => name)).toContain('Read');
    const alive = () =>
      fetch(`http://127.0.0.1:${environment.GAUNTLET_PORT}/healthz`).then(
        ({ ok }) => ok,
        () => false,
      );
    expect(await alive()).toBe(true);
    await mcp.close();
    await until(async () => !(await alive()));
  });
});
