/** Monitor over the wire: its notices, its bounds, and everything of Bash that holds for it. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { serverHome, startServer, type BuiltServer } from '../helpers/built-server.ts';
import { block, until, wireClient, type WireClient } from '../helpers/wire-client.ts';

let server: BuiltServer;
let client: WireClient;
let made = 0;

beforeAll(async () => {
  server = await startServer({
    settings: {
      hooks: {
        PreToolUse: [
          {
            matcher: 'Bash',
            hooks: [{ type: 'command', command: 'if grep -q forbidden; then echo "hook says no" >&2; exit 2; fi' }],
          },
        ],
      },
    },
  });
  client = wireClient(server);
});

/** A session in a folder of its own. */
async function begin(options: object = {}, at = { server, client }) {
  const cwd = join(at.server.workspace, `monitor-${(made += 1)}`);
  mkdirSync(cwd);
  return { cwd, id: await at.client.session({ cwd, ...options }) };
}

async function run(session: string, name: string, input: object, at = client) {
  const { results, calls } = await at.execute(session, [block(name, input)]);
  return { text: results[0]?.content ?? '', status: calls[0]?.status };
}

const watch = (session: string, command: string, more: object = {}, at = client) =>
  run(session, 'Monitor', { description: 'a test', command, ...more }, at);

const taskIdIn = (text: string) => /task (monitor_[0-9a-f]+)/.exec(text)?.[1] ?? '';

async function notices(session: string, at = client): Promise<string[]> {
  const frames = await at.frames(session);
  return frames
    .filter(({ type, code }) => type === 'notice' && code === 'monitor')
    .map((frame) => String(frame['message']));
}

async function endOf(session: string, at = client) {
  return until(async () => (await at.frames(session)).find(({ type }) => type === 'task_ended'));
}

describe('a monitor', () => {
  it('tells each line as it comes, and goes on beside other calls', async () => {
    const { id, cwd } = await begin({ mode: 'bypassPermissions' });
    const { text, status } = await watch(id, 'echo one; until test -e go; do sleep 0.05; done; echo two; printf last');
    expect(status).toBe('ok');
    const taskId = taskIdIn(text);
    await until(async () => (await notices(id)).length === 1);
    expect(await notices(id)).toEqual([`${taskId}, a test:\none`]);
    expect((await client.get(`/sessions/${id}/tasks`)).body['tasks']).toMatchObject([
      { task_id: taskId, kind: 'monitor', state: 'running', description: 'a test' },
    ]);
    await run(id, 'Write', { file_path: join(cwd, 'go'), content: '' });
    expect(await endOf(id)).toMatchObject({ task_id: taskId, status: 'completed', exit_code: 0 });
    expect((await notices(id)).slice(1).join('\n')).toContain('two\nlast');
    expect((await run(id, 'TaskOutput', { task_id: taskId })).text).toContain('one\ntwo\nlast');
  });

  it('says nothing of standard error, which its output has', async () => {
    const { id } = await begin({ mode: 'bypassPermissions' });
    const { text } = await watch(id, 'echo wrong >&2; exit 3');
    expect(await endOf(id)).toMatchObject({ status: 'failed', exit_code: 3 });
    expect(await notices(id)).toEqual([]);
    expect((await run(id, 'TaskOutput', { task_id: taskIdIn(text) })).text).toContain('wrong');
  });

  it('folds lines that come fast', async () => {
    const { id } = await begin({ mode: 'bypassPermissions' });
    await watch(id, 'seq 1000');
    await endOf(id);
    const told = await notices(id);
    expect(told.length).toBeLessThan(5);
    expect(told.join('\n')).toMatch(/\(\d+ more lines before these\)\n/);
    expect(told.at(-1)?.endsWith('\n999\n1000')).toBe(true);
  });

  it.each([
    ['lines', 'yes'],
    ['characters', 'yes "$(printf %0900d 1)" | tr -d "\\n"'],
  ])('that floods with %s is ended, and says so', async (_title, command) => {
    const { id } = await begin({ mode: 'bypassPermissions' });
    await watch(id, command, { persistent: true });
    expect(await endOf(id)).toMatchObject({
      status: 'failed',
      note: expect.stringContaining('It wrote more than') as string,
    });
    expect((await notices(id)).length).toBeLessThan(10);
  });

  it('is ended by TaskStop, by its time, and told of after the server was killed', async () => {
    const { id } = await begin({ mode: 'bypassPermissions' });
    const stopped = taskIdIn((await watch(id, 'sleep 300', { persistent: true })).text);
    expect((await run(id, 'TaskStop', { task_id: stopped })).text).toContain('was ended');
    const timed = await begin({ mode: 'bypassPermissions' });
    await watch(timed.id, 'sleep 300', { timeout_ms: 100 });
    expect(await endOf(timed.id)).toMatchObject({ note: 'Ended: timeout' });
    const both = await watch(id, 'sleep 300', { timeout_ms: 100, persistent: true });
    expect(both).toMatchObject({ status: 'error', text: expect.stringContaining('leave out "timeout_ms"') as string });

    const home = serverHome();
    const first = await startServer({ home });
    const before = { server: first, client: wireClient(first) };
    const killed = await begin({ mode: 'bypassPermissions' }, before);
    await watch(killed.id, 'echo seen; sleep 300', { persistent: true }, before.client);
    await until(async () => (await notices(killed.id, before.client)).length === 1);
    await first.end('SIGKILL');
    const after = wireClient(await startServer({ home }));
    expect(await endOf(killed.id, after)).toMatchObject({ status: 'interrupted' });
    expect(await notices(killed.id, after)).toHaveLength(1);
  });
});

