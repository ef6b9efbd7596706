/** Containment over a whole server: what runs unasked is held, what was allowed is not, and both are told. */
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { type BuiltServer, runServer, serverHome, startServer } from '../helpers/built-server.ts';
import { block, wireClient, type WireClient } from '../helpers/wire-client.ts';

const bash = (command: string, more: object = {}) => block('Bash', { command, ...more });

/** A folder of programs that holds bash, and no bubblewrap. */
function withoutBubblewrap(): { readonly PATH: string } {
  const PATH = serverHome();
  symlinkSync('/bin/bash', join(PATH, 'bash'));
  return { PATH };
}

async function explain(client: WireClient, sessionId: string, input: object) {
  const { body } = await client.post(`/sessions/${sessionId}/permissions/explain`, { name: 'Bash', input });
  return body;
}

describe('a server with its defaults', () => {
  let server: BuiltServer;
  let client: WireClient;
  let sessionId: string;
  let outside: string;
  const run = async (...blocks: object[]) => client.execute(sessionId, blocks, { on_ask: 'deny' });

  beforeAll(async () => {
    const permissions = { allow: ['Bash(tee:*)', 'Bash(echo out:*)'] };
    server = await startServer({ settings: { permissions } });
    client = wireClient(server);
    sessionId = await client.session();
    outside = join(server.home, 'outside');
    writeFileSync(outside, 'canary\n');
    symlinkSync(outside, join(server.workspace, 'link'));
    writeFileSync(join(server.workspace, 'file'), 'inside\n');
  });

  it('says that a command which only reads runs in a jail', async () => {
    expect(await explain(client, sessionId, { command: 'cat f*' })).toMatchObject({
      behavior: 'allow',
      reason: { type: 'read_only' },
      containment: 'jail',
    });
    expect(await explain(client, sessionId, { command: 'echo out' })).not.toHaveProperty('containment');
  });

  it('prints nothing that lies behind a link, and names the likely cause', async () => {
    const { results, calls } = await run(bash('cat l*'), bash('cat f*'));
    expect(results[0]?.content).not.toContain('canary');
    expect(results[0]?.content).toMatch(/jail[^]*Permission denied/);
    expect(results[0]?.content).toContain('dangerouslyDisableSandbox');
    expect(calls[0]).toMatchObject({ status: 'error', error_code: 'contained' });
    // It ends no call beside it: the jail failed it, not the task.
    expect(results[1]?.content).toBe('inside');
  });

  it('goes on in the folder that a held command moved to', async () => {
    mkdirSync(join(server.workspace, 'sub'));
    await run(bash('cd sub && ls'));
    expect((await run(bash('pwd'))).results[0]?.content).toBe(join(server.workspace, 'sub'));
    await run(bash('cd ..'));
  });

  it('runs outside what a rule allows', async () => {
    const { results } = await run(bash('echo out | tee written'));
    expect(results[0]?.is_error).toBeUndefined();
    expect(existsSync(join(server.workspace, 'written'))).toBe(true);
  });

  it('holds a command in the background too', async () => {
    const { results } = await run(bash('cat l*', { run_in_background: true }));
    const id = /task (\S+)\./.exec(results[0]?.content ?? '')?.[1];
    const output = await run(block('TaskOutput', { task_id: id, block: true }));
    expect(output.results[0]?.content).toContain('Permission denied');
  });

  it('asks a person before it runs one outside', async () => {
    const { calls } = await run(bash('cat l*', { dangerouslyDisableSandbox: true }));
    expect(calls[0]).toMatchObject({ status: 'denied' });
  });

  it('searches for a pattern in the jail, and finds what it found', async () => {
    const { results } = await run(block('Grep', { pattern: 'inside|canary', output_mode: 'content' }));
    expect(results[0]?.content).toContain('inside');
    expect(results[0]?.content).not.toContain('canary');
  });

  it('tells operators what holds, when they ask', async () => {
    expect((await client.get('/readyz')).body).toEqual({ status: 'ready' });
    const containment = { scope: 'reads', reading: 'jail' };
    const verbose = { status: 'ready', uptime_ms: expect.any(Number) as number, containment };
    expect((await client.get('/readyz?verbose')).body).toEqual(verbose);
    const misspelt = await client.get('/readyz?verbos');
    expect([misspelt.status, misspelt.body.error.message]).toEqual([400, expect.stringContaining('verbos')]);
  });
});

it('prints nothing that a rule hides, however it is reached', async () => {
  const server = await startServer({ settings: { permissions: { deny: ['Read(secret/**)'] } } });
  const client = wireClient(server);
  mkdirSync(join(server.workspace, 'secret'));
  writeFileSync(join(server.workspace, 'secret', 'key'), 'hidden\n');
  symlinkSync('secret/key', join(server.workspace, 'alias'));
  writeFileSync(join(server.workspace, 'a-file'), 'shown\n');
  const blocks = [bash('cat al* a-f* 2>/dev/null; true'), bash('for f in a*; do cat "$f"; done; true')];
  const { results } = await client.execute(await client.session(), blocks, { on_ask: 'deny' });
  expect(results.map(({ content }) => content.split('\n').filter((line) => !line.startsWith('cat:')))).toEqual([
    ['shown'],
    ['shown'],
  ]);
});

