/** Saved batches: RemoteTrigger, and the request that starts them. */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { serverHome, startServer, type BuiltServer } from '../helpers/built-server.ts';
import { block, wireClient, type WireClient } from '../helpers/wire-client.ts';

const ANN = 'token-of-ann-0123456789abcdef';
let home: string;
let server: BuiltServer;
let client: WireClient;
let made = 0;

beforeAll(async () => {
  home = serverHome();
  mkdirSync(join(home, 'workspace', 'ann'));
  const tokenSha256 = createHash('sha256').update(ANN).digest('hex');
  const principals = [{ name: 'ann', tokenSha256, roots: [join(home, 'workspace', 'ann')] }];
  server = await startServer({ home, settings: { principals } });
  client = wireClient(server);
});

async function begin(options: object = {}) {
  const cwd = join(home, 'workspace', `trigger-${(made += 1)}`);
  mkdirSync(cwd);
  return { cwd, id: await client.session({ cwd, ...options }) };
}

async function run(session: string, input: object, at = client) {
  const { results, calls } = await at.execute(session, [block('RemoteTrigger', input)]);
  return { text: results[0]?.content ?? '', status: calls[0]?.status };
}

const touch = (name: string) => ({ name: 'Bash', input: { command: `touch ${name}` } });
const bodyOf = (...tool_uses: readonly object[]) => ({ title: 'a test', tool_uses });

async function save(session: string, ...tool_uses: readonly object[]): Promise<string> {
  const { text } = await run(session, { action: 'create', body: bodyOf(...tool_uses) });
  return /trg_[0-9a-f]{16}/.exec(text)?.[0] ?? text;
}

describe('RemoteTrigger', () => {
  it('saves, lists, shows, changes and removes a batch', async () => {
    const { id } = await begin({ mode: 'bypassPermissions' });
    const trigger = await save(id, touch('one'));
    expect((await run(id, { action: 'list' })).text).toContain(`${trigger}: a test (Bash), started by POST /triggers/`);
    expect(JSON.parse((await run(id, { action: 'get', trigger_id: trigger })).text)).toMatchObject(
      bodyOf(touch('one')),
    );
    const changed = await run(id, {
      action: 'update',
      trigger_id: trigger,
      body: bodyOf(touch('two'), touch('three')),
    });
    expect(changed.text).toContain('(Bash, Bash)');
    expect((await run(id, { action: 'update', trigger_id: trigger, body: bodyOf() })).text).toBe(`Removed ${trigger}`);
    const gone = await run(id, { action: 'get', trigger_id: trigger });
    expect(gone).toMatchObject({ status: 'error', text: expect.stringContaining('"list" shows') as string });
  });

  it('shows who is asked what is hidden in its title', async () => {
    const { id } = await begin({ on_ask: 'wait' });
    const watcher = await client.stream(id);
    const saving = run(id, { action: 'create', body: { ...bodyOf(touch('x')), title: 'safe\u202e\u200b' } });
    const question = await watcher.next('permission_request');
    expect(question['description']).toContain('safe\\u{202e}\\u{200b}');
    await client.post(`/sessions/${id}/cancel`, {});
    await saving;
  });

  it('asks before it saves, and lists unasked', async () => {
    const { id } = await begin();
    expect(await run(id, { action: 'create', body: bodyOf(touch('x')) })).toMatchObject({ status: 'denied' });
    expect(await run(id, { action: 'list' })).toMatchObject({ status: 'ok' });
  });

  it.each([
    [{ action: 'get' }, '"get" needs "trigger_id"'],
    [{ action: 'create' }, '"create" needs "body"'],
    [{ action: 'list', trigger_id: 'x' }, 'leave it out'],
    [{ action: 'create', body: bodyOf() }, 'name a call'],
    [{ action: 'run', trigger_id: '../x' }, 'There is no trigger "../x"'],
  ])('says what is wrong with %j', async (input, message) => {
    const { id } = await begin({ mode: 'bypassPermissions' });
    expect(await run(id, input)).toMatchObject({ status: 'error', text: expect.stringContaining(message) as string });
  });

  it('runs a batch in the session itself, each call with its own rules', async () => {
    const { id, cwd } = await begin({ mode: 'bypassPermissions' });
    const trigger = await save(id, touch('made'), { name: 'Bash', input: { command: 'false' } });
    const { text, status } = await run(id, { action: 'run', trigger_id: trigger });
    expect({ text, status }).toMatchObject({
      status: 'ok',
      text: expect.stringMatching(/^Bash: ok[^]*Bash: error/) as string,
    });
    expect(existsSync(join(cwd, 'made'))).toBe(true);
    const careful = await begin();
    expect((await run(careful.id, { action: 'run', trigger_id: trigger })).text).toMatch(/^Bash: denied/);
  });
});

