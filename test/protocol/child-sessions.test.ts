/** PROTOCOL 3 to 5: sessions that a call opens, which may do no more than its own. */
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { startServer, type BuiltServer } from '../helpers/built-server.ts';
import type { ClientSideFrame } from '../helpers/stream-client.ts';
import { block, until, wireClient, type WireClient, type WirePrompt } from '../helpers/wire-client.ts';

const PLUGIN = new URL('../fixtures/inner-tools.mjs', import.meta.url).pathname;

/** What `Delegate` says. */
interface Delegated {
  readonly sessionId: string;
  readonly results: readonly { readonly status: string; readonly errorCode?: string; readonly content: string }[];
}

const bash = (command: string, id?: string) => ({ name: 'Bash', input: { command }, ...(id && { id }) });
const sleep = (duration_ms: number) => ({ name: 'Sleep', input: { duration_ms } });
const delegate = (blocks: readonly object[], more: object = {}, id?: string) =>
  block('Delegate', { blocks, ...more }, id);
const statusesOf = ({ results }: Delegated) => results.map(({ status, errorCode }) => errorCode ?? status);
const typesOf = (frames: readonly ClientSideFrame[]) => frames.map(({ type }) => type);

/** Frames of children, as the progress of the calls that opened them has them. */
const agentFrames = (frames: readonly ClientSideFrame[]) =>
  frames.flatMap(({ type, data }) => {
    const { type: kind, frame } = (data ?? {}) as { type?: string; frame?: ClientSideFrame };
    return type === 'progress' && kind === 'agent' && frame ? [frame] : [];
  });

let server: BuiltServer;
let client: WireClient;
let folders = 0;

beforeAll(async () => {
  server = await startServer({ settings: { plugins: [PLUGIN] } });
  client = wireClient(server);
});

/** A session in a folder of its own. */
async function begin(more: object = {}) {
  const cwd = join(server.workspace, `child-${(folders += 1)}`);
  mkdirSync(cwd);
  const id = await client.session({ cwd, mode: 'bypassPermissions', ...more });
  return {
    id,
    cwd,
    isThere: (file: string) => existsSync(join(cwd, file)),
    run: async (call: object) => {
      const { results, calls } = await client.execute(id, [call]);
      return { content: results[0]?.content ?? '', call: calls[0] };
    },
  };
}

const delegatedIn = ({ content }: { content: string }) => JSON.parse(content) as Delegated;

/** The id of a session's child, once it is there. */
const childOf = (parentId: string, at: WireClient = client): Promise<string> =>
  until(async () => {
    const { sessions } = (await at.get('/sessions')).body;
    return sessions.find((one) => (one as { parent?: { session_id: string } }).parent?.session_id === parentId)
      ?.session_id;
  });

const promptOf = (sessionId: string, at: WireClient = client): Promise<WirePrompt> =>
  until(async () => (await at.get(`/sessions/${sessionId}/prompts`)).body.prompts[0]);

