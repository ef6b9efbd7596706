/** Tools that know code, over the wire. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
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

/** Nothing may run on when the file is through: what sessions keep ends with them. */
afterAll(async () => {
  for (const { session_id } of (await client.get('/sessions')).body.sessions) {
    await client.send('DELETE', `/sessions/${session_id}`);
  }
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

describe('REPL over the wire', () => {
  it('calls tools through the gate, as frames of their own, and keeps values', async () => {
    const id = await client.session({ rules: { allow: ['Write(made/**)'], deny: ['Bash(touch:*)'] } });
    const made = await run(id, 'REPL', {
      code: `const paths = ['a', 'b'].map((name) => 'made/' + name);
        await Promise.all(paths.map((file_path) => Write({ file_path, content: 'text' })));
        const refused = await Bash({ command: 'touch x' }).catch((error) => error.code);
        [refused, (await Glob({ pattern: 'made/*' })).split('\\n').sort(), await Bash({ command: 'echo hello' })]`,
    });
    expect(made.content).toBe("[ 'permission_denied', [ 'made/a', 'made/b' ], 'hello' ]");
    expect(readFileSync(join(server.workspace, 'made/a'), 'utf8')).toBe('text');
    expect(existsSync(join(server.workspace, 'x'))).toBe(false);
    expect((await run(id, 'REPL', { code: 'paths.length' })).content).toBe('2');
    const frames = await client.frames(id);
    const parents = frames.filter(
      ({ type, parent_tool_use_id }) => type === 'started' && parent_tool_use_id !== undefined,
    );
    expect(parents.length).toBeGreaterThanOrEqual(4);
  });

  it('asks a person for a tool call that no rule allows, while the code waits', async () => {
    const id = await client.session({ on_ask: 'wait' });
    const running = run(id, 'REPL', { code: `await Bash({ command: 'touch asked' })`, timeout: 2_000 });
    const prompt = await until(async () => (await client.get(`/sessions/${id}/prompts`)).body.prompts[0]);
    expect(prompt).toMatchObject({ tool_name: 'Bash' });
    await client.post(`/sessions/${id}/prompts/${prompt.request_id}`, { behavior: 'allow' });
    expect((await running).call?.status).toBe('ok');
    expect(existsSync(join(server.workspace, 'asked'))).toBe(true);
  });

  it('is in mode repl the only way to the primitives', async () => {
    const { tools } = (await client.get('/tools?mode=repl')).body;
    const names = tools.map(({ name }) => name);
    expect(names).toContain('REPL');
    for (const hidden of ['Bash', 'Edit', 'Glob', 'Grep', 'NotebookEdit', 'Read', 'Write'])
      expect(names).not.toContain(hidden);
    expect(tools.find(({ name }) => name === 'REPL')?.['description']).toMatch(
      /\nRead\(\{file_path, offset\?, limit\?, pages\?\}\)/,
    );
    const id = await client.session({ tool_mode: 'repl', rules: { deny: ['Write'] } });
    const direct = await run(id, 'Read', { file_path: 'list.odd' });
    expect(direct.call?.error_code).toBe('unknown_tool');
    expect((await run(id, 'REPL', { code: `await Read({ file_path: 'list.odd' })` })).content).toContain('x');
    const denied = await run(id, 'REPL', { code: 'typeof Write' });
    expect(denied.content).toBe("'undefined'");
  });

  it('runs in plan mode, where its calls only read', async () => {
    const id = await client.session({ mode: 'plan' });
    const { content } = await run(id, 'REPL', {
      code: `[(await Read({ file_path: 'list.odd' })).length > 0, await Bash({ command: 'touch planned' }).catch((e) => e.code)]`,
    });
    expect(content).toBe("[ true, 'permission_denied' ]");
  });

  it('ends with its session, and its code reaches no file by itself', async () => {
    const id = await client.session();
    const { content } = await run(id, 'REPL', {
      code: `require('fs').readFileSync(${JSON.stringify(join(server.dataFolder, 'token'))})`,
    });
    expect(content).toContain('Access to this API has been restricted');
    const { content: pid } = await run(id, 'REPL', { code: 'process.pid' });
    await client.send('DELETE', `/sessions/${id}`);
    await until(() => Promise.resolve(!existsSync(`/proc/${pid}`)));
  });

  it('is refused for a mode that needs a REPL, where it is switched off', async () => {
    const bare = wireClient(await startServer({ settings: { features: { REPL: false } } }));
    for (const reply of [await bare.get('/tools?mode=repl'), await bare.post('/sessions', { tool_mode: 'repl' })]) {
      expect(reply.status).toBe(400);
      expect(reply.body.error.message).toContain('the REPL is switched off on this server');
    }
  });

  it('asks about each run where nothing holds the code', async () => {
    const bare = wireClient(await startServer({ settings: { containment: { scope: 'off' } } }));
    const id = await bare.session();
    const { results, calls } = await bare.execute(id, [block('REPL', { code: '1' })]);
    expect(calls[0]?.error_code).toBe('permission_denied');
    expect(results[0]?.content).toContain('the jail is switched off');
    const allowed = await bare.session({ rules: { allow: ['REPL'] } });
    expect((await bare.execute(allowed, [block('REPL', { code: '1 + 1' })])).results[0]?.content).toBe('2');
    await bare.send('DELETE', `/sessions/${allowed}`);
  });
});
