/** PROTOCOL 5: raw Anthropic streaming events become calls while they arrive. */
import { beforeAll, describe, expect, it } from 'vitest';
import { sharedWorkspace } from '../helpers/shared-workspace.ts';
import { block, type WireClient } from '../helpers/wire-client.ts';

let client: WireClient;
let folder: string;

beforeAll(async () => {
  ({ client, folder } = await sharedWorkspace('events'));
});

async function open(hello: object = {}) {
  const sessionId = await client.session({ cwd: folder, mode: 'bypassPermissions' });
  const stream = await client.stream(sessionId, hello);
  const event = (turn_id: string, value: object) => stream.send({ type: 'stream_event', turn_id, event: value });
  return { sessionId, stream, event };
}

const START = { type: 'message_start', message: { id: 'msg_1', role: 'assistant', content: [] } };
const STOP = [{ type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: {} }, { type: 'message_stop' }];

/** The events of one block, its JSON cut into pieces of `size`. */
function toolBlock(index: number, call: { id: string; name: string; input: unknown }, size = 7): object[] {
  const json = JSON.stringify(call.input);
  const pieces = json.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? [];
  return [
    {
      type: 'content_block_start',
      index,
      content_block: { type: 'tool_use', id: call.id, name: call.name, input: {} },
    },
    ...pieces.map((partial_json) => ({
      type: 'content_block_delta',
      index,
      delta: { type: 'input_json_delta', partial_json },
    })),
    { type: 'content_block_stop', index },
  ];
}

function textBlock(index: number, type: 'text' | 'thinking'): object[] {
  return [
    { type: 'content_block_start', index, content_block: { type, [type]: '' } },
    { type: 'content_block_delta', index, delta: { type: `${type}_delta`, [type]: 'words' } },
    { type: 'content_block_stop', index },
  ];
}