describe('a child session', () => {
  it('sees no tool that its parent was begun without', async () => {
    const parent = await begin({ tools: ['Delegate', 'Read'] });
    const delegated = delegatedIn(await parent.run(delegate([bash('touch made')])));
    expect(statusesOf(delegated)).toEqual(['unknown_tool']);
    expect(parent.isThere('made')).toBe(false);
  });

  it('sees those of its tools that the call asks for, under any of their names, and the one for its result', async () => {
    const parent = await begin({ tools: ['Delegate', 'Read', 'Glob'] });
    const output_schema = { type: 'object', properties: { found: { type: 'string' } } };
    const input = { tools: ['FileRead', 'Bash'], output_schema };
    const result = delegatedIn(await parent.run(delegate([bash('touch made'), sleep(1)], input)));
    expect(result).toMatchObject({ listed: ['Read', 'StructuredOutput for the result'] });
    expect(statusesOf(result)).toEqual(['unknown_tool', 'unknown_tool']);
    const bad = await parent.run(delegate([], { output_schema: { type: 'array' } }));
    expect([bad.call?.status, bad.content]).toEqual(['error', expect.stringContaining('output_schema')]);
  });

  it('of a background task goes on when its call has ended, asks in its parent, and ends with the task', async () => {
    const { id, run, isThere } = await begin({ mode: 'default', rules: { allow: ['Delegate'] }, on_ask: 'wait' });
    const blocks = [bash('touch made'), sleep(60_000)];
    const { content } = await run(delegate(blocks, { in_background: true, in_turn: true }, 'd'));
    const { taskId } = JSON.parse(content) as { taskId: string };
    const asked = await promptOf(id);
    expect(asked).toMatchObject({ tool_name: 'Bash', parent_tool_use_id: 'd' });
    await client.post(`/sessions/${id}/prompts/${asked.request_id}`, { behavior: 'allow' });
    await until(() => Promise.resolve(isThere('made')));
    const childId = await childOf(id);
    await until(async () => (await client.get(`/sessions/${childId}`)).text.includes('Sleep'));
    expect((await client.post(`/sessions/${id}/tasks/${taskId}/stop`)).body).toMatchObject({ state: 'killed' });
    const frames = await client.frames(childId);
    expect(frames.at(-1)).toMatchObject({ type: 'notice', code: 'child_ended' });
    const stopped = frames.filter(({ type }) => type === 'result').at(-1);
    expect(stopped).toMatchObject({ call: { name: 'Sleep', status: 'cancelled' } });
  });

  it('takes its background tasks with it', async () => {
    const parent = await begin();
    const task = { name: 'Bash', input: { command: 'sleep 30', run_in_background: true } };
    const { sessionId } = delegatedIn(await parent.run(delegate([task])));
    const { body } = await client.get(`/sessions/${sessionId}/tasks`);
    expect(body['tasks']).toMatchObject([{ state: 'killed' }]);
  });

  it('has a log of its own that names its parent, and is readable from the stream of the parent', async () => {
    const { id, cwd, run, isThere } = await begin();
    const { sessionId, results } = delegatedIn(await run(delegate([bash('touch made; echo inside', 'own')], {}, 'd')));
    expect(results).toMatchObject([{ toolUseId: 'own', status: 'ok', content: 'inside', data: { exitCode: 0 } }]);
    expect(isThere('made')).toBe(true);
    const parent = { session_id: id, tool_use_id: 'd' };
    expect((await client.get(`/sessions/${sessionId}`)).body).toMatchObject({ parent, cwd, title: 'delegated' });
    const frames = await client.frames(sessionId);
    expect(frames[0]).toMatchObject({ type: 'opened', parent });
    expect(frames.find(({ type }) => type === 'result')).toMatchObject({ tool_use_id: 'own' });
    const told = (await client.frames(id)).filter(({ type }) => type === 'progress');
    expect(told.map(({ tool_use_id }) => tool_use_id)).toEqual(told.map(() => 'd'));
    expect(agentFrames(told)).toEqual(frames);
    expect((await client.get(`/sessions/${id}`)).body['parent']).toBeUndefined();
  });

  it('runs safe blocks side by side, ends those beside a failed command, and goes on with later ones', async () => {
    const { run, isThere } = await begin();
    const begun = performance.now();
    await run(delegate([sleep(600), sleep(600)]));
    expect(performance.now() - begun).toBeLessThan(1_150);
    const failing = delegatedIn(await run(delegate([bash('exit 1'), bash('touch later')], { in_turn: true })));
    expect([statusesOf(failing), isThere('later')]).toEqual([['tool_failed', 'ok'], true]);
  });

  it('takes no blocks from a client, while it runs and afterwards', async () => {
    const { id } = await begin();
    const running = client.execute(id, [delegate([sleep(300)])]);
    const childId = await childOf(id);
    const post = () =>
      client.post('/execute', { session_id: childId, tool_uses: [block('Sleep', { duration_ms: 1 })] });
    const refused = { code: 'conflict', details: { reason: 'child_session' } };
    expect((await post()).body.error).toMatchObject(refused);
    const stream = await client.stream(childId);
    stream.send({ type: 'tool_use', tool_use: block('Sleep', { duration_ms: 1 }) });
    expect(await stream.next('error')).toMatchObject(refused);
    await stream.close();
    await running;
    expect((await post()).body.error).toMatchObject(refused);
  });

  it('ends with the call that opened it, whether or not the tool ends it', async () => {
    const { id, run } = await begin();
    const { sessionId } = delegatedIn(await run(delegate([sleep(1)], { ends: false })));
    expect(typesOf(await client.frames(sessionId)).at(-1)).toBe('notice');
    expect(agentFrames(await client.frames(id)).at(-1)).toMatchObject({ type: 'notice', code: 'child_ended' });
  });

  it('ends what runs in it when the call is cancelled', async () => {
    const { id } = await begin();
    const running = client.execute(id, [delegate([bash('sleep 60', 'long')], {}, 'c')]);
    const childId = await childOf(id);
    await until(async () => (await client.get(`/sessions/${childId}`)).text.includes('executing'));
    await client.post(`/sessions/${id}/cancel`, { tool_use_id: 'c' });
    expect((await running).calls[0]).toMatchObject({ status: 'cancelled' });
    const result = (await client.frames(childId)).find(({ type }) => type === 'result');
    expect(result).toMatchObject({ tool_use_id: 'long', call: { status: 'cancelled' } });
    expect(typesOf(await client.frames(childId)).filter((type) => type === 'notice')).toHaveLength(1);
  });

  it('is deleted with its parent', async () => {
    const { id, run } = await begin();
    const { sessionId } = delegatedIn(await run(delegate([sleep(1)])));
    const running = client.execute(id, [delegate([sleep(60_000)])]).catch(() => undefined);
    const second = await until(async () => {
      const { sessions } = (await client.get('/sessions')).body;
      const [newest] = sessions;
      return newest && newest.session_id !== sessionId && newest.session_id !== id && newest.session_id;
    });
    expect((await client.send('DELETE', `/sessions/${id}`)).status).toBe(204);
    for (const gone of [id, sessionId, second]) expect((await client.get(`/sessions/${gone}`)).status).toBe(404);
    await running;
  });

  it('that is deleted while it runs takes its question from its parent, and its call goes on', async () => {
    const { id } = await begin({ mode: 'default', rules: { allow: ['Delegate'] }, on_ask: 'wait' });
    const running = client.execute(id, [delegate([bash('touch x', 'q')])]);
    const childId = await childOf(id);
    await promptOf(id);
    expect((await client.send('DELETE', `/sessions/${childId}`)).status).toBe(204);
    expect((await running).calls[0]).toMatchObject({ status: 'ok' });
    expect((await client.get(`/sessions/${id}/prompts`)).body.prompts).toEqual([]);
    expect((await client.get(`/sessions/${id}`)).status).toBe(200);
  });

  it('may open children only so deep', async () => {
    const { run } = await begin();
    const nested = (levels: number): object =>
      levels === 0 ? sleep(1) : { name: 'Delegate', input: { blocks: [nested(levels - 1)] } };
    const { content } = await run(delegate([nested(4)]));
    expect(content).toContain('levels deep at most');
  });
});

