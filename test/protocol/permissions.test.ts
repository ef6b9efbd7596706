/** PROTOCOL 3: rules, modes, and how they are changed. */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { startServer } from '../helpers/built-server.ts';
import { sharedWorkspace } from '../helpers/shared-workspace.ts';
import { block, wireClient, type WireClient } from '../helpers/wire-client.ts';

let client: WireClient;
let folder: string;

beforeAll(async () => {
  ({ client, folder } = await sharedWorkspace('permissions'));
  writeFileSync(join(folder, 'notes.txt'), 'notes\n');
  writeFileSync(join(folder, '.env'), 'SECRET=1\n');
});

const session = (options: object = {}) => client.session({ cwd: folder, on_ask: 'deny', ...options });
const bash = (command: string) => block('Bash', { command });

/** `status` of one call, with its text. */
async function run(sessionId: string, call: object): Promise<{ status?: string; code?: string; text?: string }> {
  const { calls, results } = await client.execute(sessionId, [call]);
  return { status: calls[0]?.status, code: calls[0]?.error_code, text: results[0]?.content };
}

const update = (sessionId: string, ...updates: object[]) =>
  client.post(`/sessions/${sessionId}/permissions`, { updates });

describe('a rule', () => {
  it('allows a prefix, and nothing that merely begins like it or adds to it', async () => {
    const id = await session({ rules: { allow: ['Bash(touch:*)'] } });
    expect(await run(id, bash('touch one'))).toMatchObject({ status: 'ok' });
    for (const command of [
      'touchy one',
      'touch two; rm -f two',
      'touch three && chmod 777 three',
      'touch $(id >four)',
    ]) {
      expect(await run(id, bash(command))).toMatchObject({ status: 'denied', code: 'permission_denied' });
    }
  });

  it('that denies one part denies the whole, in every mode', async () => {
    for (const mode of ['default', 'acceptEdits', 'bypassPermissions']) {
      const id = await session({ mode, rules: { allow: ['Bash'], deny: ['Bash(rm:*)'] } });
      for (const command of [
        'rm -f x',
        'true; rm -f x',
        'FOO=1 rm -f x',
        '\\rm -f x',
        'command rm -f x',
        'ls | xargs rm',
      ]) {
        expect(await run(id, bash(command)), `${mode}: ${command}`).toMatchObject({ status: 'denied' });
      }
    }
  });

  it('that denies a path holds for Read, for Grep and for the shell', async () => {
    const id = await session({ rules: { deny: ['Read(./.env)'], allow: ['Bash', 'Read'] } });
    expect(await run(id, block('Read', { file_path: '.env' }))).toMatchObject({ status: 'denied' });
    expect(await run(id, block('Read', { file_path: join(folder, 'x/../.env') }))).toMatchObject({ status: 'denied' });
    for (const command of ['cat .env', 'cat < ./.env', `head ${folder}/.env`]) {
      expect((await run(id, bash(command))).status, command).toBe('denied');
    }
    const grep = await run(id, block('Grep', { pattern: 'SECRET', output_mode: 'content' }));
    expect(grep.text).not.toContain('SECRET=1');
  });

  it('that denies a whole tool hides it, under its old names too', async () => {
    const id = await session({ rules: { deny: ['Read'] } });
    for (const name of ['Read', 'FileRead']) {
      expect(await run(id, block(name, { file_path: 'notes.txt' }))).toMatchObject({
        status: 'denied',
        code: 'permission_denied',
      });
    }
  });

  it('that would allow it is named when it is denied for want of somebody to ask', async () => {
    expect((await run(await session(), bash('touch five'))).text).toContain('Bash(touch:*)');
    expect(existsSync(join(folder, 'five'))).toBe(false);
  });
});

