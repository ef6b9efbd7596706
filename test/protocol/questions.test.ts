/** PROTOCOL 3 to 5: questions, who may answer them, and what an answer does. */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { serverHome, startServer } from '../helpers/built-server.ts';
import { sharedWorkspace } from '../helpers/shared-workspace.ts';
import { block, until, wireClient, type WireClient, type WirePrompt } from '../helpers/wire-client.ts';

let client: WireClient;
let folder: string;
let files = 0;

beforeAll(async () => {
  ({ client, folder } = await sharedWorkspace('questions'));
});

const session = (options: object = {}) => client.session({ cwd: folder, ...options });

/** A call that is asked about, and the file it makes. */
function asking(id?: string) {
  const path = `file-${(files += 1)}`;
  return { call: block('Bash', { command: `touch ${path}` }, id), isMade: () => existsSync(join(folder, path)) };
}

/** The open questions, as soon as there are `count`. */
const prompts = (sessionId: string, count = 1): Promise<readonly WirePrompt[]> =>
  until(async () => {
    const { body } = await client.get(`/sessions/${sessionId}/prompts`);
    return body.prompts.length === count && body.prompts;
  });

const answer = (sessionId: string, prompt: WirePrompt | undefined, body: object, at = client) =>
  at.post(`/sessions/${sessionId}/prompts/${prompt?.request_id}`, body);

describe('on_ask', () => {
  it('deny denies at once, and wait waits', async () => {
    const id = await session();
    const { call, isMade } = asking();
    const { calls, results } = await client.execute(id, [call], { on_ask: 'deny' });
    expect([calls[0]?.status, results[0]?.content]).toEqual(['denied', expect.stringContaining('"on_ask" is "deny"')]);
    const second = asking();
    const waiting = client.execute(id, [second.call], { on_ask: 'wait' });
    const [prompt] = await prompts(id);
    expect(await answer(id, prompt, { behavior: 'allow' })).toMatchObject({ status: 200 });
    expect((await waiting).calls[0]).toMatchObject({ status: 'ok' });
    expect([isMade(), second.isMade()]).toEqual([false, true]);
  });

  it('left out waits while somebody is connected, and denies at once when nobody is', async () => {
    const id = await session();
    expect((await client.execute(id, [asking().call])).calls[0]).toMatchObject({ error_code: 'permission_denied' });
    const watcher = await client.stream(id);
    await watcher.next('live');
    const waiting = client.execute(id, [asking().call]);
    const request = await watcher.next('permission_request');
    watcher.send({ type: 'permission_answer', request_id: request['request_id'], behavior: 'allow' });
    expect((await waiting).calls[0]).toMatchObject({ status: 'ok' });
    await watcher.close();
  });

  it('of the session holds where a request says nothing', async () => {
    const id = await session({ on_ask: 'wait' });
    const waiting = client.execute(id, [asking().call]);
    const [prompt] = await prompts(id);
    await answer(id, prompt, { behavior: 'deny', message: 'not today' });
    const { calls, results } = await waiting;
    expect(calls[0]).toMatchObject({ status: 'denied', error_code: 'permission_denied' });
    expect(results[0]).toMatchObject({ is_error: true, content: expect.stringContaining('not today') });
  });
});

