/** PROTOCOL 3: what the settings files of a workspace may add, and that nobody is believed unasked. */
import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { type BuiltServer, serverHome, startServer } from '../helpers/built-server.ts';
import { block, wireClient, type WireClient } from '../helpers/wire-client.ts';

const home = serverHome();
const settings = { trustedWorkspaces: ['trusted', 'malformed', 'linked', 'missing'] };
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
  server = await startServer({ home, settings });
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
