/** Tools that know code, over the wire. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { type BuiltServer, serverHome, startServer } from '../helpers/built-server.ts';
import { processesWith } from '../helpers/process-host.ts';
import { block, until, wireClient, type WireClient } from '../helpers/wire-client.ts';

const ROOT = join(import.meta.dirname, '../..');

let server: BuiltServer;
let client: WireClient;

beforeAll(async () => {
  const home = serverHome();
  server = await startServer({
    home,
    settings: {
      languageServers: {
        odd: {
          command: process.execPath,
          args: [join(ROOT, 'test/fixtures/language-server.mjs')],
          extensions: ['odd'],
          readFolders: [join(ROOT, 'test/fixtures')],
          env: { ODD_SERVER: home },
        },
      },
    },
  });
  client = wireClient(server);
  mkdirSync(join(server.workspace, 'denied'));
  for (const name of ['list', 'escape']) writeFileSync(join(server.workspace, `${name}.odd`), 'x\n');
});

const run = async (session: string, name: string, input: object) => {
  const { results, calls } = await client.execute(session, [block(name, input)]);
  return { content: results[0]?.content ?? '', call: calls[0] };
};

describe('LSP over the wire', () => {
  const definition = { operation: 'definition', filePath: 'list.odd', line: 1, character: 1 };

  it('answers unasked, in plan mode too, names no denied place, and its server ends with the session', async () => {
    const id = await client.session({ mode: 'plan', rules: { deny: ['Read(denied/**)'] } });
    expect((await run(id, 'LSP', definition)).content).toBe('2 definitions:\nshown.ts:1:1\n/usr/lib/x.ts:1:1');
    expect(processesWith(`ODD_SERVER=${server.home}`)).not.toEqual([]);
    await client.send('DELETE', `/sessions/${id}`);
    await until(() => Promise.resolve(processesWith(`ODD_SERVER=${server.home}`).length === 0));
  });

  it('is asked about outside the workspace, and refused for files that a rule denies', async () => {
    const id = await client.session({ rules: { deny: ['Read(list.odd)'] } });
    expect((await run(id, 'LSP', definition)).call?.error_code).toBe('permission_denied');
    expect((await run(id, 'LSP', { ...definition, filePath: '/etc/x.odd' })).call?.error_code).toBe(
      'permission_denied',
    );
  });

  it('says what it lacks', async () => {
    const id = await client.session();
    expect((await run(id, 'LSP', { ...definition, filePath: 'a.py' })).content).toContain('no language server for .py');
    const bare = await startServer();
    const { tools } = (await wireClient(bare).get('/tools?format=full')).body;
    const lsp = tools.find(({ name }) => name === 'LSP') as { state?: string } | undefined;
    expect(lsp?.state).toContain('set "languageServers"');
  });
});