describe('POST /triggers/{id}', () => {
  it('runs the batch in a session of its own, after a restart too', async () => {
    const { id, cwd } = await begin({ mode: 'bypassPermissions' });
    const trigger = await save(id, touch('made'), { name: 'Glob', input: { pattern: 'made' } });
    await server.end('SIGKILL');
    server = await startServer({ home });
    client = wireClient(server);
    const { status, body } = await client.post(`/triggers/${trigger}`);
    expect(status).toBe(200);
    expect(body.calls.map((call) => [call['name'], call.status])).toEqual([
      ['Bash', 'ok'],
      ['Glob', 'ok'],
    ]);
    expect(body.results[1]?.content).toContain('made');
    expect(body.session_id).not.toBe(id);
    expect(existsSync(join(cwd, 'made'))).toBe(true);
    expect((await client.get(`/sessions/${body.session_id}`)).body).toMatchObject({ title: 'a test', cwd });
  });

  it('has no tools that the session which saved it had not', async () => {
    const { id, cwd } = await begin({ mode: 'bypassPermissions', tools: ['RemoteTrigger'] });
    const trigger = await save(id, touch('other'));
    const { body } = await client.post(`/triggers/${trigger}`);
    expect(body.calls).toMatchObject([{ error_code: 'unknown_tool' }]);
    expect(existsSync(join(cwd, 'other'))).toBe(false);
  });

  it('may do no more than the session that saved it might, nor more than it may now', async () => {
    const narrow = await begin({ rules: { allow: ['RemoteTrigger'] } });
    const early = await save(narrow.id, touch('widened'));
    const wide = await begin({ mode: 'bypassPermissions' });
    const late = await save(wide.id, touch('widened'));
    const setMode = (mode: string) => ({ updates: [{ type: 'setMode', mode }] });
    await client.post(`/sessions/${narrow.id}/permissions`, setMode('bypassPermissions'));
    await client.post(`/sessions/${wide.id}/permissions`, setMode('default'));
    for (const trigger of [early, late]) {
      const { body } = await client.post(`/triggers/${trigger}`);
      expect(body.calls).toMatchObject([{ status: 'denied' }]);
    }
    await client.send('DELETE', `/sessions/${narrow.id}`);
    expect((await client.post(`/triggers/${early}`)).body.calls).toMatchObject([{ status: 'denied' }]);
    expect([narrow, wide].some(({ cwd }) => existsSync(join(cwd, 'widened')))).toBe(false);
  });

  it('is 404 for what is not there and for what belongs to another, and wants a token and no body', async () => {
    const { id } = await begin({ mode: 'bypassPermissions' });
    const trigger = await save(id, touch('x'));
    const ann = wireClient({ url: server.url, token: ANN });
    expect((await ann.post(`/triggers/${trigger}`)).status).toBe(404);
    expect((await client.post('/triggers/trg_0000000000000000')).status).toBe(404);
    expect((await wireClient({ url: server.url, token: 'wrong' }).post(`/triggers/${trigger}`)).status).toBe(401);
    expect((await client.post(`/triggers/${trigger}`, { tool_uses: [] })).status).toBe(400);
  });
});