describe('stream events', () => {
  it('start a call when its block closes, before the message ends', async () => {
    const { stream, event } = await open();
    const call = block('Bash', { command: 'echo early' });
    for (const value of [START, ...textBlock(0, 'thinking'), ...textBlock(1, 'text'), ...toolBlock(2, call)])
      event('t', value);
    expect(await stream.next('result')).toMatchObject({ index: 0, turn_id: 't', tool_result: { content: 'early' } });
    expect(stream.frames.some(({ type }) => type === 'turn_end')).toBe(false);
    for (const value of STOP) event('t', value);
    expect(await stream.next('turn_end')).toMatchObject({ turn_id: 't', calls: [{ tool_use_id: call.id }] });
    await stream.close();
  });

  it('refuse a block whose input holds half of a surrogate pair, and take the next', async () => {
    const { stream, event } = await open();
    for (const value of [START, ...toolBlock(0, block('Bash', { command: 'echo \ud800' }))]) event('t', value);
    expect(await stream.next('error')).toMatchObject({ code: 'invalid_request', path: 'input.command' });
    for (const value of [...toolBlock(1, block('Bash', { command: 'echo 😀' }), 1), ...STOP]) event('t', value);
    expect(await stream.next('result')).toMatchObject({ tool_result: { content: '😀' } });
    stream.send({ type: 'tool_use', turn_id: 't', tool_use: block('Bash', { command: 'echo \ud800' }) });
    expect(await stream.next(({ path }) => path === 'tool_use.input.command')).toMatchObject({ type: 'error' });
    await stream.close();
  });

  it('keep blocks apart whose pieces come interleaved', async () => {
    const { stream, event } = await open();
    const calls = [block('Bash', { command: 'echo one' }), block('Bash', { command: 'echo "two é😀"' })];
    const [first = [], second = []] = calls.map((call, index) => toolBlock(index + 1, call, 3));
    event('t', START);
    for (let at = 0; at < Math.max(first.length, second.length); at++) {
      for (const value of [first[at], second[at]]) if (value) event('t', value);
    }
    for (const value of STOP) event('t', value);
    await stream.next('turn_end');
    const results = stream.frames.filter(({ type }) => type === 'result');
    const contents = results.map((frame) => (frame['tool_result'] as { content: string }).content);
    expect(new Set(contents)).toEqual(new Set(['one', 'two é😀']));
    expect(results.map(({ index }) => index).sort()).toEqual([0, 1]);
    await stream.close();
  });

  it('show the input while it streams in, the first at once', async () => {
    const { stream, event } = await open();
    const call = block('Write', { file_path: 'poem.txt', content: 'roses are red\n'.repeat(20) });
    const [begin = {}, ...rest] = toolBlock(0, call, 40);
    for (const value of [START, begin, ...rest.slice(0, 2)]) event('t', value);
    const partial = await stream.next('input_partial');
    expect(partial).toMatchObject({
      turn_id: 't',
      index: 0,
      tool_use_id: call.id,
      name: 'Write',
      display: { title: expect.any(String) },
    });
    expect(partial['partial_input']).toBeTypeOf('object');
    for (const value of [...rest.slice(2), ...STOP]) event('t', value);
    expect(await stream.next('result')).toMatchObject({ call: { status: 'ok' } });
    await stream.close();
  });

  it('show at most ten partial inputs a second', async () => {
    const { stream, event } = await open();
    const call = block('Write', { file_path: 'long.txt', content: 'word '.repeat(2_000) });
    for (const value of [START, ...toolBlock(0, call, 5), ...STOP]) event('t', value);
    await stream.next('turn_end');
    const partials = stream.frames.filter(({ type }) => type === 'input_partial');
    const stamps = partials.map(({ ts }) => Date.parse(String(ts)));
    expect(partials.length).toBeGreaterThan(0);
    const spanMs = (stamps.at(-1) ?? 0) - (stamps[0] ?? 0);
    expect(partials.length).toBeLessThanOrEqual(2 + spanMs / 100);
    await stream.close();
  });

  it('leave partial inputs out for who wants no progress', async () => {
    const { stream, event } = await open({ progress: false });
    for (const value of [START, ...toolBlock(0, block('Bash', { command: 'echo hi' }), 2), ...STOP]) event('t', value);
    await stream.next('turn_end');
    for (const kind of ['input_partial', 'progress', 'gap'])
      expect(stream.frames.map(({ type }) => type)).not.toContain(kind);
    await stream.close();
  });

  it('take an empty input as an empty object', async () => {
    const { stream, event } = await open();
    const call = { ...block('TaskList', {}), input: '' };
    const [begin = {}, end = {}] = [toolBlock(0, { ...call, input: {} })[0], { type: 'content_block_stop', index: 0 }];
    for (const value of [START, begin, end, ...STOP]) event('t', value);
    expect(await stream.next('tool_use')).toMatchObject({ tool_use: { id: call.id, input: {} } });
    await stream.next('turn_end');
    await stream.close();
  });

  it('whose JSON is broken give that block an error, and the rest goes on', async () => {
    const { stream, event } = await open();
    const [bad, good] = [block('Bash', { command: 'echo bad' }), block('Bash', { command: 'echo good' })];
    const broken = toolBlock(0, bad, 10).filter((_event, at) => at !== 2);
    for (const value of [START, ...broken, ...toolBlock(1, good), ...STOP]) event('t', value);
    await stream.next('turn_end');
    const results = stream.frames.filter(({ type }) => type === 'result');
    expect(results).toMatchObject([
      {
        tool_use_id: bad.id,
        tool_result: { is_error: true, content: expect.stringMatching(/^InputValidationError:/) },
        call: { error_code: 'invalid_input' },
      },
      { tool_use_id: good.id, call: { status: 'ok' } },
    ]);
    await stream.close();
  });

  it('of other types and blocks are passed over', async () => {
    const { stream, event } = await open();
    const serverTool = { type: 'server_tool_use', id: 'srv', name: 'web_search', input: {} };
    for (const value of [
      START,
      { type: 'ping' },
      { type: 'content_block_start', index: 0, content_block: serverTool },
      { type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: '{"q":1}' } },
      { type: 'content_block_stop', index: 0 },
      { type: 'something_new', index: 9 },
      ...toolBlock(1, block('Bash', { command: 'echo on' })),
      ...STOP,
    ])
      event('t', value);
    expect(await stream.next('turn_end')).toMatchObject({ calls: [{ status: 'ok' }] });
    expect(stream.frames.map(({ type }) => type)).not.toContain('error');
    await stream.close();
  });

  it('without a turn id make a turn of their own for each message', async () => {
    const { stream } = await open();
    for (const command of ['echo 1', 'echo 2']) {
      for (const event of [START, ...toolBlock(0, block('Bash', { command })), ...STOP])
        stream.send({ type: 'stream_event', event });
    }
    await stream.next(
      ({ type, turn_id }) =>
        type === 'turn_end' && turn_id !== stream.frames.find((frame) => frame.type === 'turn_end')?.['turn_id'],
    );
    const turns = stream.frames.filter(({ type }) => type === 'result').map(({ turn_id }) => turn_id);
    expect(new Set(turns).size).toBe(2);
    await stream.close();
  });
});

