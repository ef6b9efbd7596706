import request from 'supertest';
import { describe, expect, test } from 'vitest';
import { AUTHORIZATION, listeningApp } from '../../helpers/listening-app.ts';
import { plainTool } from '../../helpers/plain-tool.ts';
import { testSessions } from '../../helpers/test-sessions.ts';

const echo = plainTool('Echo', { touchesOnlySession: () => true, isConcurrencySafe: () => true });
const picture = plainTool('Picture', {
  touchesOnlySession: () => true,
  mapToolResultToToolResultBlockParam: (_output, toolUseId) => ({
    type: 'tool_result',
    tool_use_id: toolUseId,
    content: [
      { type: 'text', text: 'a cat' },
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
    ],
  }),
});
const { directory, newSessionPool } = testSessions([echo, picture]);
const { url } = await listeningApp({ directory, newSessionPool });
const execute = (body: object) => request(url).post('/execute').set(AUTHORIZATION).send(body);
const call = (id: string, text: string, name = 'Echo') => ({ type: 'tool_use', id, name, input: { text } });

describe('Anthropic shapes', () => {
  test('blocks give one result each, in order, and the message to append', async () => {
    const { body } = await execute({ tool_uses: [call('a', 'one'), call('b', 'two')] }).expect(200);
    const content = ['one', 'two'].map((text, index) => ({
      type: 'tool_result',
      tool_use_id: 'ab'[index],
      content: JSON.stringify({ text }),
    }));
    expect(body.results).toEqual(content);
    expect(body.message).toEqual({ role: 'user', content });
    expect(body.calls).toMatchObject([{ tool_use_id: 'a', name: 'Echo', status: 'ok' }, { status: 'ok' }]);
    expect(body.session_id).toMatch(/^[A-Za-z0-9_-]{1,128}$/);
  });

  test('the tool_use blocks of a message are taken', async () => {
    const content = [{ type: 'text', text: 'I will' }, { type: 'thinking', thinking: 'x' }, call('a', 'one')];
    const { body } = await execute({ message: { role: 'assistant', content } }).expect(200);
    expect(body.results).toHaveLength(1);
  });
});

describe('OpenAI shapes', () => {
  const chatCall = (id: string, text: string) => ({
    id,
    type: 'function',
    function: { name: 'Echo', arguments: text },
  });

  test('Chat calls give tool messages instead', async () => {
    const { body } = await execute({ tool_calls: [chatCall('call_1', '{"text":"one"}')] }).expect(200);
    expect(body.messages).toEqual([{ role: 'tool', tool_call_id: 'call_1', content: '{"text":"one"}' }]);
    expect(body.message).toBeUndefined();
  });

  test('Responses items give output items instead', async () => {
    const item = { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'Echo', arguments: '{"text":"one"}' };
    const { body } = await execute({ output: [{ type: 'reasoning', summary: [] }, item] }).expect(200);
    expect(body.input).toEqual([{ type: 'function_call_output', call_id: 'call_1', output: '{"text":"one"}' }]);
  });

  test('images go where the API takes them', async () => {
    const named = { name: 'Picture', arguments: '' };
    const chat = await execute({ tool_calls: [{ id: 'c', function: named }] }).expect(200);
    expect(chat.body.messages[0].content).toBe('a cat\n[image: in the user message behind the results]');
    const items = await execute({ output: [{ type: 'function_call', call_id: 'c', ...named }] }).expect(200);
    expect(items.body.input[0].output).toMatchObject([{ type: 'input_text' }, { type: 'input_image' }]);
  });

  test.each(['{"text":', '[1]', `${'['.repeat(99)}${']'.repeat(99)}`, '{"__proto__":{}}'])(
    'arguments %.20s are an invalid input of that call alone',
    async (text) => {
      const calls = [chatCall('bad', text), chatCall('good', '{}')];
      const { body } = await execute({ tool_calls: calls }).expect(200);
      expect(body.calls).toMatchObject([{ error_code: 'invalid_input' }, { status: 'ok' }]);
      expect(body.messages[0].content).toMatch(/^InputValidationError:/);
    },
  );
});

