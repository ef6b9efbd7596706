/** PROTOCOL 4 and 5: calls that a tool makes of its own, as a client sees them. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { startServer, type BuiltServer } from '../helpers/built-server.ts';
import type { ClientSideFrame } from '../helpers/stream-client.ts';
import { block, until, wireClient, type WireClient } from '../helpers/wire-client.ts';

const PLUGIN = new URL('../fixtures/inner-tools.mjs', import.meta.url).pathname;

/** What `Batch` says of one inner call. */
interface InnerReply {
  readonly toolUseId: string;
  readonly status: string;
  readonly errorCode?: string;
  readonly content: string;
  readonly data_type: string;
}

const bash = (command: string) => ({ name: 'Bash', input: { command } });
const sleep = (duration_ms: number) => ({ name: 'Sleep', input: { duration_ms } });
const batch = (blocks: readonly object[], more: object = {}, id?: string) => block('Batch', { blocks, ...more }, id);
const repliesIn = (content: string | undefined) => JSON.parse(content ?? '') as readonly InnerReply[];
const statusesOf = (replies: readonly InnerReply[]) => replies.map(({ status, errorCode }) => errorCode ?? status);

let server: BuiltServer;
let client: WireClient;
let folders = 0;

beforeAll(async () => {
  server = await startServer({ settings: { plugins: [PLUGIN] } });
  client = wireClient(server);
});

/** A session in a folder of its own. */
async function begin(more: object = {}) {
  const cwd = join(server.workspace, `inner-${(folders += 1)}`);
  mkdirSync(cwd);
  const id = await client.session({ cwd, mode: 'bypassPermissions', ...more });
  const run = async (call: object) => {
    const { results, calls } = await client.execute(id, [call]);
    return { replies: repliesIn(results[0]?.content), calls, result: results[0] };
  };
  const at = (file: string) => join(cwd, file);
  return { id, cwd, run, at, isThere: (file: string) => existsSync(at(file)) };
}

/** Types of the frames about one call, in order. */
const typesOf = (frames: readonly ClientSideFrame[], id: string | undefined) =>
  frames
    .filter(({ tool_use_id, tool_use }) => (tool_use_id ?? (tool_use as { id?: string } | undefined)?.id) === id)
    .map(({ type, state }) => (type === 'state' ? String(state) : type));