describe('discard', () => {
  it('drops what waits and runs in its turn, and no real result leaves', async () => {
    const { stream, sessionId, event } = await open();
    const [done, running, waiting] = [
      block('Bash', { command: 'echo done' }),
      block('Bash', { command: 'touch r; sleep 60' }),
      block('Bash', { command: 'touch waiting' }),
    ];
    event('t', START);
    for (const value of toolBlock(0, done)) event('t', value);
    await stream.next('result');
    for (const value of [...toolBlock(1, running), ...toolBlock(2, waiting)]) event('t', value);
    await stream.next(({ tool_use_id, state }) => tool_use_id === running.id && state === 'executing');
    stream.send({ type: 'discard', turn_id: 't' });
    await stream.next(({ type, tool_use_id }) => type === 'result' && tool_use_id === waiting.id);
    const results = (await client.frames(sessionId)).filter(({ type }) => type === 'result');
    expect(results).toMatchObject([
      { tool_use_id: done.id, call: { status: 'ok' } },
      { tool_use_id: running.id, call: { status: 'cancelled', error_code: 'discarded' } },
      { tool_use_id: waiting.id, call: { status: 'cancelled', error_code: 'discarded' } },
    ]);
    for (const { tool_result } of results.slice(1))
      expect((tool_result as { content?: string }).content ?? '').toHaveLength(0);
    await stream.close();
  });

  it('leaves other turns alone', async () => {
    const { stream } = await open();
    const other = block('Sleep', { duration_ms: 200 });
    stream.send({ type: 'tool_use', turn_id: 'keep', tool_use: other });
    stream.send({ type: 'tool_use', turn_id: 'drop', tool_use: block('Sleep', { duration_ms: 60_000 }) });
    stream.send({ type: 'discard', turn_id: 'drop' });
    expect(await stream.next(({ type, turn_id }) => type === 'result' && turn_id === 'drop')).toMatchObject({
      call: { error_code: 'discarded' },
    });
    expect(await stream.next(({ type, turn_id }) => type === 'result' && turn_id === 'keep')).toMatchObject({
      call: { status: 'ok' },
    });
    await stream.close();
  });
});

describe('a feeder that goes away', () => {
  it('comes back to its turn by its id', async () => {
    const { stream, sessionId } = await open();
    stream.send({ type: 'tool_use', turn_id: 't', tool_use: block('Bash', { command: 'echo 1' }) });
    await stream.next('result');
    await stream.close();
    const back = await client.stream(sessionId, { from_seq: 0 });
    back.send({ type: 'tool_use', turn_id: 't', tool_use: block('Bash', { command: 'echo 2' }) });
    back.send({ type: 'turn_end', turn_id: 't' });
    expect(await back.next('turn_end')).toMatchObject({ turn_id: 't', calls: [{ status: 'ok' }, { status: 'ok' }] });
    await back.close();
  });
});