describe('F34, F35: a question', () => {
  it('tells what would run, why it is asked, and until when', async () => {
    const id = await session();
    const { call } = asking();
    const waiting = client.execute(id, [call], { on_ask: 'wait', ask_timeout_ms: 60_000 });
    const [prompt] = await prompts(id);
    expect(prompt).toMatchObject({
      request_id: expect.stringMatching(/^[A-Za-z0-9_-]{1,128}$/),
      tool_use_id: call.id,
      tool_name: 'Bash',
      input: call.input,
      title: expect.any(String),
      display: { title: expect.any(String), blocks: expect.any(Array) },
      reason: expect.anything(),
      destructive: false,
      warnings: expect.any(Array),
      suggestions: [{ type: 'addRules', behavior: 'allow', rules: ['Bash(touch:*)'] }],
    });
    expect(Date.parse(String(prompt?.['expires_at'])) - Date.now()).toBeLessThanOrEqual(60_000);
    const { body } = await client.get(`/sessions/${id}`);
    expect([body['state'], body['running']]).toEqual(['waiting', [expect.objectContaining({ tool_use_id: call.id })]]);
    expect((await client.get('/metrics')).text).toContain('gauntlet_questions_open 1\n');
    await answer(id, prompt, { behavior: 'deny' });
    await waiting;
    const { text } = await client.get('/metrics');
    expect(text).toContain('gauntlet_questions_open 0\n');
    expect(text).toMatch(/^gauntlet_calls_total\{tool="Bash",origin="built_in",status="denied"\} [1-9]/m);
    expect(text).toMatch(/^gauntlet_question_answer_seconds_count\{behavior="deny"\} [1-9]/m);
  });

  it('stands in the welcome of whoever connects, and its answer over the stream counts', async () => {
    const id = await session();
    const { call, isMade } = asking();
    const waiting = client.execute(id, [call], { on_ask: 'wait' });
    const [prompt] = await prompts(id);
    const late = await client.stream(id);
    expect((await late.next('welcome'))['pending']).toEqual([
      expect.objectContaining({ request_id: prompt?.request_id }),
    ]);
    late.send({ type: 'permission_answer', request_id: prompt?.request_id, behavior: 'allow' });
    const resolved = await late.next('permission_resolved');
    expect(resolved).toMatchObject({ request_id: prompt?.request_id, behavior: 'allow', by: expect.any(String) });
    expect((await waiting).calls[0]).toMatchObject({ status: 'ok' });
    expect(isMade()).toBe(true);
    await late.close();
  });

  it('takes the first of many answers, and tells the others which it was', async () => {
    const id = await session();
    const { call, isMade } = asking();
    const waiting = client.execute(id, [call], { on_ask: 'wait' });
    const [prompt] = await prompts(id);
    const behaviors = ['deny', 'allow', 'deny', 'allow', 'allow', 'deny'];
    const replies = await Promise.all(behaviors.map((behavior) => answer(id, prompt, { behavior })));
    const won = replies.filter(({ status }) => status === 200);
    expect(won).toHaveLength(1);
    const behavior = String(won[0]?.body['behavior']);
    expect(won[0]?.body).toEqual({ behavior, by: expect.any(String) });
    for (const { status, body } of [
      ...replies.filter((reply) => reply !== won[0]),
      await answer(id, prompt, { behavior: 'allow' }),
    ]) {
      expect(status).toBe(409);
      expect(body.error).toMatchObject({ code: 'conflict', details: { reason: 'already_resolved', behavior } });
    }
    expect((await waiting).calls[0]?.status).toBe(behavior === 'allow' ? 'ok' : 'denied');
    expect(isMade()).toBe(behavior === 'allow');
  });

  it('is answered in its own session only', async () => {
    const [id, other] = [await session(), await session()];
    const waiting = client.execute(id, [asking().call], { on_ask: 'wait' });
    const [prompt] = await prompts(id);
    expect((await answer(other, prompt, { behavior: 'allow' })).status).toBe(404);
    expect((await client.post(`/sessions/${id}/prompts/req_none`, { behavior: 'allow' })).status).toBe(404);
    expect((await answer(id, prompt, { behavior: 'perhaps' })).status).toBe(400);
    expect((await client.get(`/sessions/${other}/prompts`)).body.prompts).toEqual([]);
    await answer(id, prompt, { behavior: 'deny' });
    await waiting;
  });

  it('that nobody answers is denied when its time is over', async () => {
    const id = await session();
    const { call, isMade } = asking();
    const { calls } = await client.execute(id, [call], { on_ask: 'wait', ask_timeout_ms: 50 });
    expect(calls[0]).toMatchObject({ status: 'denied', error_code: 'permission_denied' });
    const resolved = (await client.frames(id)).find(({ type }) => type === 'permission_resolved');
    expect(resolved).toMatchObject({ behavior: 'deny' });
    const reply = await answer(
      id,
      { request_id: String(resolved?.['request_id']), tool_use_id: call.id },
      { behavior: 'allow' },
    );
    expect(reply).toMatchObject({ status: 409 });
    expect(isMade()).toBe(false);
  });

  it('goes away with its call when that is cancelled', async () => {
    const id = await session();
    const { call } = asking();
    const waiting = client.execute(id, [call], { on_ask: 'wait' });
    await prompts(id);
    const { body } = await client.post(`/sessions/${id}/cancel`, { tool_use_id: call.id });
    expect(body).toEqual({ cancelled: [call.id] });
    expect((await waiting).calls[0]).toMatchObject({ status: 'cancelled', error_code: 'cancelled' });
    expect(await prompts(id, 0)).toEqual([]);
  });
});