describe('a mode', () => {
  it('plan denies what does not only read, rules or not', async () => {
    const id = await session({ mode: 'plan', rules: { allow: ['Bash', 'Write'] } });
    expect(await run(id, bash('touch six'))).toMatchObject({ status: 'denied' });
    expect(await run(id, block('Write', { file_path: 'six', content: '' }))).toMatchObject({ status: 'denied' });
    expect(await run(id, bash('cat notes.txt'))).toMatchObject({ status: 'ok' });
  });

  it('acceptEdits edits inside the folder, not outside, and not where it would be run', async () => {
    const id = await session({ mode: 'acceptEdits' });
    const write = (file_path: string) => run(id, block('Write', { file_path, content: 'x' }));
    expect(await write('seven')).toMatchObject({ status: 'ok' });
    for (const path of [
      '../outside',
      '/tmp/gauntlet-outside',
      '.git/hooks/pre-commit',
      '.vscode/tasks.json',
      '.envrc',
    ]) {
      expect((await write(path)).status, path).toBe('denied');
    }
    expect(await run(id, bash('curl http://127.0.0.1:1'))).toMatchObject({ status: 'denied' });
  });

  it('dontAsk denies what would be asked', async () => {
    const id = await session({ mode: 'dontAsk', on_ask: 'wait', rules: { allow: ['Bash(touch:*)'] } });
    expect(await run(id, bash('mkdir d'))).toMatchObject({ status: 'denied' });
    expect(await run(id, bash('touch eight'))).toMatchObject({ status: 'ok' });
  });

  it('bypassPermissions allows, but asks for what is never safe', async () => {
    const id = await session({ mode: 'bypassPermissions' });
    expect(await run(id, bash('mkdir nine'))).toMatchObject({ status: 'ok' });
    const hook = block('Write', { file_path: '.git/hooks/pre-commit', content: 'x' });
    expect(await run(id, hook)).toMatchObject({ status: 'denied' });
  });

  it('bypassPermissions is forbidden where the settings disable it', async () => {
    const settings = { permissions: { disableBypassPermissionsMode: 'disable' } };
    const strict = wireClient(await startServer({ settings }));
    expect((await strict.post('/sessions', { mode: 'bypassPermissions' })).status).toBe(403);
    const id = await strict.session();
    const updates = [{ type: 'setMode', mode: 'bypassPermissions' }];
    expect((await strict.post(`/sessions/${id}/permissions`, { updates })).status).toBe(403);
    expect((await strict.get(`/sessions/${id}/permissions`)).body).toMatchObject({
      is_bypass_available: false,
      version: 1,
    });
  });
});

describe('an update', () => {
  it('of many parts makes one next version, which is the reply', async () => {
    const id = await session({ rules: { allow: ['Bash(ls:*)'] } });
    const { status, body } = await update(
      id,
      { type: 'setMode', mode: 'acceptEdits' },
      { type: 'addRules', behavior: 'allow', rules: ['Bash(touch:*)'] },
      { type: 'removeRules', behavior: 'allow', rules: ['Bash(ls:*)'] },
      { type: 'replaceRules', behavior: 'deny', rules: ['Sleep'] },
      { type: 'addDirectories', directories: ['/usr/share'] },
    );
    expect(status).toBe(200);
    expect(body).toMatchObject({
      version: 2,
      mode: 'acceptEdits',
      rules: { session: { allow: ['Bash(touch:*)'], deny: ['Sleep'] } },
      additional_directories: ['/usr/share'],
    });
    expect((await client.get(`/sessions/${id}/permissions`)).body).toEqual(body);
    const context = (await client.frames(id)).filter(({ type }) => type === 'context').at(-1);
    expect(context).toMatchObject({ version: 2, permission_context: body });
  });

  it('that is wrong in one part changes nothing', async () => {
    const id = await session();
    const good = { type: 'addRules', behavior: 'allow', rules: ['Bash'] };
    for (const bad of [
      { type: 'setMode', mode: 'loud' },
      { ...good, rules: ['Bash('] },
      { ...good, behavior: 'maybe' },
      { type: 'x' },
    ]) {
      expect((await update(id, good, bad)).status).toBe(400);
    }
    expect((await client.get(`/sessions/${id}/permissions`)).body).toMatchObject({ version: 1 });
    expect((await update(id)).status).toBe(400);
  });

  it('does not reach rules of the settings', async () => {
    const settings = { permissions: { deny: ['Bash(touch:*)'], allow: ['Bash(mkdir:*)'] } };
    const strict = wireClient(await startServer({ settings }));
    const id = await strict.session({ on_ask: 'deny' });
    const change = (updates: object[]) => strict.post(`/sessions/${id}/permissions`, { updates });
    expect((await change([{ type: 'removeRules', behavior: 'deny', rules: ['Bash(touch:*)'] }])).status).toBe(403);
    const { body } = await change([
      { type: 'replaceRules', behavior: 'deny', rules: [] },
      { type: 'addRules', behavior: 'allow', rules: ['Bash(touch:*)'] },
    ]);
    expect(body).toMatchObject({ version: 2, rules: { userSettings: settings.permissions } });
    const { calls } = await strict.execute(id, [bash('touch x'), bash('mkdir y')]);
    expect(calls.map(({ status }) => status)).toEqual(['denied', 'ok']);
  });

  it('leaves calls that run the version they started with', async () => {
    const id = await session({ rules: { allow: ['Bash'] } });
    const stream = await client.stream(id);
    const call = bash('until [ -e go ]; do sleep 0.02; done; echo done');
    stream.send({ type: 'tool_use', tool_use: call });
    await stream.next(({ type, state }) => type === 'state' && state === 'executing');
    await update(
      id,
      { type: 'replaceRules', behavior: 'allow', rules: [] },
      { type: 'addRules', behavior: 'deny', rules: ['Bash'] },
    );
    writeFileSync(join(folder, 'go'), '');
    expect(await stream.next('result')).toMatchObject({ call: { status: 'ok' } });
    await stream.close();
  });
});
