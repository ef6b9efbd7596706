/** A tool is handed the whole message that its call came in, whichever door it came by. */
import { beforeAll, expect, it } from 'vitest';
import { startServer } from '../helpers/built-server.ts';
import { block, wireClient, type WireClient } from '../helpers/wire-client.ts';

const PLUGIN = new URL('../fixtures/inner-tools.mjs', import.meta.url).pathname;

let client: WireClient;

beforeAll(async () => {
  client = wireClient(await startServer({ settings: { plugins: [PLUGIN] } }));
});

const session = () => client.session({ mode: 'bypassPermissions' });
const call = (id: string) => block('ParentMessage', {}, id);

it('a posted message is handed on with its text, its thinking and its other fields', async () => {
  const content = [{ type: 'thinking', thinking: 'Hm', signature: 's' }, { type: 'text', text: 'I look' }, call('a')];
  const message = { role: 'assistant', id: 'msg_1', model: 'some', content };
  const { status, body } = await client.post('/execute', { session_id: await session(), message });
  expect([status, JSON.parse(body.results[0]?.content ?? '')]).toEqual([200, message]);
});

it('a streamed message is handed on as far as it has come', async () => {
  const stream = await client.stream(await session());
  const send = (event: object) => stream.send({ type: 'stream_event', turn_id: 't', event });
  const whole = (index: number, content_block: object, ...deltas: object[]) => {
    send({ type: 'content_block_start', index, content_block });
    for (const delta of deltas) send({ type: 'content_block_delta', index, delta });
    send({ type: 'content_block_stop', index });
  };
  send({ type: 'message_start' });
  whole(0, { type: 'thinking', thinking: '' }, { type: 'thinking_delta', thinking: 'Hm' });
  whole(1, { type: 'text', text: '' }, { type: 'text_delta', text: 'I ' }, { type: 'text_delta', text: 'look' });
  whole(2, call('b'), { type: 'input_json_delta', partial_json: '{}' });
  whole(3, { type: 'text', text: '' }, { type: 'text_delta', text: 'later' });
  send({ type: 'message_stop' });
  const { tool_result } = await stream.next('result');
  expect(JSON.parse((tool_result as { content: string }).content)).toEqual({
    role: 'assistant',
    content: [{ type: 'thinking', thinking: 'Hm' }, { type: 'text', text: 'I look' }, call('b')],
  });
  await stream.close();
});

it('a message of OpenAI is handed on with its text', async () => {
  const stream = await client.stream(await session());
  const push = (chunk: object) => stream.send({ type: 'stream_chunk', chunk });
  const chat = (delta: object, finish_reason?: string) => push({ choices: [{ index: 0, delta, finish_reason }] });
  const [one, two] = [call('e'), call('f')];
  const named = (id: string) => ({ index: 0, id, function: { name: 'ParentMessage', arguments: '{}' } });
  for (const content of ['', 'I ', 'look']) chat({ role: 'assistant', content });
  chat({ tool_calls: [named(one.id)] });
  chat({ content: null }, 'tool_calls');
  const first = await stream.next('result');
  push({ type: 'response.created' });
  push({ type: 'response.output_item.added', output_index: 0, item: { type: 'message' } });
  push({ type: 'response.output_text.delta', output_index: 0, delta: 'I look' });
  push({ type: 'response.output_item.done', output_index: 0 });
  const item = { type: 'function_call', call_id: two.id, name: two.name };
  push({ type: 'response.output_item.added', output_index: 1, item });
  push({ type: 'response.output_item.done', output_index: 1 });
  push({ type: 'response.completed' });
  const second = await stream.next(({ type, tool_use_id }) => type === 'result' && tool_use_id === two.id);
  const shown = [first, second].map(
    ({ tool_result }) => JSON.parse((tool_result as { content: string }).content) as unknown,
  );
  expect(shown).toEqual(
    [one, two].map((block) => ({ role: 'assistant', content: [{ type: 'text', text: 'I look' }, block] })),
  );
  await stream.close();
});

it('blocks by themselves are handed on as a message that holds them', async () => {
  const blocks = [call('c'), call('d')];
  const { results } = await client.execute(await session(), blocks);
  expect(JSON.parse(results[1]?.content ?? '')).toEqual({ role: 'assistant', content: blocks });
});