describe('what holds for Bash holds for a monitor', () => {
  it('is not listed where Bash is denied, and is asked about where Bash is', async () => {
    const { id } = await begin({ rules: { deny: ['Bash'] } });
    const { tools } = (await client.get(`/tools?session_id=${id}&schemas=none`)).body;
    expect(tools.map(({ name }) => name)).not.toContain('Monitor');
    expect(await watch(id, 'true')).toMatchObject({ status: 'denied' });
    expect(await watch((await begin()).id, 'touch new')).toMatchObject({ status: 'denied' });
    const asked = await begin({ mode: 'bypassPermissions', rules: { ask: ['Bash(touch:*)'] } });
    expect(await watch(asked.id, 'touch new')).toMatchObject({ status: 'denied' });
    const planning = await begin({ mode: 'plan' });
    expect(await watch(planning.id, 'touch new')).toMatchObject({ status: 'denied' });
  });

  it.each([
    ['Bash(rm:*)', 'echo x | xargs rm'],
    ['Bash(git push:*)', 'true && git push'],
    ['Read(./secret/**)', 'tail -f secret/key'],
    ['Edit(./kept)', 'echo x > kept'],
  ])('is denied by %s', async (rule, command) => {
    const { id, cwd } = await begin({ mode: 'bypassPermissions', rules: { deny: [rule] } });
    mkdirSync(join(cwd, 'secret'));
    writeFileSync(join(cwd, 'secret', 'key'), 'canary');
    const { status, text } = await watch(id, command);
    expect({ status, text }).toMatchObject({ status: 'denied', text: expect.stringContaining(rule) as string });
  });

  it('is allowed by a rule of Bash, and by none of another command', async () => {
    const { id, cwd } = await begin({ rules: { allow: ['Bash(touch:*)'] } });
    expect(await watch(id, 'touch new')).toMatchObject({ status: 'ok' });
    await endOf(id);
    expect(existsSync(join(cwd, 'new'))).toBe(true);
    expect(await watch(id, 'touch new; mkdir other')).toMatchObject({ status: 'denied' });
    expect(await watch(id, 'mkdir other')).toMatchObject({ text: expect.stringContaining('Bash(mkdir:*)') as string });
  });

  it('is blocked by a hook for Bash', async () => {
    const { id } = await begin({ mode: 'bypassPermissions' });
    const { status, text } = await watch(id, 'echo forbidden');
    expect({ status, text }).toMatchObject({
      status: 'denied',
      text: expect.stringContaining('hook says no') as string,
    });
  });

  it('reads unasked, in the jail', async () => {
    const { id, cwd } = await begin();
    writeFileSync(join(cwd, 'app.log'), 'ERROR one\n');
    expect(await watch(id, 'grep ERROR app.log')).toMatchObject({ status: 'ok' });
    await until(async () => (await notices(id)).some((text) => text.endsWith('ERROR one')));
    const explained = await client.post(`/sessions/${id}/permissions/explain`, {
      name: 'Monitor',
      input: { description: 'x', command: 'grep ERROR app.log' },
    });
    const bash = await client.post(`/sessions/${id}/permissions/explain`, {
      name: 'Bash',
      input: { command: 'grep ERROR app.log' },
    });
    expect(explained.body['containment']).toBe(bash.body['containment']);
  });
});