describe('the setting "containment"', () => {
  it('off: words alone decide, which the banner and explain say', async () => {
    const server = await startServer({ settings: { containment: { scope: 'off' } } });
    const client = wireClient(server);
    expect(server.printed()).toContain('held by their words alone');
    expect(await explain(client, await client.session(), { command: 'ls' })).toMatchObject({ containment: 'words' });
    expect((await client.get('/readyz?verbose')).body).toMatchObject({ containment: { reading: 'words' } });
  });

  it('all: what a rule allowed changes the working directories and nothing else', async () => {
    const permissions = { allow: ['Bash(sh -c:*)', 'Bash(tee:*)'] };
    const server = await startServer({ settings: { permissions, containment: { scope: 'all' } } });
    const client = wireClient(server);
    const outside = join(server.home, 'elsewhere');
    const blocks = [bash('echo a | tee made'), bash(`sh -c 'echo a >${outside}; echo tried'`)];
    const { results } = await client.execute(await client.session(), blocks, { on_ask: 'deny' });
    expect(results[0]?.content).toBe('a');
    expect(results[1]?.content).toContain('tried');
    expect([existsSync(join(server.workspace, 'made')), existsSync(outside)]).toEqual([true, false]);
  });

  it('all: git works where the system has settings of its own for it', async () => {
    const settings = { permissions: { allow: ['Bash(git init:*)'] }, containment: { scope: 'all' } };
    const client = wireClient(await startServer({ settings }));
    const { calls } = await client.execute(await client.session(), [bash('git init -q made')]);
    expect(calls[0]).toMatchObject({ status: 'ok' });
  });

  it('a value that is none stops the start with its name', async () => {
    const { code, stderr } = await runServer({ settings: { containment: { scope: 'writes' } } });
    expect([code, stderr]).toEqual([78, expect.stringContaining('containment.scope')]);
  });

  it('masks by bubblewrap what a rule hides, and asks where there is none', async () => {
    const permissions = { deny: ['Read(secret/**)'] };
    const server = await startServer({ settings: { permissions }, environment: withoutBubblewrap() });
    const client = wireClient(server);
    const sessionId = await client.session();
    expect(await explain(client, sessionId, { command: 'cat file' })).toMatchObject({ containment: 'jail' });
    mkdirSync(join(server.workspace, 'secret'));
    writeFileSync(join(server.workspace, 'secret', 'key'), 'hidden\n');
    const asked = await explain(client, await client.session(), { command: 'cat f*' });
    expect(asked).toMatchObject({ behavior: 'ask', message: expect.stringContaining('bubblewrap is not installed') });
  });
});

describe('a machine that has neither Landlock nor bubblewrap', () => {
  const machine = () => ({ isOlderKernel: true, environment: withoutBubblewrap() });

  it('asks about what only reads', async () => {
    const client = wireClient(await startServer(machine()));
    const sessionId = await client.session();
    const { behavior, message } = await explain(client, sessionId, { command: 'ls' });
    expect([behavior, message]).toEqual(['ask', expect.stringContaining('the kernel has no Landlock')]);
    const { calls } = await client.execute(sessionId, [bash('ls')], { on_ask: 'deny' });
    expect(calls[0]).toMatchObject({ status: 'denied' });
    expect((await client.get('/readyz?verbose')).body).toMatchObject({ containment: { reading: 'asked' } });
  });

  it('lets words alone decide where the operator says so, and says it', async () => {
    const server = await startServer({ ...machine(), settings: { containment: { wordsAlone: true } } });
    const client = wireClient(server);
    expect(await explain(client, await client.session(), { command: 'ls' })).toMatchObject({ containment: 'words' });
    expect(server.printed()).toMatch(/held by their words alone: the kernel has no Landlock/);
  });

  it('stops the start where a jail is required', async () => {
    const { code, stderr } = await runServer({ ...machine(), settings: { containment: { required: true } } });
    expect([code, stderr]).toEqual([
      78,
      expect.stringContaining('"containment.required" is set, and there is no jail'),
    ]);
  });
});

it('holds by bubblewrap alone on a kernel without Landlock', async () => {
  const server = await startServer({ isOlderKernel: true });
  const client = wireClient(server);
  writeFileSync(join(server.workspace, 'file'), 'inside\n');
  writeFileSync(join(server.home, 'outside'), 'canary\n');
  symlinkSync(join(server.home, 'outside'), join(server.workspace, 'name'));
  const { results } = await client.execute(undefined, [bash('cat f*; cat n*; ls -la f*')], {
    on_ask: 'deny',
  });
  expect(results[0]?.content).toContain('inside');
  expect(results[0]?.content).not.toContain('canary');
});
