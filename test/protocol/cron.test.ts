/** Scheduled prompts over the built server, whose clock a test can put forward, and a scripted model. */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { serverHome, startServer, type BuiltServer } from '../helpers/built-server.ts';
import { type ScriptedModel, type ScriptedStep, scriptedModel } from '../helpers/scripted-model.ts';
import { block, until, wireClient, type WireClient } from '../helpers/wire-client.ts';

/** Scripts by the first word of a prompt. */
const scripts = new Map<string, readonly ScriptedStep[]>();
const HOUR_MS = 3_600_000;
let model: ScriptedModel;
let made = 0;

beforeAll(async () => {
  model = await scriptedModel((request) => {
    const steps = scripts.get(request.prompt.split(/\s/)[0] ?? '') ?? [];
    return steps[Math.min(request.turn, steps.length - 1)] ?? { text: 'Nothing' };
  });
});

interface World {
  readonly server: BuiltServer;
  readonly client: WireClient;
  readonly home: string;
}

/** A server of its own. */
async function world(home = serverHome()): Promise<World> {
  const clock = new URL('../fixtures/shifted-clock.mjs', import.meta.url).pathname;
  const settings = { models: { default: model.settings() } };
  const server = await startServer({ home, settings, environment: { NODE_OPTIONS: `--import=${clock}` } });
  return { server, client: wireClient(server), home };
}

/** Put the clock of a server forward: everything that is due within an hour is due now. */
function forward({ home }: World, hours: number): void {
  writeFileSync(join(home, 'clock'), String(hours * HOUR_MS));
}

function scripted(...steps: readonly ScriptedStep[]): string {
  const word = `script${(made += 1)}`;
  scripts.set(word, steps);
  return word;
}

const touch = (name: string): ScriptedStep => ({ calls: [{ name: 'Bash', input: { command: `touch ${name}` } }] });

async function run({ client }: World, session: string, name: string, input: object) {
  const { results, calls } = await client.execute(session, [block(name, input)]);
  return { text: results[0]?.content ?? '', status: calls[0]?.status };
}

async function schedule(at: World, session: string, input: object) {
  const { text } = await run(at, session, 'CronCreate', { cron: '0 * * * *', ...input });
  return /cron_[0-9a-f]{8}/.exec(text)?.[0] ?? text;
}

/** Results of scheduled runs in a session's log. */
async function runsOf({ client }: World, session: string) {
  const frames = await client.frames(session);
  return frames.flatMap((frame) => {
    const call = frame['call'] as { tool_use_id: string; status: string } | undefined;
    return frame.type === 'result' && call?.tool_use_id.startsWith('cron_')
      ? [{ ...call, turn: frame['turn_id'] }]
      : [];
  });
}

const isThere = ({ server }: World, name: string) => existsSync(join(server.workspace, name));

describe('CronCreate, CronList and CronDelete', () => {
  let at: World;

  beforeAll(async () => {
    at = await world();
  });

  it('ask before something is scheduled, and list and end it unasked', async () => {
    const plain = await at.client.session();
    const input = { cron: '0 9 * * 1-5', prompt: 'look' };
    expect(await run(at, plain, 'CronCreate', input)).toMatchObject({ status: 'denied' });
    const session = await at.client.session({ rules: { allow: ['ScheduleCron'] } });
    const id = await schedule(at, session, input);
    const listed = await run(at, plain, 'CronList', {});
    expect(listed.text).toMatch(new RegExp(`^${id}: 0 9 \\* \\* 1-5 \\(recurring\\), next at \\S+, 0 runs: look$`));
    expect((await run(at, plain, 'CronDelete', { id })).text).toBe(`Ended the schedule ${id} (0 9 * * 1-5)`);
    expect((await run(at, plain, 'CronList', {})).text).toBe('There are no schedules');
    expect(await run(at, plain, 'CronDelete', { id })).toMatchObject({ status: 'error' });
  });

  it('name what is wrong', async () => {
    const session = await at.client.session({ rules: { allow: ['CronCreate'] } });
    const { text } = await run(at, session, 'CronCreate', { cron: '0 25 * * *', prompt: 'x' });
    expect(text).toContain('Cannot schedule "0 25 * * *"');
    const without = await at.client.session({ rules: { allow: ['CronCreate'], deny: ['Agent'] } });
    const refused = await run(at, without, 'CronCreate', { cron: '0 9 * * *', prompt: 'x' });
    expect(refused.text).toContain('this session has no Agent');
  });

  it('are not enabled without a model', async () => {
    const other = await startServer();
    const { tools } = (await wireClient(other).get('/tools?format=full')).body;
    const found = tools.find(({ name }) => name === 'CronCreate');
    expect(JSON.stringify(found)).toContain('no model for agents is set');
  });
});

