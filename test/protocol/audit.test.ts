/** The audit trail of a whole server: what is in it, and what never is. */
import { createHash } from 'node:crypto';
import { lstatSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { startServer, type BuiltServer } from '../helpers/built-server.ts';
import { block, until, wireClient, type WireClient } from '../helpers/wire-client.ts';

const ANN = 'token-of-ann-0123456789';
const settings = {
  permissions: { deny: ['Bash(rm:*)'], allow: ['Bash(mkdir:*)'] },
  principals: [{ name: 'ann', tokenSha256: createHash('sha256').update(ANN).digest('hex'), roots: ['.'] }],
};

let server: BuiltServer;
let client: WireClient;
let ann: WireClient;

beforeAll(async () => {
  server = await startServer({ settings });
  client = wireClient(server);
  ann = wireClient({ ...server, token: ANN });
});

const text = () => readFileSync(join(server.dataFolder, 'audit', 'audit.jsonl'), 'utf8');
const lines = (event: string) =>
  text()
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Record<string, unknown>)
    .filter((line) => line['event'] === event);
const callLine = (id: string) => until(() => Promise.resolve(lines('call').find((line) => line['tool_use_id'] === id)));
const bash = (command: string, id: string) => block('Bash', { command }, id);

it('says of each call how it was decided and what it came to', async () => {
  const session = await ann.session({ title: 'audited' });
  await ann.execute(session, [
    bash('mkdir canary-folder', 'allowed'),
    bash('rm canary-folder', 'denied'),
    bash('touch canary-file', 'asked'),
    block('NoSuchTool', {}, 'unknown'),
  ]);
  expect(await callLine('allowed')).toMatchObject({
    principal: 'ann',
    session_id: session,
    tool: 'Bash',
    decision: { behavior: 'allow', reason: { type: 'rule', rule: 'Bash(mkdir:*)', source: 'userSettings' } },
    status: 'ok',
    duration_ms: expect.any(Number),
    input_chars: 'command'.length + 'mkdir canary-folder'.length,
    result_chars: expect.any(Number),
  });
  const denied = { behavior: 'deny', reason: { type: 'rule', rule: 'Bash(rm:*)' } };
  expect(await callLine('denied')).toMatchObject({ decision: denied, error_code: 'permission_denied' });
  expect(await callLine('asked')).toMatchObject({ decision: { behavior: 'ask' }, status: 'denied' });
  expect(await callLine('unknown')).not.toHaveProperty('decision');
});

it('says who answered, who changed what, and which sessions came and went', async () => {
  const session = await client.session({ on_ask: 'wait', mode: 'default' });
  const reply = client.execute(session, [bash('touch canary-answered', 'answered')]);
  const { request_id } = await until(async () => (await client.get(`/sessions/${session}/prompts`)).body.prompts[0]);
  await client.post(`/sessions/${session}/prompts/${request_id}`, { behavior: 'allow', message: 'canary-message' });
  await reply;
  expect(await callLine('answered')).toMatchObject({ principal: 'owner', answered_by: 'owner', status: 'ok' });
  expect(lines('answer').at(-1)).toMatchObject({ tool_use_id: 'answered', behavior: 'allow', by: 'owner' });
  await client.post(`/sessions/${session}/permissions`, { updates: [{ type: 'setMode', mode: 'plan' }] });
  await client.send('DELETE', `/sessions/${session}`);
  await until(() => Promise.resolve(lines('session_removed').length > 0));
  expect(lines('permissions').at(-1)).toMatchObject({ session_id: session, mode: 'plan' });
  expect(lines('session_created').some((line) => line['session_id'] === session)).toBe(true);
});

it('says from where bad credentials came', async () => {
  await wireClient({ ...server, token: 'canary-wrong-token' }).get('/tools');
  expect(await until(() => Promise.resolve(lines('bad_credential')[0]))).toMatchObject({ address: '127.0.0.1' });
});

it('never says what was asked, answered or shown, and is for its owner alone', () => {
  expect(text()).not.toMatch(/canary/);
  expect(text()).not.toContain(server.token);
  expect(lstatSync(join(server.dataFolder, 'audit', 'audit.jsonl')).mode & 0o777).toBe(0o600);
});

it('keeps what it told of before a crash, and tells of what that interrupted once the session is opened', async () => {
  const session = await client.session({ mode: 'bypassPermissions' });
  await client.execute(session, [bash('true', 'before')]);
  const cut = client.execute(session, [bash('sleep 30', 'cut')]).catch(() => undefined);
  await until(async () => (await client.frames(session)).filter(({ type }) => type === 'started').length === 2);
  await server.end('SIGKILL');
  await cut;
  expect(lines('call').at(-1)).toMatchObject({ tool_use_id: 'before', status: 'ok' });
  server = await startServer({ settings, home: server.home });
  client = wireClient(server);
  await client.frames(session);
  expect(await callLine('cut')).toMatchObject({ principal: 'owner', status: 'interrupted' });
});

it('stops no call when it cannot be written, and the operator is told', async () => {
  await server.end();
  const folder = join(server.dataFolder, 'audit');
  rmSync(folder, { recursive: true });
  mkdirSync(join(folder, 'audit.jsonl'), { recursive: true, mode: 0o700 });
  server = await startServer({ settings, home: server.home });
  const { calls } = await wireClient(server).execute(undefined, [bash('echo hi', 'unaudited')]);
  expect(calls).toMatchObject([{ status: 'ok' }]);
  await until(() => Promise.resolve(server.logged().includes('audit_unwritable')));
});
