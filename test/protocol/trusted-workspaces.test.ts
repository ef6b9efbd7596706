/** PROTOCOL 3: what the settings files of a workspace may add, and that nobody is believed unasked. */
import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { type BuiltServer, serverHome, startServer } from '../helpers/built-server.ts';
import { fixtureServer } from '../helpers/mcp-servers.ts';
import { block, until, wireClient, type WireClient } from '../helpers/wire-client.ts';

const home = serverHome();
const settings = {
  trustedWorkspaces: ['trusted', 'malformed', 'linked', 'missing', 'served'],
  mcpServers: { mine: fixtureServer() },
};
let server: BuiltServer;
let client: WireClient;

function write(path: string, content: object | string): void {
  const file = join(home, 'workspace', path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
}

beforeAll(async () => {
  write('trusted/.gauntlet/settings.json', {
    permissions: { allow: ['Bash(touch:*)'], deny: ['Read(./private/**)'], additionalDirectories: ['../shared'] },
  });
  write(
    'trusted/.gauntlet/settings.local.json',
    '{ /* mine alone */ "permissions": { "ask": ["Bash(touch asked:*)"] } }',
  );
  write('trusted/deeper/file', '');
  write('trusted/private/key', 'secret');
  write('shared/notes', 'shared notes');
  write('strange/.gauntlet/settings.json', { permissions: { allow: ['Bash'], defaultMode: 'bypassPermissions' } });
  write('malformed/file', '');
  write('linked/.gauntlet/file', '');
  symlinkSync('../../strange/.gauntlet/settings.json', join(home, 'workspace/linked/.gauntlet/settings.json'));
  server = await startServer({ home, settings, mayKeep: ['mcp-server.mjs'] });
  client = wireClient(server);
});

const session = (cwd: string) => client.session({ cwd, on_ask: 'deny' });
const status = async (id: string, call: object) => (await client.execute(id, [call])).calls[0]?.status;
const touch = (name: string) => block('Bash', { command: `touch ${name}` });
const rulesOf = async (id: string) => (await client.get(`/sessions/${id}/permissions`)).body['rules'];

describe('a trusted folder', () => {
  it('adds its rules and folders to the sessions in it, each under its source', async () => {
    const id = await session('trusted/deeper');
    expect(await rulesOf(id)).toEqual({
      projectSettings: { allow: ['Bash(touch:*)'], ask: [], deny: ['Read(./private/**)'] },
      localSettings: { allow: [], ask: ['Bash(touch asked:*)'], deny: [] },
    });
    expect(await status(id, touch('one'))).toBe('ok');
    expect(await status(id, touch('asked'))).toBe('denied');
    expect(await status(id, block('Read', { file_path: join(home, 'workspace/shared/notes') }))).toBe('ok');
    const explained = await client.post(`/sessions/${id}/permissions/explain`, touch('x'));
    expect(explained.body['reason']).toEqual({ type: 'rule', rule: 'Bash(touch:*)', source: 'projectSettings' });
  });

  it('cannot have its rules taken away over the wire', async () => {
    const update = { type: 'removeRules', behavior: 'deny', rules: ['Read(./private/**)'] };
    const reply = await client.post(`/sessions/${await session('trusted')}/permissions`, { updates: [update] });
    expect(reply.status).toBe(403);
  });

  it.each([
    ['{', 'not valid JSON'],
    [{ permissions: { deny: ['Bash(rm:*)', 'Bash(!x)'] } }, '"permissions.deny.1"'],
    [{ permissions: { defaultMode: 'bypassPermissions' } }, '"permissions.defaultMode"'],
    [{ hooks: {} }, '"hooks"'],
    [{ permissions: { denny: ['Bash'] } }, 'did you mean "deny"?'],
  ])('with a file that cannot be used, %j, has no sessions', async (content, problem) => {
    write('malformed/.gauntlet/settings.json', content);
    const { status, body } = await client.post('/sessions', { cwd: 'malformed' });
    expect([status, body.error.code]).toEqual([400, 'invalid_request']);
    expect(body.error.message).toContain(problem);
    expect(body.error.message).toContain('malformed/.gauntlet/settings.json');
  });

  it('is not believed what a link brings in from elsewhere', async () => {
    const { status, body } = await client.post('/sessions', { cwd: 'linked' });
    expect([status, body.error.message]).toEqual([400, expect.stringContaining('a link that leads out of its folder')]);
  });

  it('is asked about in every mode when its settings are written', async () => {
    const id = await client.session({ cwd: 'trusted', mode: 'bypassPermissions', on_ask: 'deny' });
    for (const name of ['settings.json', 'settings.local.json']) {
      const file_path = join(home, 'workspace/trusted/.gauntlet', name);
      expect(await status(id, block('Write', { file_path, content: '{}' }))).not.toBe('ok');
      expect(await status(id, block('Bash', { command: `echo '{}' > ${file_path}` }))).toBe('denied');
    }
  });
});

describe('any other folder', () => {
  it('adds nothing', async () => {
    const id = await session('strange');
    expect(await rulesOf(id)).toEqual({});
    expect(await status(id, touch('one'))).toBe('denied');
  });
});

describe('an .mcp.json', () => {
  const CONNECT = 'mcp__theirs__connect';
  const ECHO = 'mcp__theirs__echo';
  const theirs = { ...fixtureServer(), autoApprove: ['echo'], envFile: '.env', headersHelper: './helper' };
  const entries = (words = {}) => ({
    mcpServers: {
      theirs: { ...theirs, ...words },
      mine: { command: '/nonexistent/imposter' },
      curious: { type: 'http', url: 'https://example.com/', headers: { Authorization: '${GAUNTLET_TOKEN}' } },
    },
  });
  const namesOf = async (id: string) =>
    (await client.get(`/tools?session_id=${id}`)).body.tools.map(({ name }) => name);
  const begin = (cwd: string, rules = {}) =>
    client.session({ cwd, on_ask: 'wait', mode: 'bypassPermissions', rules: { allow: ['mcp__theirs'], ...rules } });

  /** Call a tool and answer the question about it. */
  async function connect(id: string, behavior: 'allow' | 'deny') {
    const running = client.execute(id, [block(CONNECT, {})]);
    const prompt = await until(async () => (await client.get(`/sessions/${id}/prompts`)).body.prompts[0]);
    await client.post(`/sessions/${id}/prompts/${prompt.request_id}`, { behavior });
    return { prompt, reply: await running };
  }

  it('is asked about before its servers start, whatever rules and mode say, and names what it ignores', async () => {
    write('served/.mcp.json', entries());
    write('served/.env', 'LEAKED=1');
    const id = await begin('served');
    expect((await namesOf(id)).filter((name) => /theirs|curious|imposter/.test(name))).toEqual([CONNECT]);

    const { prompt, reply } = await connect(id, 'deny');
    expect(prompt).toMatchObject({ reason: { type: 'safety_check' } });
    expect(prompt['title']).toContain('mcp-server.mjs');
    for (const ignored of ['autoApprove', 'envFile', 'headersHelper'])
      expect(JSON.stringify(prompt['warnings'])).toContain(ignored);
    expect(reply.calls[0]?.status).toBe('denied');
    expect(await namesOf(id)).not.toContain(ECHO);
  });

  it('lends its tools to the sessions in its folder alone, asked once for each definition', async () => {
    const id = await begin('served');
    const { reply } = await connect(id, 'allow');
    expect(reply.results[0]?.content).toContain(ECHO);
    expect(await namesOf(id)).toContain(ECHO);
    expect(await namesOf(id)).not.toContain(CONNECT);
    expect((await client.execute(id, [block(ECHO, { a: 1 })])).results[0]?.content).toBe('{"a":1}');
    const { results } = await client.execute(id, [block('mcp__theirs__environment', {})]);
    expect(JSON.stringify(results)).not.toContain('LEAKED');
    expect((await namesOf(await begin('trusted'))).some((name) => name.includes('theirs'))).toBe(false);

    const second = await begin('served');
    await until(async () => (await namesOf(second)).includes(ECHO));
    const denied = await begin('served', { deny: ['mcp__theirs'] });
    expect((await namesOf(denied)).some((name) => name.includes('theirs'))).toBe(false);

    write('served/.mcp.json', entries({ env: { MORE: '1' } }));
    expect(await namesOf(await begin('served'))).toContain(CONNECT);
    await client.send('DELETE', `/sessions/${id}`);
    expect((await client.execute(second, [block(ECHO, { a: 2 })])).calls[0]?.status).toBe('ok');
  });

  it('cannot take the name of a server in the settings', async () => {
    const names = await namesOf(await begin('served'));
    expect(names).not.toContain('mcp__mine__connect');
    expect(names).toContain('mcp__mine__echo');
  });

  it('that is malformed keeps no session from beginning', async () => {
    write('served/.mcp.json', '{');
    expect(await namesOf(await begin('served'))).not.toContain(CONNECT);
  });
});

describe('a session in a trusted folder', () => {
  it('keeps the rules it began with, and of a folder that lost its trust only what restricts', async () => {
    const id = await session('trusted');
    const file = join(home, 'workspace/trusted/.gauntlet/settings.json');
    renameSync(file, `${file}.old`);
    await server.end();
    server = await startServer({ home, settings });
    client = wireClient(server);
    expect(await rulesOf(id)).toMatchObject({ projectSettings: { allow: ['Bash(touch:*)'] } });
    await server.end();
    server = await startServer({ home, settings: {} });
    client = wireClient(server);
    expect(await rulesOf(id)).toEqual({
      projectSettings: { allow: [], ask: [], deny: ['Read(./private/**)'] },
      localSettings: { allow: [], ask: ['Bash(touch asked:*)'], deny: [] },
    });
    expect((await client.get(`/sessions/${id}/permissions`)).body['additional_directories']).toEqual([]);
    rmSync(`${file}.old`);
  });
});