describe('a scheduled prompt', () => {
  it('runs as turns of the session that made it, each time', async () => {
    const at = await world();
    const session = await at.client.session({ mode: 'bypassPermissions' });
    const id = await schedule(at, session, { prompt: scripted(touch('made'), { text: 'Done' }) });
    forward(at, 1);
    await until(async () => (await runsOf(at, session)).length === 1);
    forward(at, 2);
    const runs = await until(async () => {
      const found = await runsOf(at, session);
      return found.length === 2 && found;
    });
    expect(runs.map(({ tool_use_id, status, turn }) => [tool_use_id, status, turn])).toEqual([
      [`${id}_1`, 'ok', `${id}_1`],
      [`${id}_2`, 'ok', `${id}_2`],
    ]);
    expect(isThere(at, 'made')).toBe(true);
  });

  it.each([
    ['then', 'default', 'bypassPermissions'],
    ['now', 'bypassPermissions', 'default'],
  ])('may do no more than its session might %s', async (_title, first, second) => {
    const at = await world();
    const session = await at.client.session({ mode: first, rules: { allow: ['CronCreate'] } });
    await schedule(at, session, { prompt: scripted(touch('widened'), { text: 'Done' }) });
    const mode = { updates: [{ type: 'setMode', mode: second }] };
    expect((await at.client.post(`/sessions/${session}/permissions`, mode)).status).toBe(200);
    forward(at, 1);
    await until(async () => (await runsOf(at, session)).length === 1);
    expect(isThere(at, 'widened')).toBe(false);
  });

  it('keeps rules that were taken back, and gets none that came later', async () => {
    const at = await world();
    const session = await at.client.session({ rules: { allow: ['CronCreate'], deny: ['Bash(touch denied:*)'] } });
    const prompt = scripted(touch('denied'), touch('allowed'), { text: 'Done' });
    await schedule(at, session, { prompt });
    const updates = [
      { type: 'removeRules', behavior: 'deny', rules: ['Bash(touch denied:*)'] },
      { type: 'addRules', behavior: 'allow', rules: ['Bash(touch:*)'] },
    ];
    await at.client.post(`/sessions/${session}/permissions`, { updates });
    forward(at, 1);
    await until(async () => (await runsOf(at, session)).length === 1);
    expect([isThere(at, 'denied'), isThere(at, 'allowed')]).toEqual([false, false]);
  });

  it('that was due once while the server was dead runs at its start, once, and says so', async () => {
    const first = await world();
    const session = await first.client.session({ mode: 'bypassPermissions' });
    const [once, again] = ['once', 'again'].map((name) => scripted(touch(name), { text: 'Done' }));
    const id = await schedule(first, session, { prompt: once, recurring: false, durable: true });
    const kept = await schedule(first, session, { prompt: again, durable: true });
    await schedule(first, session, { prompt: scripted(touch('gone')), recurring: false });
    await first.server.end('SIGKILL');

    forward(first, 2);
    const second = await world(first.home);
    const runs = await until(async () => {
      const found = await runsOf(second, session);
      return found.length > 0 && found;
    });
    expect(runs).toMatchObject([{ tool_use_id: `${id}_1` }]);
    const asked = model.requests.find(({ prompt }) => prompt.startsWith(`${once}\n`));
    expect(asked?.prompt).toContain('while the server did not run');
    await until(async () => (await run(second, session, 'CronList', {})).text.split('\n').length === 1);
    expect((await run(second, session, 'CronList', {})).text).toContain(kept);
    expect([isThere(second, 'once'), isThere(second, 'again'), isThere(second, 'gone')]).toEqual([true, false, false]);
  });

  it('that runs when the server is killed has one result, and is not run again', async () => {
    const first = await world();
    const session = await first.client.session({ mode: 'bypassPermissions' });
    const wait = { calls: [{ name: 'Bash', input: { command: 'echo x >> runs; sleep 60' } }] };
    await schedule(first, session, { prompt: scripted(wait), recurring: false, durable: true });
    forward(first, 1);
    await until(async () => isThere(first, 'runs'));
    await first.server.end('SIGKILL');
    const second = await world(first.home);
    await until(async () => (await run(second, session, 'CronList', {})).text === 'There are no schedules');
    expect(await runsOf(second, session)).toMatchObject([{ status: 'interrupted' }]);
  });

  it('has a session of its own when that which made it is gone, and goes with it unless it is durable', async () => {
    const at = await world();
    const session = await at.client.session({ mode: 'bypassPermissions' });
    const durable = await schedule(at, session, {
      prompt: scripted(touch('durable'), { text: 'Done' }),
      durable: true,
    });
    await schedule(at, session, { prompt: scripted(touch('gone')) });
    await at.client.send('DELETE', `/sessions/${session}`);
    forward(at, 1);
    await until(async () => isThere(at, 'durable'));
    const other = await at.client.session();
    await until(async () => (await run(at, other, 'CronList', {})).text.split('\n').length === 1);
    expect(isThere(at, 'gone')).toBe(false);
    const { sessions } = (await at.client.get('/sessions')).body;
    expect(sessions).toContainEqual(expect.objectContaining({ title: `Schedule ${durable}` }));
  });

  it('has no tools that the session which made it had not, when that is gone', async () => {
    const at = await world();
    const session = await at.client.session({ mode: 'bypassPermissions', tools: ['CronCreate', 'Agent'] });
    const id = await schedule(at, session, { prompt: scripted(touch('more'), { text: 'Done' }), durable: true });
    await at.client.send('DELETE', `/sessions/${session}`);
    forward(at, 1);
    const place = await until(async () => {
      const { sessions } = (await at.client.get('/sessions')).body;
      const titled: readonly { readonly session_id: string; readonly title?: string }[] = sessions;
      return titled.find(({ title }) => title === `Schedule ${id}`);
    });
    await until(async () => (await runsOf(at, place.session_id)).length === 1);
    expect(isThere(at, 'more')).toBe(false);
  });
});
