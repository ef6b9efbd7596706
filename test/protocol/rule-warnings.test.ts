/** PROTOCOL 3: rules that can never decide anything are told of in the reply to whoever sent them. */
import { beforeAll, expect, it } from 'vitest';
import { sharedWorkspace } from '../helpers/shared-workspace.ts';
import { block, until, type WireClient } from '../helpers/wire-client.ts';

const NO_TOOL = 'Rule "Bsah(rm:*)" never decides anything: there is no tool "Bsah"';

let client: WireClient;
let folder: string;

beforeAll(async () => {
  ({ client, folder } = await sharedWorkspace('rule-warnings'));
});

it('a rule of a new session that names no tool comes back as a warning', async () => {
  const { status, body } = await client.post('/sessions', {
    rules: { deny: ['Bsah(rm:*)'], allow: ['Bash(touch:*)'] },
  });
  expect({ status, warnings: body['warnings'] }).toEqual({ status: 201, warnings: [NO_TOOL] });
  const again = (await client.get(`/sessions/${body.session_id}`)).body;
  expect(again).not.toHaveProperty('warnings');
});

it('a rule that an update adds and that names no tool comes back as a warning, and earlier ones do not', async () => {
  const sessionId = await client.session({ rules: { deny: ['Raed'] } });
  const update = (rules: readonly string[]) =>
    client.post(`/sessions/${sessionId}/permissions`, { updates: [{ type: 'addRules', behavior: 'deny', rules }] });
  expect((await update(['Bsah(rm:*)', 'bash(ls)'])).body['warnings']).toEqual([
    NO_TOOL,
    'Rule "bash(ls)" never decides anything: there is no tool "bash"; "Bash" is one',
  ]);
  expect((await update(['Bash(rm:*)', 'FileRead', 'mcp', 'Edit(x/**)'])).body).not.toHaveProperty('warnings');
});

it('a rule that an answer adds and that names no tool comes back as a warning', async () => {
  const sessionId = await client.session({ cwd: folder });
  const executed = client.execute(sessionId, [block('Bash', { command: 'touch a' })], { on_ask: 'wait' });
  const prompt = await until(async () => (await client.get(`/sessions/${sessionId}/prompts`)).body.prompts[0]);
  const { body } = await client.post(`/sessions/${sessionId}/prompts/${prompt.request_id}`, {
    behavior: 'allow',
    updated_permissions: [{ type: 'addRules', behavior: 'allow', rules: ['Bsah(rm:*)'] }],
  });
  expect(body['warnings']).toEqual([NO_TOOL]);
  expect((await executed).calls).toMatchObject([{ status: 'ok' }]);
});