describe('an inner call', () => {
  it('has frames of its own that name its parent, and stands in no reply', async () => {
    const { id, run, isThere } = await begin();
    const call = batch([bash('touch made; echo inside')], {}, 'outer');
    const { replies, calls } = await run(call);
    expect(replies).toMatchObject([{ status: 'ok', content: 'inside', data_type: 'object' }]);
    expect([calls.map(({ tool_use_id }) => tool_use_id), isThere('made')]).toEqual([['outer'], true]);
    const inner = replies[0]?.toolUseId;
    expect(inner).toMatch(/^outer-[A-Za-z0-9_-]+$/);
    const frames = await client.frames(id);
    expect(typesOf(frames, inner)).toEqual([
      ...['tool_use', 'executing', 'started', 'progress', 'change', 'completed', 'result'],
    ]);
    for (const frame of frames.filter(({ tool_use_id }) => tool_use_id === inner))
      expect(frame).toMatchObject({ parent_tool_use_id: 'outer' });
    expect(frames.filter(({ type }) => type === 'result').map(({ tool_use_id }) => tool_use_id)).toEqual([
      inner,
      'outer',
    ]);
    expect(frames.find(({ type }) => type === 'turn_end')?.['calls']).toHaveLength(1);
    expect((await client.get(`/sessions/${id}/results/${inner}`)).body['text']).toBe('inside');
    expect((await client.get(`/sessions/${id}/search?q=inside`)).text).toContain(inner);
  });

  it('streams with its turn', async () => {
    const { id } = await begin();
    const types: string[] = [];
    const body = { session_id: id, tool_uses: [batch([sleep(1)], {}, 'streams')] };
    for await (const frame of client.streamed(body, 'application/x-ndjson')) {
      if (frame['parent_tool_use_id'] === 'streams') types.push(frame.type);
    }
    expect(types).toEqual(['tool_use', 'state', 'started', 'state', 'result']);
  });

  it('has an id that no client can take, and takes none from a client', async () => {
    const { id, run } = await begin();
    await client.execute(id, [block('Sleep', { duration_ms: 1 }, 'p-1')]);
    const { replies } = await run(batch([sleep(1), { ...sleep(1), id: 'mine' }], {}, 'p'));
    expect(replies.map(({ toolUseId }) => toolUseId)).toEqual(['p-2', 'p-mine']);
    const taken = await client.post('/execute', {
      session_id: id,
      tool_uses: [block('Sleep', { duration_ms: 1 }, 'p-2')],
    });
    expect([taken.status, taken.body.error.details]).toEqual([409, { reason: 'inner_call', tool_use_id: 'p-2' }]);
  });

  it('fails, is denied or is unknown without failing its parent', async () => {
    const { run } = await begin({ rules: { deny: ['Bash(rm:*)'] } });
    const wrong = [bash('rm x'), { name: 'Nobody', input: {} }, { name: 'Sleep', input: { wrong: 1 } }, bash('exit 3')];
    const { replies, calls } = await run(batch(wrong, { in_turn: true }));
    expect(statusesOf(replies)).toEqual(['permission_denied', 'unknown_tool', 'invalid_input', 'tool_failed']);
    expect(calls[0]).toMatchObject({ status: 'ok' });
  });

  it('that is too deep is refused', async () => {
    const { run } = await begin();
    const nested = (levels: number): object =>
      levels === 0 ? sleep(1) : { name: 'Batch', input: { blocks: [nested(levels - 1)] } };
    const { replies } = await run(batch([nested(4)]));
    const levels: InnerReply[] = [];
    for (let level = replies; level[0]; level = level[0].content.startsWith('[') ? repliesIn(level[0].content) : [])
      levels.push(level[0]);
    expect(statusesOf(levels)).toEqual(['ok', 'ok', 'ok', 'ok', 'resource_exhausted']);
  });

  it('takes nothing of the budget of the turn', async () => {
    const { id } = await begin();
    const long = 'yes | head -c 29000';
    const blocks = [
      batch(Array(8).fill(bash(long)), { is_brief: true }),
      ...[1, 2, 3].map(() => block('Bash', { command: long })),
    ];
    const { calls } = await client.execute(id, blocks);
    expect(calls.map(({ status, spilled }) => [status, spilled])).toEqual(Array(4).fill(['ok', undefined]));
  });

  it('spills what is too long for its own budget', async () => {
    const { id, run } = await begin();
    const { replies } = await run(batch([bash('yes 0123456789 | head -c 60000')]));
    expect(replies[0]?.content).toMatch(/^Output too large \(60000 characters\)/);
    const page = await client.get(`/sessions/${id}/results/${replies[0]?.toolUseId}?offset_chars=59990`);
    expect(page.body).toMatchObject({ total_chars: 60_000, text: '789\n012345' });
  });

  it('is shown to hooks, which may block it and add words for the model', async () => {
    const script = `node -e 'let t="";process.stdin.on("data",d=>t+=d).on("end",()=>{const c=JSON.parse(t);
      require("fs").appendFileSync("told",[c.hook_event_name,c.tool_name,c.tool_use_id,c.parent_tool_use_id].join(" ")+"\\n");
      if(c.tool_input.command==="echo no")process.exit(2)})'`;
    const hooks = Object.fromEntries(
      ['PreToolUse', 'PostToolUse'].map((event) => [
        event,
        [{ matcher: 'Bash', hooks: [{ type: 'command', command: script }] }],
      ]),
    );
    const hooked = await startServer({ settings: { plugins: [PLUGIN], hooks } });
    const { execute, session } = wireClient(hooked);
    const id = await session({ mode: 'bypassPermissions' });
    const { results } = await execute(id, [batch([bash('echo yes'), bash('echo no')], { in_turn: true }, 'h')]);
    expect(statusesOf(repliesIn(results[0]?.content))).toEqual(['ok', 'hook_blocked']);
    expect(readFileSync(join(hooked.workspace, 'told'), 'utf8').split('\n').slice(0, 3)).toEqual([
      'PreToolUse Bash h-1 h',
      'PostToolUse Bash h-1 h',
      'PreToolUse Bash h-2 h',
    ]);
  });
});

