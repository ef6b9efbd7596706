/** The server's own data is in nobody's reach: not by a path, a link, a search, a working directory or a command. */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { serverHome, startServer } from '../helpers/built-server.ts';
import { create, glob, grep, judge, read, write, type Judge } from '../helpers/file-calls.ts';
import { block, wireClient, type WireClient } from '../helpers/wire-client.ts';

const home = serverHome();
const root = join(home, 'workspace');
const data = join(home, 'data');
const token = 'canary-token-by-hand-0123';

let client: WireClient;
let decision: Judge['decision'];
let outcome: Judge['outcome'];
let spilled: string;
let owner: string;

beforeAll(async () => {
  writeFileSync(join(home, 'token-by-hand'), `${token}\n`, { mode: 0o600 });
  mkdirSync(join(home, 'beside'));
  symlinkSync(data, join(root, 'data-link'));
  const environment = { GAUNTLET_TOKEN: '', GAUNTLET_TOKEN_FILE: join(home, 'token-by-hand') };
  client = wireClient(await startServer({ home, environment }));
  ({ decision, outcome } = judge(client, home));
  owner = await client.session({ mode: 'bypassPermissions' });
  const { calls } = await client.execute(owner, [block('Bash', { command: 'head -c 200000 /dev/zero | tr "\\0" q' })]);
  spilled = calls[0]?.spilled?.path ?? '';
});

const bypassing = () => client.session({ mode: 'bypassPermissions' });

describe('a folder of the server', () => {
  it.each([home, data, join(data, 'sessions'), join(root, 'data-link'), join(root, 'data-link/sessions')])(
    'is no working directory: %s',
    async (folder) => {
      const id = await bypassing();
      const updates = [{ type: 'addDirectories', directories: [folder] }];
      const replies = [
        await client.post('/sessions', { cwd: folder }),
        await client.post('/sessions', { additional_directories: [folder] }),
        await client.post(`/sessions/${id}/permissions`, { updates }),
      ];
      expect(replies.map(({ status, body }) => [status, body.error.code])).toEqual(Array(3).fill([403, 'forbidden']));
    },
  );

  it('is neither read nor written, whatever leads there', async () => {
    const id = await client.session({ mode: 'bypassPermissions', rules: { allow: ['Read', 'Edit', 'Bash'] } });
    for (const path of [data, join(data, 'id'), join(root, 'data-link/id'), spilled, join(home, 'token-by-hand')]) {
      for (const call of [read(path), write(path), create(path), grep('.', { path })]) {
        expect({ call, is: await decision(id, call) }).toEqual({ call, is: 'deny' });
      }
      expect(await outcome(id, write(path))).toMatchObject({ status: 'denied' });
      expect(await decision(id, ['Bash', { command: `head -c 10 '${path}'` }])).toBe('deny');
    }
  });

  it('is not found by a search from above', async () => {
    const id = await bypassing();
    for (const call of [
      glob('**', home),
      glob('**/id', home),
      glob('**/token-by-hand', home),
      grep('canary-token', { path: home }),
      grep('qqqq', { path: home }),
    ]) {
      const { status, text } = await outcome(id, call);
      expect(status).toBe('ok');
      expect(text).not.toMatch(/data\/|token-by-hand|canary-token/);
    }
  });

  it('does not forbid searches that follow links elsewhere: they are asked about, and a rule lets them pass', async () => {
    const [asked, allowed] = [
      await client.session(),
      await client.session({ rules: { allow: ['Bash(grep:*)', 'Bash(diff:*)'] } }),
    ];
    for (const command of ['grep -R foo .', 'diff -r one two']) {
      expect(await decision(asked, ['Bash', { command }])).toBe('ask');
      expect(await decision(allowed, ['Bash', { command }])).toBe('allow');
    }
    for (const command of ['grep -R foo data-link', `grep -r foo '${home}'`, `diff -r one '${data}'`])
      expect(await decision(allowed, ['Bash', { command }])).toBe('deny');
  });

  it('shows a session the results that are its own, and no more', async () => {
    expect(await outcome(owner, grep('qqqq', { path: spilled, output_mode: 'count' }))).toMatchObject({ status: 'ok' });
    expect(await decision(owner, write(spilled))).toBe('deny');
  });
});

describe('what decides how the server starts', () => {
  it('asks before it is written, whatever the mode and whether it exists: row 52', async () => {
    const place = serverHome();
    const workspace = join(place, 'workspace');
    writeFileSync(join(workspace, 'policy.json'), '{}');
    writeFileSync(
      join(workspace, 'plugin.mjs'),
      `import { z } from '${import.meta.resolve('zod')}';
      export default { name: 'Own', inputSchema: z.strictObject({}), prompt: () => 'x', description: () => 'x', call: async () => ({ data: 1 }) };`,
    );
    writeFileSync(join(workspace, 'settings.json'), JSON.stringify({ plugins: ['./plugin.mjs'] }));
    const environment = {
      GAUNTLET_CONFIG: join(workspace, 'settings.json'),
      GAUNTLET_POLICY: join(workspace, 'policy.json'),
    };
    const own = await startServer({ home: place, environment });
    const { decision: decide } = judge(wireClient(own), place);
    for (const mode of ['acceptEdits', 'bypassPermissions']) {
      const id = await wireClient(own).session({ mode, rules: { allow: ['Edit', 'Write'] } });
      for (const name of ['settings.json', 'SETTINGS.json', 'policy.json', 'plugin.mjs', './x/../plugin.mjs']) {
        if (name.startsWith('./x')) mkdirSync(join(workspace, 'x'), { recursive: true });
        expect({ name, is: await decide(id, write(name)) }).toEqual({ name, is: 'ask' });
      }
    }
  });
});

describe('a command that leaves the workspace', () => {
  it.each(['cd /', `cd ${join(home, 'workspace', 'out')}`])('comes back to it: row 64, %s', async (command) => {
    const id = await client.session({ cwd: root, mode: 'bypassPermissions' });
    symlinkSync('/', join(root, `out-${id}`));
    const { text } = await outcome(id, ['Bash', { command: command.replace(/out$/, `out-${id}`) }]);
    expect(text).toContain('The working directory was reset');
    expect((await client.get(`/sessions/${id}`)).body['cwd']).toBe(root);
    expect((await outcome(id, read('etc/hostname'))).text).toContain('does not exist');
  });
});
