/** PROTOCOL 5: chunks of OpenAI's streams become calls while they arrive. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type LongRunning, longRunning } from '../helpers/long-running.ts';
import { sharedWorkspace } from '../helpers/shared-workspace.ts';
import type { WireClient } from '../helpers/wire-client.ts';

let client: WireClient;
let folder: string;
let model: LongRunning;

beforeAll(async () => {
  ({ client, folder } = await sharedWorkspace('chunks'));
  const script = join(import.meta.dirname, '../../examples/scripted-model.ts');
  model = await longRunning([process.execPath, '--import', 'tsx', script], /OPENAI/, { env: process.env });
}, 60_000);

afterAll(() => model.stop());

async function open() {
  const stream = await client.stream(await client.session({ cwd: folder, mode: 'bypassPermissions' }));
  const push = (chunk: object, turn_id?: string) => stream.send({ type: 'stream_chunk', turn_id, chunk });
  return { stream, push };
}

let counted = 0;
const newId = () => `call_${Date.now()}_${(counted += 1)}`;

/** A chunk of Chat Completions. */
const chat = (delta: object, finish_reason: string | null = null) => ({
  id: 'chatcmpl_1',
  object: 'chat.completion.chunk',
  choices: [{ index: 0, delta, finish_reason }],
});

const begins = (index: number | undefined, id: string, text = '') =>
  chat({ tool_calls: [{ index, id, type: 'function', function: { name: 'Bash', arguments: text } }] });
const goesOn = (index: number, text: string) => chat({ tool_calls: [{ index, function: { arguments: text } }] });

const echo = (word: string) => JSON.stringify({ command: `echo ${word}` });

describe('chunks of Chat Completions', () => {
  it('of the OpenAI SDK run the calls of a whole message', async () => {
    writeFileSync(join(folder, 'notes.md'), 'one\n');
    const { stream, push } = await open();
    const baseURL = /OPENAI_BASE_URL=(\S+)/.exec(model.printed)?.[1];
    const openai = new OpenAI({ baseURL, apiKey: 'none needed' });
    const messages = [{ role: 'user' as const, content: 'Summarise' }];
    const chunks = await openai.chat.completions.create({ model: 'scripted', messages, stream: true });
    for await (const chunk of chunks) push(chunk);
    expect(await stream.next('turn_end')).toMatchObject({
      calls: [
        { tool_use_id: 'call_0_0', name: 'Glob', status: 'ok' },
        { tool_use_id: 'call_0_1', name: 'Read', status: 'ok' },
      ],
    });
    await stream.close();
  });

  it('start a call once the next one begins, before the message ends', async () => {
    const { stream, push } = await open();
    const [first, second] = [newId(), newId()];
    push(chat({ role: 'assistant', content: '' }), 't');
    push(begins(0, first), 't');
    for (const piece of echo('early').match(/.{1,5}/g) ?? []) push(goesOn(0, piece), 't');
    push(begins(1, second), 't');
    expect(await stream.next('result')).toMatchObject({ tool_use_id: first, tool_result: { content: 'early' } });
    expect(stream.frames.some(({ type }) => type === 'turn_end')).toBe(false);
    push(goesOn(1, echo('late')), 't');
    push(chat({}, 'tool_calls'), 't');
    expect(await stream.next('turn_end')).toMatchObject({ turn_id: 't', calls: [{}, { tool_use_id: second }] });
    // The chunk with the usage comes behind the end, and begins nothing.
    push({ id: 'chatcmpl_1', object: 'chat.completion.chunk', choices: [], usage: { total_tokens: 3 } }, 't');
    stream.send({ type: 'ping', t: 'after' });
    await stream.next('pong');
    expect(stream.frames.map(({ type }) => type)).not.toContain('error');
    await stream.close();
  });

  it('of vendors that count every call from 0, or not at all, stay apart', async () => {
    const { stream, push } = await open();
    const ids = [newId(), newId(), newId()];
    push(begins(0, ids[0] ?? '', echo('one')));
    push(begins(0, ids[1] ?? '', echo('two')));
    push({
      choices: [
        { delta: { tool_calls: [{ id: ids[2], function: { name: 'Bash', arguments: { command: 'echo three' } } }] } },
      ],
    });
    push(chat({}, 'stop'));
    const { calls } = (await stream.next('turn_end')) as unknown as { calls: readonly { tool_use_id: string }[] };
    expect(calls.map(({ tool_use_id }) => tool_use_id)).toEqual(ids);
    const shown = stream.frames.filter(({ type }) => type === 'result').map((frame) => frame['tool_result']);
    expect(shown).toMatchObject([{ content: 'one' }, { content: 'two' }, { content: 'three' }]);
    await stream.close();
  });

  it('are told of where they fit no call, and the connection stays', async () => {
    const { stream, push } = await open();
    push(goesOn(0, '{}'), 't');
    const path = 'chunk.choices[0].delta.tool_calls[0]';
    expect(await stream.next('error')).toMatchObject({ code: 'invalid_request', path });
    push({ choices: [{ delta: { tool_calls: [{ index: 'none' }] } }] }, 't');
    expect(await stream.next(({ path: at }) => at === `${path}.index`)).toMatchObject({ type: 'error' });
    push({}, 't');
    expect(await stream.next(({ path: at }) => at === 'chunk.choices')).toMatchObject({
      message: expect.stringContaining('is required'),
    });
    push(begins(0, newId(), echo('on')), 't');
    push(chat({}, 'tool_calls'), 't');
    expect(await stream.next('result')).toMatchObject({ tool_result: { content: 'on' } });
    await stream.close();
  });
});