describe('the permissions of a child session', () => {
  it('are those of its parent, and rules of its own', async () => {
    const { run, isThere } = await begin({ rules: { deny: ['Bash(touch parent)'] } });
    const commands = [bash('touch parent'), bash('touch child'), bash('touch other')];
    const result = delegatedIn(await run(delegate(commands, { in_turn: true, deny: ['Bash(touch child)'] })));
    expect(statusesOf(result)).toEqual(['permission_denied', 'permission_denied', 'ok']);
    expect([isThere('parent'), isThere('child'), isThere('other')]).toEqual([false, false, true]);
  });

  it('may be narrower than those of its parent, and no wider', async () => {
    const { run } = await begin({ mode: 'acceptEdits', rules: { allow: ['Delegate'] }, on_ask: 'deny' });
    const write = { name: 'Write', input: { file_path: 'x', content: '' } };
    expect(statusesOf(delegatedIn(await run(delegate([write], { mode: 'plan' }))))).toEqual(['permission_denied']);
    expect(statusesOf(delegatedIn(await run(delegate([write]))))).toEqual(['ok']);
    const wider = await run(delegate([write], { mode: 'bypassPermissions' }));
    expect([wider.call?.status, wider.content]).toEqual(['error', expect.stringContaining('"acceptEdits"')]);
  });

  it('cannot be widened, and can be narrowed', async () => {
    const { id, run } = await begin({
      mode: 'default',
      rules: { allow: ['Delegate', 'Bash(touch:*)'], deny: ['Bash(rm:*)'] },
    });
    const { sessionId } = delegatedIn(await run(delegate([sleep(1)])));
    const update = async (one: object) =>
      (await client.post(`/sessions/${sessionId}/permissions`, { updates: [one] })).status;
    const rules = (type: string, behavior: string, ...texts: string[]) => ({ type, behavior, rules: texts });
    expect(await update({ type: 'setMode', mode: 'acceptEdits' })).toBe(403);
    expect(await update({ type: 'setMode', mode: 'bypassPermissions' })).toBe(403);
    expect(await update(rules('addRules', 'allow', 'Bash'))).toBe(403);
    expect(await update(rules('replaceRules', 'allow', 'Bash'))).toBe(403);
    expect(await update(rules('removeRules', 'deny', 'Bash(rm:*)'))).toBe(403);
    expect(await update(rules('replaceRules', 'deny'))).toBe(403);
    expect(await update({ type: 'addDirectories', directories: [server.workspace] })).toBe(403);
    expect(await update({ type: 'setMode', mode: 'plan' })).toBe(200);
    expect(await update(rules('addRules', 'deny', 'Read'))).toBe(200);
    expect(await update(rules('removeRules', 'allow', 'Bash(touch:*)'))).toBe(200);
    expect((await client.get(`/sessions/${id}/permissions`)).body['mode']).toBe('default');
  });

  it('follow what changes in the parent while it runs', async () => {
    const { id, isThere } = await begin();
    const commands = [sleep(500), bash('touch denied'), bash('touch allowed')];
    const running = client.execute(id, [delegate(commands, { in_turn: true })]);
    await childOf(id);
    const deny = { type: 'addRules', behavior: 'deny', rules: ['Bash(touch denied)'] };
    expect((await client.post(`/sessions/${id}/permissions`, { updates: [deny] })).status).toBe(200);
    const result = delegatedIn({ content: (await running).results[0]?.content ?? '' });
    expect(statusesOf(result)).toEqual(['ok', 'permission_denied', 'ok']);
    expect([isThere('denied'), isThere('allowed')]).toEqual([false, true]);
  });
});

