/** PROTOCOL 4: blocks in, results out, in the shape they were asked in. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { startServer } from '../helpers/built-server.ts';
import { sharedWorkspace } from '../helpers/shared-workspace.ts';
import { block, wireClient, type WireClient } from '../helpers/wire-client.ts';

let client: WireClient;
let folder: string;

beforeAll(async () => {
  ({ client, folder } = await sharedWorkspace('execute'));
  writeFileSync(join(folder, 'notes.txt'), 'one\ntwo\n');
});

const bash = (command: string, id?: string) => block('Bash', { command }, id);
const open = () => client.session({ cwd: folder, mode: 'bypassPermissions' });

describe('the input and the reply', () => {
  it('tool_uses give results and a message to append', async () => {
    const sessionId = await open();
    const body = await client.execute(sessionId, [bash('echo hi', 'a'), block('Read', { file_path: 'none' }, 'b')]);
    const results = [
      { type: 'tool_result', tool_use_id: 'a', content: 'hi' },
      { type: 'tool_result', tool_use_id: 'b', content: expect.any(String), is_error: true },
    ];
    expect(body).toMatchObject({ session_id: sessionId, turn_id: expect.any(String), results });
    expect(body['message']).toEqual({ role: 'user', content: body.results });
    expect(body.calls).toMatchObject([
      { tool_use_id: 'a', name: 'Bash', status: 'ok', duration_ms: expect.any(Number), result_chars: 2 },
      { tool_use_id: 'b', name: 'Read', status: 'error', error_code: 'tool_failed' },
    ]);
    for (const absent of ['messages', 'input']) expect(body).not.toHaveProperty(absent);
  });

  it('an Anthropic message gives the same, its other blocks passed over', async () => {
    const content = [
      { type: 'text', text: 'I look' },
      { type: 'thinking', thinking: 'hm', signature: 's' },
      bash('echo hi', 'a'),
    ];
    const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content, stop_reason: 'tool_use' };
    const { status, body } = await client.post('/execute', { message });
    expect(status).toBe(200);
    expect(body.results).toEqual([{ type: 'tool_result', tool_use_id: 'a', content: 'hi' }]);
    expect(body['message']).toEqual({ role: 'user', content: body.results });
  });

  it('OpenAI tool calls give tool messages', async () => {
    const call = (id: string, text: string) => ({ id, type: 'function', function: { name: 'Bash', arguments: text } });
    const { status, body } = await client.post('/execute', {
      tool_calls: [call('call_1', '{"command":"echo hi"}'), call('call_2', '{"command":')],
    });
    expect(status).toBe(200);
    expect(body['messages']).toEqual([
      { role: 'tool', tool_call_id: 'call_1', content: 'hi' },
      { role: 'tool', tool_call_id: 'call_2', content: expect.stringMatching(/^InputValidationError:/) },
    ]);
    expect(body.calls).toMatchObject([{ status: 'ok' }, { status: 'error', error_code: 'invalid_input' }]);
    expect(body).not.toHaveProperty('message');
  });

  it('OpenAI Responses items give function call outputs', async () => {
    const output = [
      { type: 'reasoning', id: 'rs_1', summary: [] },
      { type: 'message', role: 'assistant', content: [] },
      { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'Bash', arguments: '{"command":"echo hi"}' },
    ];
    const { status, body } = await client.post('/execute', { output });
    expect(status).toBe(200);
    expect(body['input']).toEqual([{ type: 'function_call_output', call_id: 'call_1', output: 'hi' }]);
    for (const absent of ['message', 'messages']) expect(body).not.toHaveProperty(absent);
  });

  it.each<[string, object]>([
    ['nothing', {}],
    ['no blocks', { tool_uses: [] }],
    ['a message without blocks', { message: { role: 'assistant', content: [{ type: 'text', text: 'a' }] } }],
    ['two shapes at once', { tool_uses: [block('Read', {})], tool_calls: [] }],
    ['a block of another type', { tool_uses: [{ ...block('Read', {}), type: 'text' }] }],
    ['a block without a name', { tool_uses: [{ type: 'tool_use', id: 'a', input: {} }] }],
    ['an on_ask that is none', { tool_uses: [block('Read', {})], on_ask: 'maybe' }],
    ['a time that is none', { tool_uses: [block('Read', {})], on_ask: 'wait', ask_timeout_ms: -1 }],
    ['a session id that is none', { tool_uses: [block('Read', {})], session_id: '../x' }],
    ['a turn id that is none', { tool_uses: [block('Read', {})], turn_id: 'a b' }],
  ])('%s is an invalid request', async (_what, body) => {
    const reply = await client.post('/execute', body);
    expect({ status: reply.status, code: reply.body.error.code }).toEqual({ status: 400, code: 'invalid_request' });
  });

  it('a batch without a session has one of its own, that can be read', async () => {
    const { session_id, turn_id } = await client.execute(undefined, [bash('echo hi')]);
    const frames = await client.frames(session_id);
    expect(frames.filter(({ type }) => type === 'turn_end')).toMatchObject([{ turn_id }]);
  });

  it('a turn id that was asked for is used, once', async () => {
    const sessionId = await open();
    expect(await client.execute(sessionId, [bash('true')], { turn_id: 'turn-1' })).toMatchObject({ turn_id: 'turn-1' });
    const again = await client.post('/execute', {
      session_id: sessionId,
      turn_id: 'turn-1',
      tool_uses: [bash('true')],
    });
    expect(again.status).toBe(409);
  });
});

describe('the fate of a call', () => {
  it.each<[string, object, object]>([
    ['a tool that is not there', block('Nothing', {}), { status: 'error', error_code: 'unknown_tool' }],
    ['an input that does not fit', block('Bash', { command: 7 }), { status: 'error', error_code: 'invalid_input' }],
    ['a command that fails', bash('exit 3'), { status: 'error', error_code: 'tool_failed' }],
    [
      'a command that takes too long',
      block('Bash', { command: 'sleep 60', timeout: 100 }),
      { status: 'error', error_code: 'timeout' },
    ],
    ['a file that is not there', block('Read', { file_path: 'none' }), { status: 'error', error_code: 'tool_failed' }],
    [
      'an edit of what was not read',
      block('Edit', { file_path: 'notes.txt', old_string: 'one', new_string: '1' }),
      { status: 'error' },
    ],
    ['a command that works', bash('true'), { status: 'ok' }],
  ])('is told: %s', async (_what, call, expected) => {
    const { calls, results } = await client.execute(await open(), [call]);
    expect(calls[0]).toMatchObject(expected);
    expect(results[0]?.is_error ?? false).toBe((expected as { status: string }).status !== 'ok');
    if (calls[0]?.status === 'ok') expect(calls[0]).not.toHaveProperty('error_code');
  });

  it('a tool the mode hides is unknown, and the text says why', async () => {
    const sessionId = await client.session({ tool_mode: 'simple' });
    const { calls, results } = await client.execute(sessionId, [block('Write', { file_path: 'a', content: '' })]);
    expect(calls[0]).toMatchObject({ status: 'error', error_code: 'unknown_tool' });
    expect(results[0]?.content).toMatch(/simple/);
  });

  it('an input that does not fit lists each issue by path, and the rest goes on', async () => {
    const wrong = block('Grep', { pattern: 7, output_mode: 'loud', nonsense: 1 });
    const { results, calls } = await client.execute(await open(), [wrong, bash('echo on')]);
    expect(results[0]).toMatchObject({ is_error: true, content: expect.stringMatching(/^InputValidationError:/) });
    for (const path of ['pattern', 'output_mode', 'nonsense']) expect(results[0]?.content).toContain(path);
    expect(calls[1]).toMatchObject({ status: 'ok' });
  });

  it('an alias is the tool', async () => {
    const { results } = await client.execute(await open(), [block('FileRead', { file_path: 'notes.txt' })]);
    expect(results[0]?.content).toContain('two');
  });

  it('a failed Bash aborts its later siblings, and the text names it', async () => {
    const { calls, results } = await client.execute(await open(), [
      bash('touch first'),
      bash('touch second; exit 9'),
      bash('touch never'),
    ]);
    expect(calls.map(({ status }) => status)).toEqual(['ok', 'error', 'cancelled']);
    expect(calls[2]).toMatchObject({ error_code: 'sibling_aborted' });
    expect(results[2]).toMatchObject({ is_error: true, content: expect.stringContaining('exit 9') });
  });

  it('a failed Bash ends what runs beside it', async () => {
    const startedMs = performance.now();
    const { calls } = await client.execute(await open(), [bash('sleep 30'), bash('cat not-there')]);
    expect(calls.map(({ error_code }) => error_code)).toEqual(['sibling_aborted', 'tool_failed']);
    expect(performance.now() - startedMs).toBeLessThan(10_000);
  });

  it('a denied or invalid Bash aborts nobody, and a failed Read neither', async () => {
    const sessionId = await client.session({ cwd: folder, on_ask: 'deny' });
    const calls = [bash('touch no'), block('Bash', {}), block('Read', { file_path: 'none' }), bash('echo on')];
    const { calls: told } = await client.execute(sessionId, calls);
    expect(told.map(({ status }) => status)).toEqual(['denied', 'error', 'error', 'ok']);
  });
});

describe('many calls', () => {
  it('give results in block order however they finish', async () => {
    const calls = [120, 10, 60, 1].map((ms, index) => bash(`sleep ${ms / 1_000}; echo ${index}`));
    const { results } = await client.execute(await open(), calls);
    expect(results.map(({ content }) => content)).toEqual(['0', '1', '2', '3']);
    expect(results.map(({ tool_use_id }) => tool_use_id)).toEqual(calls.map(({ id }) => id));
  });

  it('run side by side when they only read, one by one when they change', async () => {
    const sessionId = await open();
    const rest = Array.from({ length: 8 }, () => block('Sleep', { duration_ms: 300 }));
    const startedMs = performance.now();
    await client.execute(sessionId, rest);
    expect(performance.now() - startedMs).toBeLessThan(1_500);
    const writes = [1, 2, 3].map((n) => bash(`echo ${n} >> order; sleep 0.01; echo ${n} >> order`));
    const { results } = await client.execute(sessionId, [...writes, bash('cat order | tr -d "\\n"')]);
    expect(results.at(-1)?.content).toBe('112233');
  });

  it('are at most ten at once', async () => {
    const { session_id } = await client.execute(
      await open(),
      Array.from({ length: 14 }, () => block('Sleep', { duration_ms: 50 })),
    );
    let running = 0;
    let most = 0;
    for (const { type, state } of await client.frames(session_id)) {
      if (type !== 'state') continue;
      running += state === 'executing' ? 1 : -1;
      most = Math.max(most, running);
    }
    expect(most).toBe(10);
  });

  it('are fewer at once when the environment says so', async () => {
    const environment = { GAUNTLET_MAX_TOOL_USE_CONCURRENCY: '2' };
    const narrow = wireClient(await startServer({ environment }));
    const { session_id } = await narrow.execute(
      undefined,
      [1, 2, 3].map(() => block('Sleep', { duration_ms: 20 })),
    );
    const states = (await narrow.frames(session_id)).filter(({ type }) => type === 'state').map(({ state }) => state);
    expect(states.slice(0, 3)).toEqual(['executing', 'executing', 'completed']);
  });

  it('carry the working directory from one command to the next', async () => {
    const sessionId = await open();
    const { results } = await client.execute(sessionId, [
      bash('mkdir -p deep && cd deep'),
      bash('pwd'),
      bash('cd / && pwd'),
    ]);
    expect(results[1]?.content).toBe(join(folder, 'deep'));
    const { results: after } = await client.execute(sessionId, [bash('pwd')]);
    expect(after[0]?.content).not.toBe('/');
  });

  it('read, then edit, then see the edit', async () => {
    writeFileSync(join(folder, 'story.txt'), 'once\n');
    const { calls, results } = await client.execute(await open(), [
      block('Read', { file_path: 'story.txt' }),
      block('Edit', { file_path: 'story.txt', old_string: 'once', new_string: 'twice' }),
      block('Read', { file_path: 'story.txt' }),
    ]);
    expect(calls.map(({ status }) => status)).toEqual(['ok', 'ok', 'ok']);
    expect(results[2]?.content).toContain('twice');
  });
});