describe('bodies that are refused', () => {
  test.each<[string, object]>([
    ['no calls', { tool_uses: [] }],
    ['a message without calls', { message: { role: 'assistant', content: 'hello' } }],
    ['a message of the user', { message: { role: 'user', content: [call('a', 'x')] } }],
    ['nothing of the four', { session_id: 'x' }],
    ['two of the four', { tool_uses: [call('a', 'x')], tool_calls: [] }],
    ['too many calls', { tool_uses: Array.from({ length: 257 }, (_, index) => call(`c${index}`, 'x')) }],
    ['an id with a NUL', { tool_uses: [call('a\0', 'x')] }],
    ['an id with a lone surrogate', { tool_uses: [call('\ud800', 'x')] }],
    ['an id that is too long', { tool_uses: [call('a'.repeat(129), 'x')] }],
    ['the same id twice', { tool_uses: [call('a', 'x'), call('a', 'x')] }],
    ['a session id that is a path', { session_id: '../x', tool_uses: [call('a', 'x')] }],
    ['something that is no object', [1]],
  ])('%s', async (_what, body) => {
    expect((await execute(body).expect(400)).body.error.code).toBe('invalid_request');
  });

  test('a field is named by its path', async () => {
    const { body } = await execute({ tool_uses: [call('a', 'x'), { ...call('b', 'x'), name: 1 }] }).expect(400);
    expect(body.error.details).toMatchObject({ path: 'tool_uses[1].name', issues: [{ path: 'tool_uses[1].name' }] });
  });

  test.each<[string, object]>([
    ['tool_uses', { tool_uses: [] }],
    ['tool_uses', { tool_uses: Array.from({ length: 257 }, (_, index) => call(`c${index}`, 'x')) }],
    ['message', { message: { role: 'assistant', content: [{ type: 'text', text: 'no calls' }] } }],
    ['output', { output: [{ type: 'reasoning', summary: [] }] }],
  ])('a list without calls, or with too many, is named: %s', async (path, given) => {
    const { error } = (await execute(given).expect(400)).body;
    expect(error).toMatchObject({ message: expect.stringContaining(`"${path}"`), details: { path } });
  });

  test.each<[string, object]>([
    ['tool_uses[0].input.text', { tool_uses: [call('a', 'x\ud800')] }],
    ['message.content[0].text', { message: { role: 'assistant', content: [{ type: 'text', text: '\udc00' }] } }],
    [
      'tool_calls[0].function.arguments.text',
      { tool_calls: [{ id: 'a', type: 'function', function: { name: 'Echo', arguments: '{"text":"\\ud800"}' } }] },
    ],
    [
      'output[0].arguments.text',
      { output: [{ type: 'function_call', call_id: 'a', name: 'Echo', arguments: '{"text":"\\ud800"}' }] },
    ],
  ])('text that is no Unicode is refused by its field: %s', async (path, given) => {
    const { error } = (await execute(given).expect(400)).body;
    expect(error).toMatchObject({ code: 'invalid_request', details: { reason: 'lone_surrogate', path } });
  });

  test('a session that is not there', async () => {
    const { body } = await execute({ session_id: 'nobody', tool_uses: [call('a', 'x')] }).expect(404);
    expect(body.error.code).toBe('not_found');
  });
});

describe('frames instead of a reply', () => {
  test('lines of JSON end with the end of the turn', async () => {
    const { text, headers } = await execute({ tool_uses: [call('a', 'one')] }).set('accept', 'application/x-ndjson');
    const frames = text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(headers['content-type']).toBe('application/x-ndjson; charset=utf-8');
    expect(headers['x-content-type-options']).toBe('nosniff');
    expect(frames.map(({ type }) => type)).toContain('result');
    expect(frames.at(-1)).toMatchObject({ type: 'turn_end', calls: [{ status: 'ok' }] });
  });

  test('events carry the epoch and the seq as their id', async () => {
    const { text } = await execute({ tool_uses: [call('a', 'one')] }).set('accept', 'text/event-stream');
    const last = text.trimEnd().split('\n\n').at(-1) ?? '';
    expect(last).toMatch(/^id: [^.\n]+\.\d+\ndata: \{/);
    expect(JSON.parse(last.slice(last.indexOf('data: ') + 6))).toMatchObject({ type: 'turn_end' });
  });
});

test('a block that was sent before gets its stored result', async () => {
  const session = (await request(url).post('/sessions').set(AUTHORIZATION).expect(201)).body.session_id;
  const body = { session_id: session, tool_uses: [call('a', 'one')] };
  const first = await execute(body).expect(200);
  const again = await execute(body).expect(200);
  expect(again.body.results).toEqual(first.body.results);
  expect(again.body.calls[0].replayed).toBe(true);
  await execute({ session_id: session, tool_uses: [call('a', 'two')] }).expect(409);
});
