/** PROTOCOL 2 and 3: the MCP servers of a trusted folder, wherever servers are named. */
import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { serverHome, startServer } from '../helpers/built-server.ts';
import { packageServer } from '../helpers/mcp-servers.ts';
import { logIn, protectedServer } from '../helpers/oauth-server.ts';
import { block, until, wireClient, type WireClient } from '../helpers/wire-client.ts';

const ANN = 'token-of-ann-0123456789';
const home = serverHome();
const folder = join(home, 'workspace/served');
const guarded = join(home, 'workspace/guarded');
let owner: WireClient;
let ann: WireClient;

function writeServers(place: string, mcpServers: object): void {
  mkdirSync(place, { recursive: true });
  writeFileSync(join(place, '.mcp.json'), JSON.stringify({ mcpServers }));
}

beforeAll(async () => {
  const theirs = packageServer('@modelcontextprotocol/server-everything/dist/index.js', 'stdio');
  writeServers(folder, { theirs, unasked: { ...theirs, env: { OTHER: '1' } } });
  mkdirSync(guarded);
  const server = await startServer({
    home,
    mayKeep: ['server-everything'],
    settings: {
      trustedWorkspaces: ['served', 'guarded'],
      permissions: { allow: ['mcp__theirs', 'McpAuth', 'ReadMcpResourceTool', 'ListMcpResourcesTool'] },
      principals: [{ name: 'ann', tokenSha256: createHash('sha256').update(ANN).digest('hex'), roots: ['.'] }],
    },
  });
  owner = wireClient(server);
  ann = wireClient({ ...server, token: ANN });
});

const begin = (options: object = {}) => owner.session({ cwd: folder, on_ask: 'wait', ...options });

/** Call the tool that connects a server, and say yes. */
async function connect(id: string, name: string) {
  const running = owner.execute(id, [block(`mcp__${name}__connect`, {})]);
  const prompt = await until(async () => (await owner.get(`/sessions/${id}/prompts`)).body.prompts[0]);
  await owner.post(`/sessions/${id}/prompts/${prompt.request_id}`, { behavior: 'allow' });
  return (await running).calls[0];
}

async function stateOf(id: string, name: string): Promise<Record<string, unknown> | undefined> {
  const { body } = await owner.get(`/mcp-servers?session_id=${id}`);
  return (body['servers'] as Record<string, unknown>[]).find((server) => server['name'] === name);
}

describe('the servers of a trusted folder', () => {
  it('are listed with a session of it, and to nobody else', async () => {
    const id = await begin();
    expect(await stateOf(id, 'theirs')).toMatchObject({
      state: 'needs_approval',
      reason: expect.stringContaining('mcp__theirs__connect'),
      remote: false,
    });
    expect(await connect(id, 'theirs')).toMatchObject({ status: 'ok' });
    expect(await stateOf(id, 'theirs')).toMatchObject({ state: 'connected' });
    expect((await owner.get('/mcp-servers')).body).toEqual({ servers: [] });
    expect((await ann.get(`/mcp-servers?session_id=${id}`)).status).toBe(404);
    const elsewhere = await owner.session({ on_ask: 'deny' });
    expect((await owner.get(`/mcp-servers?session_id=${elsewhere}`)).body).toEqual({ servers: [] });
  });

  it('have their resources listed and read, once a person has said yes', async () => {
    const id = await begin();
    await until(async () => (await stateOf(id, 'theirs'))?.['state'] === 'connected');
    const listed = await owner.execute(id, [block('ListMcpResourcesTool', { server: 'theirs' })]);
    const [first = '{}'] = String(listed.results[0]?.content).split('\n');
    const { uri } = JSON.parse(first) as { uri: string };
    const read = await owner.execute(id, [block('ReadMcpResourceTool', { server: 'theirs', uri })]);
    expect(read.calls[0]).toMatchObject({ status: 'ok' });
    const unapproved = await owner.execute(id, [block('ListMcpResourcesTool', { server: 'unasked' })]);
    expect(unapproved.results[0]?.content).toContain('call mcp__unasked__connect');
  });

  it('can be the only tools of a session, and their rules are no mistakes', async () => {
    const id = await begin({ tools: ['mcp__theirs'] });
    const names = await until(async () => {
      const found = (await owner.get(`/tools?session_id=${id}`)).body.tools.map(({ name }) => name);
      return found.includes('mcp__theirs__echo') && found;
    });
    expect(names.every((name) => name.startsWith('mcp__theirs__'))).toBe(true);
    expect((await owner.post('/sessions', { tools: ['mcp__theirs'] })).status).toBe(400);

    const ruled = await owner.post('/sessions', { cwd: folder, rules: { deny: ['mcp__theirs__echo', 'mcp__other'] } });
    expect(ruled.body['warnings']).toEqual([expect.stringContaining('"mcp__other"')]);
  });

  it('that want a login get one by McpAuth, for all sessions of the principal', async () => {
    writeServers(guarded, { guarded: { type: 'http', url: await protectedServer() } });
    const id = await begin({ cwd: guarded });
    expect(await connect(id, 'guarded')).toMatchObject({ status: 'error' });
    await until(async () => (await stateOf(id, 'guarded'))?.['state'] === 'needs_auth');
    const { results } = await owner.execute(id, [block('McpAuth', { server: 'guarded' })]);
    const address = /^http:\S+$/m.exec(String(results[0]?.content))?.[0] ?? '';
    expect(await stateOf(id, 'guarded')).toMatchObject({ login: { state: 'pending' } });
    const page = await fetch(await logIn(address));
    expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('"guarded" is authorized')]);
    await until(async () => (await stateOf(id, 'guarded'))?.['state'] === 'connected');

    const second = await begin({ cwd: guarded });
    await until(async () => (await stateOf(second, 'guarded'))?.['state'] === 'connected');
    const ended = await owner.send('DELETE', `/mcp-servers/guarded/login?session_id=${id}`);
    expect(ended.body).toMatchObject({ was_logged_in: true });
    for (const session of [id, second])
      await until(async () => (await stateOf(session, 'guarded'))?.['state'] === 'needs_auth');
  });
});
