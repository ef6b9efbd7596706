/** PROTOCOL 3: the decision about a call, explained before anybody is asked. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { sharedWorkspace } from '../helpers/shared-workspace.ts';
import { block, type WireBody, type WireClient } from '../helpers/wire-client.ts';

let client: WireClient;
let folder: string;

beforeAll(async () => {
  ({ client, folder } = await sharedWorkspace('explain'));
});

const session = (options: object = {}) => client.session({ cwd: folder, on_ask: 'deny', ...options });

async function explain(sessionId: string, name: string, input: object): Promise<WireBody> {
  return (await client.post(`/sessions/${sessionId}/permissions/explain`, { name, input })).body;
}

describe('explain', () => {
  it.each<[string, object, string, object, object]>([
    [
      'a reading command',
      {},
      'Bash',
      { command: 'ls' },
      { behavior: 'allow', reason: { type: 'read_only' }, read_only: true, concurrency_safe: true },
    ],
    [
      'a changing command',
      {},
      'Bash',
      { command: 'touch a' },
      { behavior: 'ask', read_only: false, concurrency_safe: false, allowed_by: ['Bash(touch:*)'] },
    ],
    [
      'a word that may be what a rule is about',
      { mode: 'bypassPermissions', rules: { deny: ['Bash(npm publish:*)'] } },
      'Bash',
      { command: 'npm "$x"' },
      { behavior: 'ask', reason: { type: 'rule', rule: 'Bash(npm publish:*)', source: 'session' } },
    ],
    [
      'a rule',
      { rules: { allow: ['Bash(touch:*)'] } },
      'Bash',
      { command: 'touch a' },
      { behavior: 'allow', reason: { type: 'rule', rule: 'Bash(touch:*)', source: 'session' } },
    ],
    [
      'a compound',
      { rules: { deny: ['Bash(rm:*)'] } },
      'Bash',
      { command: 'ls; rm a' },
      { behavior: 'deny', reason: { type: 'rule', rule: 'Bash(rm:*)' } },
    ],
    [
      'a compound allowed by its parts',
      { rules: { allow: ['Bash(touch:*)', 'Bash(mkdir:*)'] } },
      'Bash',
      { command: 'touch a && mkdir b' },
      { behavior: 'allow', reason: { type: 'rule' } },
    ],
    [
      'a mode',
      { mode: 'bypassPermissions' },
      'Bash',
      { command: 'touch a' },
      { behavior: 'allow', reason: { type: 'mode', mode: 'bypassPermissions' } },
    ],
    [
      'plan',
      { mode: 'plan' },
      'Bash',
      { command: 'touch a' },
      { behavior: 'deny', reason: { type: 'mode', mode: 'plan' } },
    ],
    [
      'a safety check',
      { mode: 'bypassPermissions' },
      'Write',
      { file_path: '.git/config', content: '' },
      { behavior: 'ask', reason: { type: 'safety_check' } },
    ],
    ['what cannot be parsed', {}, 'Bash', { command: 'echo "' }, { behavior: 'ask', reason: { type: 'parse_error' } }],
    ['something destructive', {}, 'Bash', { command: 'rm -rf build' }, { behavior: 'ask', destructive: true }],
    [
      'dontAsk',
      { mode: 'dontAsk' },
      'Bash',
      { command: 'touch a' },
      { behavior: 'deny', reason: { type: 'mode', mode: 'dontAsk' } },
    ],
  ])('says why: %s', async (_what, options, name, input, expected) => {
    const body = await explain(await session(options), name, input);
    expect(body).toMatchObject(expected);
    expect(body).toMatchObject({
      message: expect.any(String),
      warnings: expect.any(Array),
      suggestions: expect.any(Array),
    });
    for (const field of ['read_only', 'concurrency_safe', 'destructive']) expect(body[field]).toBeTypeOf('boolean');
  });

  it('suggests the prefix, as an update that can be posted, and runs nothing', async () => {
    const id = await session();
    const { suggestions } = await explain(id, 'Bash', { command: 'touch explained' });
    const [suggestion] = suggestions as object[];
    expect(suggestion).toMatchObject({ type: 'addRules', behavior: 'allow', rules: ['Bash(touch:*)'] });
    expect((await client.post(`/sessions/${id}/permissions`, { updates: [suggestion] })).status).toBe(200);
    expect(existsSync(join(folder, 'explained'))).toBe(false);
    const { calls } = await client.execute(id, [block('Bash', { command: 'touch explained' })]);
    expect(calls[0]).toMatchObject({ status: 'ok' });
  });

  it('suggests no bare interpreter or wrapper', async () => {
    const id = await session();
    for (const command of [
      'bash -c "touch a"',
      'python3 -c 1',
      'env X=1 touch a',
      'sudo touch a',
      'node -e 1',
      'xargs touch',
    ]) {
      const text = JSON.stringify((await explain(id, 'Bash', { command }))['suggestions']);
      expect(text, command).not.toMatch(/Bash\((bash|sh|python3?|env|sudo|node|xargs)(:\*)?\)/);
    }
  });

  it('refuses a tool that is not there and an input that does not fit', async () => {
    const id = await session();
    const ask = (body: object) => client.post(`/sessions/${id}/permissions/explain`, body);
    expect((await ask({ name: 'Nothing', input: {} })).status).toBeGreaterThanOrEqual(400);
    expect((await ask({ name: 'Bash', input: {} })).status).toBe(400);
    expect((await ask({ name: 'Bash' })).status).toBe(400);
  });
});