describe('several inner calls', () => {
  it('run side by side where they are safe, and one after another where they are not', async () => {
    const { id, run } = await begin();
    const { replies } = await run(batch([sleep(300), sleep(300), bash('echo a > x'), bash('cat x')]));
    expect(statusesOf(replies)).toEqual(['ok', 'ok', 'ok', 'ok']);
    expect(replies[3]?.content).toBe('a');
    const ids = replies.map(({ toolUseId }) => toolUseId);
    const states = (await client.frames(id)).flatMap(({ type, tool_use_id, state }) =>
      type === 'state' && ids.includes(String(tool_use_id))
        ? [`${ids.indexOf(String(tool_use_id))} ${String(state)}`]
        : [],
    );
    expect(states.slice(0, 2)).toEqual(['0 executing', '1 executing']);
    expect(states.slice(4)).toEqual(['2 executing', '2 completed', '3 executing', '3 completed']);
  });

  it('end with a failed command among them, but not their parent or what it asks for later', async () => {
    const { run, isThere } = await begin();
    const { replies, calls } = await run(batch([bash('exit 1'), bash('touch late')]));
    expect([statusesOf(replies), isThere('late')]).toEqual([['tool_failed', 'sibling_aborted'], false]);
    expect(calls[0]).toMatchObject({ status: 'ok' });
    const inTurn = await run(batch([bash('exit 1'), bash('touch late')], { in_turn: true }));
    expect([statusesOf(inTurn.replies), isThere('late')]).toEqual([['tool_failed', 'ok'], true]);
  });

  it('wait until the calls beside their parent have ended, where they are not safe', async () => {
    const { id } = await begin();
    const blocks = [block('Sleep', { duration_ms: 400 }, 'beside'), batch([bash('touch x')], { is_safe: true }, 'b')];
    await client.execute(id, blocks);
    const frames = await client.frames(id);
    const at = (type: string, of: string, state?: string) =>
      frames.findIndex((f) => f.type === type && f['tool_use_id'] === of && f['state'] === state);
    expect(at('state', 'b', 'executing')).toBeLessThan(at('state', 'beside', 'completed'));
    expect(at('started', 'b-1')).toBeGreaterThan(at('state', 'beside', 'completed'));
  });

  it('of two safe calls that both change something do so one call after the other', async () => {
    const { id } = await begin();
    const touching = (name: string) => batch([bash(`touch ${name}`), bash(`touch ${name}2`)], { is_safe: true }, name);
    const { calls } = await client.execute(id, [touching('a'), touching('b')]);
    expect(calls).toMatchObject([{ status: 'ok' }, { status: 'ok' }]);
    const results = (await client.frames(id)).filter(({ type }) => type === 'result');
    expect(results.map(({ tool_use_id }) => tool_use_id)).toEqual(['a-1', 'a-2', 'a', 'b-1', 'b-2', 'b']);
  });

  it('that their parent does not wait for end with it', async () => {
    const { id } = await begin();
    await client.execute(id, [batch([bash('sleep 60')], { leaves: true }, 'left')]);
    const results = (await client.frames(id)).filter(({ type }) => type === 'result');
    expect(results.map(({ tool_use_id, call }) => [tool_use_id, (call as { status: string }).status])).toEqual([
      ['left-1', 'cancelled'],
      ['left', 'ok'],
    ]);
  });
});

describe('whoever watches', () => {
  it('is asked about an inner call', async () => {
    const { id, isThere } = await begin({ mode: 'default', rules: { allow: ['Batch'] }, on_ask: 'wait' });
    const running = client.execute(id, [batch([bash('touch asked')], {}, 'q')]);
    const [prompt] = await until(async () => {
      const { prompts } = (await client.get(`/sessions/${id}/prompts`)).body;
      return prompts.length > 0 && prompts;
    });
    expect(prompt).toMatchObject({ tool_name: 'Bash', tool_use_id: 'q-1', parent_tool_use_id: 'q' });
    expect(isThere('asked')).toBe(false);
    await client.post(`/sessions/${id}/prompts/${prompt?.request_id}`, { behavior: 'allow' });
    expect((await running).calls[0]).toMatchObject({ status: 'ok' });
    expect(isThere('asked')).toBe(true);
  });

  it('sees it run, and cancels it alone or with its parent', async () => {
    const { id } = await begin();
    const first = client.execute(id, [batch([bash('sleep 60'), bash('echo next')], { in_turn: true }, 'c')]);
    await until(async () => {
      const { running } = (await client.get(`/sessions/${id}`)).body as unknown as { running: { state: string }[] };
      return running.some((call) => 'parent_tool_use_id' in call && call.state === 'executing');
    });
    expect((await client.post(`/sessions/${id}/cancel`, { tool_use_id: 'c-1' })).body['cancelled']).toEqual(['c-1']);
    expect(statusesOf(repliesIn((await first).results[0]?.content))).toEqual(['cancelled', 'ok']);

    const second = client.execute(id, [batch([bash('sleep 60'), bash('touch next')], {}, 'd')]);
    await until(async () => (await client.get(`/sessions/${id}`)).text.includes('"d-1"'));
    await client.post(`/sessions/${id}/cancel`, { tool_use_id: 'd' });
    expect((await second).calls[0]).toMatchObject({ status: 'cancelled' });
    const results = (await client.frames(id)).filter(({ type, turn_id }) => type === 'result' && turn_id !== undefined);
    expect(
      results.slice(-3).map(({ tool_use_id, call }) => [tool_use_id, (call as { status: string }).status]),
    ).toEqual(
      expect.arrayContaining([
        ['d-1', 'cancelled'],
        ['d-2', 'cancelled'],
        ['d', 'cancelled'],
      ]),
    );
    expect(results.at(-1)?.['tool_use_id']).toBe('d');
  });
});