describe('a call of a chunk that is refused', () => {
  it('takes no other with it, nor the end of the message', async () => {
    const { stream, push } = await open();
    const [bad, good] = [newId(), newId()];
    push(begins(0, bad, '{"__proto__": {}}'));
    push(begins(1, good, echo('good')));
    push(chat({}, 'tool_calls'));
    expect(await stream.next('error')).toMatchObject({ details: { reason: 'forbidden_key' } });
    expect(await stream.next('turn_end')).toMatchObject({ calls: [{ tool_use_id: good, status: 'ok' }] });
    const next = newId();
    push(begins(0, next, '{"__proto__": {}}'));
    push(chat({}, 'tool_calls'));
    push(begins(0, newId(), echo('later')));
    push(chat({}, 'tool_calls'));
    await stream.next(
      ({ type, tool_result }) => type === 'result' && (tool_result as { content: string }).content === 'later',
    );
    await stream.close();
  });
});

describe('events of Responses', () => {
  it('start each call when its item is done, and end the turn with the response', async () => {
    const { stream, push } = await open();
    const call_id = newId();
    push({ type: 'response.created', response: {} });
    push({ type: 'response.output_item.added', output_index: 0, item: { type: 'reasoning', id: 'rs_1' } });
    push({ type: 'response.output_item.done', output_index: 0, item: { type: 'reasoning', id: 'rs_1' } });
    const item = { type: 'function_call', id: 'fc_1', call_id, name: 'Bash', arguments: '' };
    push({ type: 'response.output_item.added', output_index: 1, item });
    for (const delta of echo('answer').match(/.{1,5}/g) ?? []) {
      push({ type: 'response.function_call_arguments.delta', item_id: 'fc_1', output_index: 1, delta });
    }
    push({ type: 'response.output_item.done', output_index: 1, item });
    expect(await stream.next('result')).toMatchObject({ tool_use_id: call_id, tool_result: { content: 'answer' } });
    push({ type: 'response.completed', response: {} });
    expect(await stream.next('turn_end')).toMatchObject({ calls: [{ tool_use_id: call_id }] });
    await stream.close();
  });
});
