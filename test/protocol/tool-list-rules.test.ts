/** PROTOCOL 2: without a session, the tool list is the one that a new session of the caller would see. */
import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { serverHome, startServer, type BuiltServer } from '../helpers/built-server.ts';
import { fixtureServer } from '../helpers/mcp-servers.ts';
import { until, wireClient, type WireClient } from '../helpers/wire-client.ts';

const ANN_TOKEN = 'token-of-ann-0123456789';
const EVE_TOKEN = 'token-of-eve-0123456789';
const digestOf = (token: string) => createHash('sha256').update(token).digest('hex');

const home = serverHome();
const projectSettings = join(home, 'workspace/ann/.gauntlet/settings.json');
let server: BuiltServer;
let owner: WireClient;
let ann: WireClient;
let eve: WireClient;

function writeProjectDenials(deny: readonly string[]): void {
  writeFileSync(projectSettings, JSON.stringify({ permissions: { deny } }));
}

beforeAll(async () => {
  mkdirSync(join(home, 'workspace/ann/.gauntlet'), { recursive: true });
  writeProjectDenials(['Glob']);
  server = await startServer({
    home,
    mayKeep: ['mcp-server.mjs'],
    settings: {
      permissions: { deny: ['Bash', 'mcp__hidden', 'mcp__shown__crash', 'Read(./private/**)'] },
      mcpServers: { hidden: fixtureServer(), shown: fixtureServer() },
      trustedWorkspaces: ['ann'],
      principals: [
        { name: 'ann', tokenSha256: digestOf(ANN_TOKEN), roots: ['ann'] },
        { name: 'eve', tokenSha256: digestOf(EVE_TOKEN), roots: [] },
      ],
    },
  });
  owner = wireClient(server);
  ann = wireClient({ ...server, token: ANN_TOKEN });
  eve = wireClient({ ...server, token: EVE_TOKEN });
  await until(async () => (await names(owner)).some((name) => name.startsWith('mcp__shown__')));
  await until(async () => (await owner.get('/tools?format=full')).text.includes('"mcp__hidden__echo"'));
});

async function names(client: WireClient, query = ''): Promise<readonly string[]> {
  return (await client.get(`/tools${query}`)).body.tools.map(({ name }) => name);
}

describe('GET /tools without a session', () => {
  it('leaves out the tools and MCP servers that the settings deny', async () => {
    const listed = await names(owner);
    expect(listed).not.toContain('Bash');
    expect(listed.filter((name) => name.startsWith('mcp__hidden__'))).toEqual([]);
    expect(listed).not.toContain('mcp__shown__crash');
    expect(listed).toEqual(expect.arrayContaining(['Glob', 'Read', 'mcp__shown__echo']));
  });

  it.each(['?', '?format=openai-chat', '?format=openai-responses', '?format=mcp', '?format=full', '?format=table'])(
    'sends the bytes that a new session is sent: %s',
    async (query) => {
      for (const client of [owner, ann]) {
        const own = await client.get(`/tools${query}&session_id=${await client.session()}`);
        expect((await client.get(`/tools${query}`)).text).toBe(own.text);
      }
    },
  );

  it('says in full why a denied tool is hidden', async () => {
    const { tools } = (await owner.get('/tools?format=full')).body;
    expect(tools.find(({ name }) => name === 'Bash')).toMatchObject({ state: 'deny rule: "Bash"' });
    expect((await owner.get('/tools/Bash')).body).toMatchObject({ state: 'deny rule: "Bash"' });
  });

  it('follows the tool mode', async () => {
    expect(await names(owner, '?mode=simple')).not.toContain('Bash');
  });

  it('obeys the settings file of the trusted folder in which the caller would begin, as it is now', async () => {
    expect(await names(ann)).not.toContain('Glob');
    writeProjectDenials(['Grep']);
    const listed = await names(ann);
    expect(listed).toContain('Glob');
    expect(listed).not.toContain('Grep');
  });

  it('obeys the settings for a principal that can have no session', async () => {
    expect(await names(eve)).not.toContain('Bash');
    expect(await names(eve)).toContain('Glob');
  });

  it('is counted at the start as it is listed', async () => {
    const { built_in_count: count } = (await owner.get('/tools')).body;
    expect(server.printed()).toContain(`  tools      ${count}\n`);
  });
});