it('a turn that is discarded ends when its inner calls have', async () => {
  const { id } = await begin();
  const stream = await client.stream(id);
  stream.send({ type: 'tool_use', turn_id: 't', tool_use: batch([bash('sleep 60')], {}, 'gone') });
  await until(async () => (await client.get(`/sessions/${id}`)).text.includes('"gone-1"'));
  stream.send({ type: 'discard', turn_id: 't' });
  await stream.next('turn_end');
  await stream.close();
  const frames = (await client.frames(id)).filter(({ type }) => type === 'result' || type === 'turn_end');
  expect(frames.at(-1)?.type).toBe('turn_end');
  const ended = frames.slice(0, -1).map(({ tool_use_id, call }) => [tool_use_id, (call as { status: string }).status]);
  expect(ended.toSorted()).toEqual([
    ['gone', 'cancelled'],
    ['gone-1', 'cancelled'],
  ]);
});

describe('an undo', () => {
  it('of a call takes what its inner calls changed with it', async () => {
    const { id, run, at, isThere } = await begin();
    writeFileSync(at('old'), 'before');
    const blocks = [
      { name: 'Read', input: { file_path: 'old' } },
      { name: 'Edit', input: { file_path: 'old', old_string: 'before', new_string: 'after' } },
      { name: 'Write', input: { file_path: 'new', content: 'x' } },
    ];
    const { replies } = await run(batch(blocks, { in_turn: true }, 'u'));
    expect(statusesOf(replies)).toEqual(['ok', 'ok', 'ok']);
    expect([readFileSync(at('old'), 'utf8'), isThere('new')]).toEqual(['after', true]);
    const { changes } = (await client.get(`/sessions/${id}/changes?tool_use_id=u`)).body;
    expect(changes).toMatchObject([{ tool_use_id: 'u-2' }, { tool_use_id: 'u-3' }]);
    expect((await client.post(`/sessions/${id}/undo`, { tool_use_id: 'u' })).status).toBe(200);
    expect([readFileSync(at('old'), 'utf8'), isThere('new')]).toEqual(['before', false]);
  });
});

describe('a server that was killed', () => {
  it('gives an inner call one interrupted result, and knows its id ever after', async () => {
    const first = await startServer({ settings: { plugins: [PLUGIN] } });
    const before = wireClient(first);
    const id = await before.session({ mode: 'bypassPermissions' });
    const blocks = [{ ...bash('echo done') }, bash('touch running; sleep 60'), bash('touch never')];
    void before.execute(id, [batch(blocks, {}, 'k')]).catch(() => undefined);
    await until(() => Promise.resolve(existsSync(join(first.workspace, 'running'))));
    await first.end('SIGKILL');

    const second = await startServer({ home: first.home });
    const after = wireClient(second);
    const results = (await after.frames(id)).filter(({ type }) => type === 'result');
    expect(results.map(({ tool_use_id, call }) => [tool_use_id, (call as { status: string }).status])).toEqual([
      ['k-1', 'ok'],
      ['k-3', 'interrupted'],
      ['k-2', 'interrupted'],
      ['k', 'interrupted'],
    ]);
    for (const { parent_tool_use_id } of results.slice(0, 3)) expect(parent_tool_use_id).toBe('k');
    expect((await after.frames(id)).find(({ type }) => type === 'turn_end')?.['calls']).toHaveLength(1);
    await second.end('SIGTERM');

    const third = wireClient(await startServer({ home: first.home }));
    const taken = await third.post('/execute', {
      session_id: id,
      tool_uses: [block('Sleep', { duration_ms: 1 }, 'k-2')],
    });
    expect(taken.body.error).toMatchObject({ code: 'conflict', details: { reason: 'inner_call' } });
    expect((await third.frames(id)).filter(({ type }) => type === 'result')).toHaveLength(4);
    expect(existsSync(join(first.workspace, 'never'))).toBe(false);
  }, 60_000);
});