describe('a question of a child session', () => {
  const asking = { mode: 'default', rules: { allow: ['Delegate'] }, on_ask: 'wait' };

  it.each(['parent', 'child'])('stands in its parent too, and is answered in the %s for both', async (where) => {
    const { id, isThere } = await begin(asking);
    const running = client.execute(id, [delegate([bash('touch asked', 'q')], {}, 'd')]);
    const childId = await childOf(id);
    const climbed = await promptOf(id);
    const own = await promptOf(childId);
    expect(climbed).toMatchObject({
      tool_name: 'Bash',
      tool_use_id: 'q',
      parent_tool_use_id: 'd',
      session_id: childId,
    });
    expect(own.request_id).toBe(climbed.request_id);
    const stream = await client.stream(id);
    expect((await stream.next('welcome'))['pending']).toMatchObject([{ request_id: own.request_id }]);
    await stream.close();

    const address = `/sessions/${where === 'parent' ? id : childId}/prompts/${own.request_id}`;
    expect((await client.post(address, { behavior: 'allow' })).status).toBe(200);
    await running;
    expect(isThere('asked')).toBe(true);
    for (const session of [id, childId]) {
      expect((await client.get(`/sessions/${session}/prompts`)).body.prompts).toEqual([]);
      const resolved = (await client.frames(session)).filter(({ type }) => type === 'permission_resolved');
      expect(resolved).toMatchObject([{ request_id: own.request_id, behavior: 'allow' }]);
      const late = await client.post(`/sessions/${session}/prompts/${own.request_id}`, { behavior: 'deny' });
      expect([late.status, late.body.error.details]).toMatchObject([409, { reason: 'already_resolved' }]);
    }
  });

  it('that is answered with a rule in the parent adds it to both', async () => {
    const { id, isThere } = await begin(asking);
    const running = client.execute(id, [delegate([bash('touch one'), bash('touch two')], { in_turn: true })]);
    const { request_id } = await promptOf(id);
    const rule = { type: 'addRules', behavior: 'allow', rules: ['Bash(touch:*)'] };
    await client.post(`/sessions/${id}/prompts/${request_id}`, { behavior: 'allow', updated_permissions: [rule] });
    await running;
    expect([isThere('one'), isThere('two')]).toEqual([true, true]);
  });

  it('climbs through a child of a child', async () => {
    const { id, isThere } = await begin(asking);
    const inner = { name: 'Delegate', input: { blocks: [bash('touch deep')] }, id: 'inner' };
    const running = client.execute(id, [delegate([inner], {}, 'outer')]);
    const prompt = await promptOf(id);
    expect(prompt).toMatchObject({ parent_tool_use_id: 'outer' });
    expect((await client.get(`/sessions/${String(prompt['session_id'])}`)).body['parent']).toMatchObject({
      tool_use_id: 'inner',
    });
    await client.post(`/sessions/${id}/prompts/${prompt.request_id}`, { behavior: 'allow' });
    await running;
    expect(isThere('deep')).toBe(true);
  });
});

describe('a server that was killed', () => {
  it('interrupts what ran in a child once, withdraws its question in both, and deletes it with its parent', async () => {
    const first = await startServer({ settings: { plugins: [PLUGIN] } });
    const before = wireClient(first);
    const id = await before.session({ rules: { allow: ['Delegate'] }, on_ask: 'wait' });
    void before.execute(id, [delegate([bash('touch never', 'asked')], {}, 'k')]).catch(() => undefined);
    const childId = await childOf(id, before);
    await until(async () => typesOf(await before.frames(id)).includes('permission_request'));
    await first.end('SIGKILL');

    const after = wireClient(await startServer({ home: first.home }));
    for (const [session, call] of [
      [childId, 'asked'],
      [id, 'k'],
    ] as const) {
      expect((await after.get(`/sessions/${session}/prompts`)).body.prompts).toEqual([]);
      const frames = await after.frames(session);
      expect(frames.filter(({ type }) => type === 'permission_resolved')).toMatchObject([{ by: 'cancelled' }]);
      expect(frames.filter(({ type }) => type === 'result')).toMatchObject([
        { tool_use_id: call, call: { status: 'interrupted' } },
      ]);
    }
    expect(existsSync(join(first.workspace, 'never'))).toBe(false);
    expect((await after.send('DELETE', `/sessions/${id}`)).status).toBe(204);
    expect((await after.get(`/sessions/${childId}`)).status).toBe(404);
  }, 60_000);
});