describe('an answer', () => {
  it('may change the input, which is judged again', async () => {
    const id = await session({ rules: { deny: ['Bash(rm:*)'] } });
    const { call, isMade } = asking();
    const better = asking();
    const waiting = client.execute(id, [call], { on_ask: 'wait' });
    const [prompt] = await prompts(id);
    await answer(id, prompt, { behavior: 'allow', updated_input: better.call.input });
    expect((await waiting).calls[0]).toMatchObject({ status: 'ok' });
    expect([isMade(), better.isMade()]).toEqual([false, true]);
  });

  it('whose input a rule denies, or that does not fit, runs nothing', async () => {
    const id = await session({ rules: { deny: ['Bash(rm:*)'] } });
    const attempts = [{ command: 'rm -f x' }, { command: 7 }, {}];
    for (const updated_input of attempts) {
      const { call, isMade } = asking();
      const waiting = client.execute(id, [call], { on_ask: 'wait', ask_timeout_ms: 500 });
      const [prompt] = await prompts(id);
      await answer(id, prompt, { behavior: 'allow', updated_input });
      const { calls } = await waiting;
      expect(calls[0]?.status, JSON.stringify(updated_input)).not.toBe('ok');
      expect(isMade()).toBe(false);
    }
  });

  it('that adds a rule settles the others that wait', async () => {
    const id = await session();
    const calls = [asking().call, asking().call];
    const watcher = await client.stream(id);
    const turns = calls.map((call) => client.execute(id, [call], { on_ask: 'wait' }));
    const [prompt] = await prompts(id);
    const updated_permissions = prompt?.['suggestions'];
    const { status } = await answer(id, prompt, { behavior: 'allow', updated_permissions });
    expect(status).toBe(200);
    for (const turn of turns) expect((await turn).calls[0]).toMatchObject({ status: 'ok' });
    expect(await watcher.next('context')).toMatchObject({ version: 2 });
    expect((await client.get(`/sessions/${id}/permissions`)).body).toMatchObject({
      version: 2,
      rules: { session: { allow: ['Bash(touch:*)'] } },
    });
    await watcher.close();
  });

  it('settles safe neighbours that wait side by side', async () => {
    const id = await session({ rules: { ask: ['Read'] } });
    const calls = ['a', 'b'].map((name) => block('Read', { file_path: name }));
    const waiting = client.execute(id, calls, { on_ask: 'wait' });
    const open = await prompts(id, 2);
    const updated_permissions = [{ type: 'removeRules', behavior: 'ask', rules: ['Read'] }];
    await answer(id, open[0], { behavior: 'allow', updated_permissions });
    expect((await waiting).calls.map(({ error_code }) => error_code)).toEqual(['tool_failed', 'tool_failed']);
    expect(await prompts(id, 0)).toEqual([]);
  });

  it('over the stream that comes too late is an error with the decision', async () => {
    const id = await session();
    const stream = await client.stream(id);
    stream.send({ type: 'tool_use', tool_use: asking().call });
    const { request_id } = await stream.next('permission_request');
    stream.send({ type: 'permission_answer', request_id, behavior: 'deny' });
    stream.send({ type: 'permission_answer', request_id, behavior: 'allow' });
    expect(await stream.next('error')).toMatchObject({ code: 'conflict', request_id });
    expect(await stream.next('result')).toMatchObject({ call: { status: 'denied' } });
    await stream.close();
  });
});

describe('GET /prompts', () => {
  it('lists the open questions of all sessions, also after a restart, and nobody else sees them', async () => {
    const token = 'another-token-0123456789abcdef';
    const tokenSha256 = createHash('sha256').update(token).digest('hex');
    const home = serverHome();
    const settings = { principals: [{ name: 'other', tokenSha256, roots: [join(home, 'workspace')] }] };
    const first = await startServer({ home, settings });
    const before = wireClient(first);
    const sessions = [await before.session(), await before.session()];
    for (const [index, id] of sessions.entries()) {
      // Ends with the server; the question stays.
      void before.execute(id, [asking(`call-${index}`).call], { on_ask: 'wait' }).catch(() => undefined);
    }
    const asked = async (at: WireClient) => (await at.get('/prompts')).body.prompts;
    const listed = await until(async () => {
      const found = await asked(before);
      return found.length === 2 && found;
    });
    expect(new Set(listed.map((question) => question['session_id']))).toEqual(new Set(sessions));
    expect(await asked(wireClient({ url: first.url, token }))).toEqual([]);
    await first.end('SIGKILL');
    const after = wireClient(await startServer({ home, settings }));
    const still = await asked(after);
    expect(new Set(still.map(({ request_id }) => request_id))).toEqual(new Set(listed.map((one) => one.request_id)));
    for (const question of still) await answer(String(question['session_id']), question, { behavior: 'deny' }, after);
    expect(await asked(after)).toEqual([]);
  });
});
