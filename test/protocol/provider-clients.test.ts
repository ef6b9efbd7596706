/** PROTOCOL 4: what the SDKs of several providers really send, and what they take back. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { anthropicProblems, geminiProblems, openAiProblems } from '../helpers/provider-rules.ts';
import { sharedWorkspace } from '../helpers/shared-workspace.ts';
import type { ClientSideFrame } from '../helpers/stream-client.ts';
import { block, type WireClient, type WireTool } from '../helpers/wire-client.ts';

/** A PNG of one pixel. */
const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

let client: WireClient;
let folder: string;

beforeAll(async () => {
  ({ client, folder } = await sharedWorkspace('provider-clients'));
  writeFileSync(join(folder, 'notes.txt'), 'one\ntwo\n');
  writeFileSync(join(folder, 'pixel.png'), PIXEL);
});

const bash = (command: string, id?: string) => block('Bash', { command }, id);
const open = (options: object = {}) => client.session({ cwd: folder, mode: 'bypassPermissions', ...options });
const chatCall = (id: string | undefined, input: unknown, name = 'Bash') => ({
  ...(id !== undefined && { id }),
  type: 'function',
  function: { name, arguments: input },
});

const isResultOf = (turnId: string) => (frame: ClientSideFrame) =>
  frame.type === 'result' && frame['turn_id'] === turnId;

describe('ids of calls', () => {
  it.each(['functions.Read:0', 'call_x|fc_y', 'a b/c?d#e%2f', 'é🙂', '../x', 'x'.repeat(128)])(
    '%j is an id in bodies, addresses and files',
    async (id) => {
      const sessionId = await open();
      const body = await client.execute(sessionId, [bash('seq 30000', id)]);
      expect(body.results).toMatchObject([{ tool_use_id: id }]);
      const { spilled } = body.calls[0] ?? {};
      expect(spilled?.url).toBe(`/sessions/${sessionId}/results/${encodeURIComponent(id)}`);
      const page = (await client.get(`${spilled?.url}?limit_chars=3`)).body;
      expect(page).toMatchObject({ text: '1\n2', total_chars: spilled?.chars });
      await client.execute(sessionId, [block('Write', { file_path: `w.txt`, content: 'w' }, `${id.slice(1)}w`)]);
      const changes = await client.get(
        `/sessions/${sessionId}/changes?tool_use_id=${encodeURIComponent(`${id.slice(1)}w`)}`,
      );
      expect(changes.body['changes']).toMatchObject([{ tool_use_id: `${id.slice(1)}w` }]);
      const undone = await client.post(`/sessions/${sessionId}/undo`, { tool_use_id: `${id.slice(1)}w` });
      expect(undone.status).toBe(200);
      const again = await client.execute(sessionId, [bash('seq 30000', id)]);
      expect(again.calls).toMatchObject([{ tool_use_id: id, replayed: true }]);
    },
  );

  it.each(['a\nb', 'a\u200bb', 'a\u2028b', '.', '..', 'x'.repeat(129)])('%j is none', async (id) => {
    const { status, body } = await client.post('/execute', { tool_uses: [bash('true', id)] });
    expect([status, body.error.code]).toEqual([400, 'invalid_request']);
    expect(body.error.details).toMatchObject({ path: 'tool_uses[0].id' });
  });

  it('a missing id, and one that was used, name the way out', async () => {
    const sessionId = await open();
    const missing = await client.post('/execute', { session_id: sessionId, tool_calls: [chatCall(undefined, '{}')] });
    expect(missing.status).toBe(400);
    expect(missing.body.error).toMatchObject({
      message: expect.stringContaining('"id_scope": "turn"'),
      details: { path: 'tool_calls[0].id' },
    });
    await client.execute(sessionId, [bash('echo 1', 'call_0')]);
    const reused = await client.post('/execute', { session_id: sessionId, tool_uses: [bash('echo 2', 'call_0')] });
    expect(reused.status).toBe(409);
    expect(reused.body.error.message).toContain('"id_scope": "turn"');
  });
});

describe('id_scope "turn"', () => {
  it('makes one id of turn and id, uses it everywhere, and replays the same turn', async () => {
    const sessionId = await open();
    const send = (turn: string, n: number) =>
      client.post('/execute', {
        session_id: sessionId,
        turn_id: turn,
        id_scope: 'turn',
        tool_calls: [chatCall('call_0', { command: `echo ${n}` }), chatCall(undefined, `{"command":"echo +${n}"}`)],
      });
    const first = (await send('t1', 1)).body;
    const second = (await send('t2', 2)).body;
    expect(first.results.map(({ content }) => content)).toEqual(['1', '+1']);
    expect(second.results.map(({ content }) => content)).toEqual(['2', '+2']);
    const ids = [...first.results, ...second.results].map(({ tool_use_id: id }) => id);
    expect(new Set(ids).size).toBe(4);
    for (const id of ids) expect(id).toMatch(/^[A-Za-z0-9_-]{1,40}$/);
    expect(first.calls).toMatchObject([{ tool_use_id: ids[0], provider_id: 'call_0' }, { tool_use_id: ids[1] }]);
    expect(first.calls[1]).not.toHaveProperty('provider_id');
    expect(first['messages']).toMatchObject([{ tool_call_id: ids[0] }, { tool_call_id: ids[1] }]);
    expect(first['assistant']).toEqual({
      role: 'assistant',
      content: null,
      tool_calls: [
        { id: ids[0], type: 'function', function: { name: 'Bash', arguments: '{"command":"echo 1"}' } },
        { id: ids[1], type: 'function', function: { name: 'Bash', arguments: '{"command":"echo +1"}' } },
      ],
    });
    const again = (await send('t1', 1)).body;
    expect(again.results).toEqual(first.results);
    expect(again.calls).toMatchObject([
      { tool_use_id: ids[0], provider_id: 'call_0', replayed: true },
      { tool_use_id: ids[1], replayed: true },
    ]);
    expect((await send('t1', 3)).status).toBe(409);
    const frames = await client.frames(sessionId);
    expect(frames.find(({ type }) => type === 'tool_use')).toMatchObject({
      tool_use: { id: ids[0] },
      provider_id: 'call_0',
    });
    const text = await client.get(`/sessions/${sessionId}/results/${ids[3]}`);
    expect(text.body).toMatchObject({ text: '+2' });
  });

  it('wants a turn, and a request beats its session', async () => {
    const sessionId = await open({ id_scope: 'turn' });
    expect((await client.get(`/sessions/${sessionId}`)).body).toMatchObject({ id_scope: 'turn' });
    const without = await client.post('/execute', { session_id: sessionId, tool_uses: [bash('true', 'a')] });
    expect(without.status).toBe(400);
    expect(without.body.error.details).toMatchObject({ path: 'turn_id' });
    const own = await client.execute(sessionId, [bash('true', 'a')], { id_scope: 'session' });
    expect(own.results).toMatchObject([{ tool_use_id: 'a' }]);
    expect(own).not.toHaveProperty('assistant');
  });

  it.each<[string, object, (id: string) => unknown]>([
    [
      'tool_uses',
      { tool_uses: [bash('echo hi', '0')] },
      (id) => ({ role: 'assistant', content: [bash('echo hi', id)] }),
    ],
    [
      'message',
      { message: { role: 'assistant', model: 'm', content: [{ type: 'text', text: 'so' }, bash('echo hi', '0')] } },
      (id) => ({ role: 'assistant', model: 'm', content: [{ type: 'text', text: 'so' }, bash('echo hi', id)] }),
    ],
    [
      'output',
      {
        output: [
          { type: 'reasoning', id: 'rs' },
          { type: 'function_call', id: 'fc', call_id: '0', name: 'Bash', arguments: '{"command":"echo hi"}' },
        ],
      },
      (id) => [
        { type: 'reasoning', id: 'rs' },
        { type: 'function_call', id: 'fc', call_id: id, name: 'Bash', arguments: '{"command":"echo hi"}' },
      ],
    ],
    [
      'function_calls',
      { function_calls: [{ functionCall: { name: 'Bash', args: { command: 'echo hi' } }, thoughtSignature: 's' }] },
      (id) => ({
        role: 'model',
        parts: [{ functionCall: { id, name: 'Bash', args: { command: 'echo hi' } }, thoughtSignature: 's' }],
      }),
    ],
  ])('gives the assistant message back as it came with %s', async (_field, body, assistant) => {
    const sent = { session_id: await open({ id_scope: 'turn' }), turn_id: 't', ...body };
    const reply = (await client.post('/execute', sent)).body;
    expect(reply.results).toMatchObject([{ content: 'hi' }]);
    expect(reply['assistant']).toEqual(assistant(reply.results[0]?.tool_use_id ?? ''));
  });

  it('holds for every frame of a stream, and gives the ids of the request', async () => {
    const sessionId = await open({ id_scope: 'turn' });
    const stream = await client.stream(sessionId);
    const calls = ['echo a', 'echo b'].map((command) => ({ functionCall: { name: 'Bash', args: { command } } }));
    stream.send({
      type: 'stream_chunk',
      turn_id: 't',
      chunk: { candidates: [{ content: { parts: [{ text: 'I' }] } }] },
    });
    stream.send({
      type: 'stream_chunk',
      turn_id: 't',
      chunk: { candidates: [{ content: { parts: calls }, finishReason: 'STOP' }] },
    });
    const end = await stream.next('turn_end');
    await stream.close();
    const function_calls = calls.map(({ functionCall }) => functionCall);
    const reply = await client.post('/execute', { session_id: sessionId, turn_id: 't', function_calls });
    expect(reply.body.calls).toMatchObject([{ replayed: true }, { replayed: true }]);
    expect(reply.body.results.map(({ content }) => content)).toEqual(['a', 'b']);
    expect(end['calls']).toMatchObject(reply.body.results.map(({ tool_use_id }) => ({ tool_use_id })));
    expect(reply.body['content']).toMatchObject({ role: 'user', parts: [{ functionResponse: { name: 'Bash' } }, {}] });
  });

  it('holds for chat chunks and blocks without ids', async () => {
    const stream = await client.stream(await open({ id_scope: 'turn' }));
    const chunk = (tool_calls: object[], finish_reason: string | null = null) =>
      stream.send({
        type: 'stream_chunk',
        turn_id: 't',
        chunk: { choices: [{ delta: { tool_calls }, finish_reason }] },
      });
    chunk([{ index: 0, id: '', function: { name: 'Bash', arguments: '{"command":' } }]);
    chunk([{ index: 0, function: { arguments: '"echo 1"}' } }]);
    chunk([{ index: 0, function: { name: 'Bash', arguments: '{"command":"echo 2"}' } }], 'tool_calls');
    expect((await stream.next('turn_end'))['calls']).toMatchObject([{ status: 'ok' }, { status: 'ok' }]);
    const { id: _none, ...nameless } = bash('echo 3');
    stream.send({ type: 'tool_use', turn_id: 'u', tool_use: nameless });
    expect(await stream.next(isResultOf('u'))).toMatchObject({ tool_result: { content: '3' } });
    stream.send({ type: 'tool_use', tool_use: nameless });
    expect(await stream.next('error')).toMatchObject({ code: 'invalid_request', path: 'turn_id' });
    await stream.close();
  });

  it('a streamed block without an id names the way out', async () => {
    const stream = await client.stream(await open());
    const chunk = { candidates: [{ content: { parts: [{ functionCall: { name: 'Bash', args: {} } }] } }] };
    stream.send({ type: 'stream_chunk', chunk });
    expect(await stream.next('error')).toMatchObject({ message: expect.stringContaining('"id_scope": "turn"') });
    const pieces = [{ functionCall: { id: 'a', name: 'Bash', willContinue: true } }];
    stream.send({ type: 'stream_chunk', chunk: { candidates: [{ content: { parts: pieces } }] } });
    await stream.next(({ path }) => typeof path === 'string' && path.endsWith('functionCall.willContinue'));
    await stream.close();
  });
});

describe('results in the words of a provider', () => {
  const failed = { file_path: 'none' };

  it('Chat Completions gets images as a user message behind the results, and errors marked', async () => {
    const { body } = await client.post('/execute', {
      session_id: await open(),
      tool_calls: [
        chatCall('a', { file_path: 'pixel.png' }, 'Read'),
        chatCall('b', failed, 'Read'),
        chatCall('c', '{"command":'),
      ],
    });
    expect(body['messages']).toEqual([
      { role: 'tool', tool_call_id: 'a', content: '[image: in the user message behind the results]' },
      { role: 'tool', tool_call_id: 'b', content: expect.stringMatching(/^Error: /) },
      { role: 'tool', tool_call_id: 'c', content: expect.stringMatching(/^InputValidationError: /) },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Result of call "a":' },
          { type: 'image_url', image_url: { url: expect.stringMatching(/^data:image\/\w+;base64,/) } },
        ],
      },
    ]);
  });

  it('Responses and Gemini get images and marked errors', async () => {
    const output = [
      { type: 'function_call', call_id: 'a', name: 'Read', arguments: '{"file_path":"pixel.png"}' },
      { type: 'function_call', call_id: 'b', name: 'Read', arguments: failed },
    ];
    const responses = await client.post('/execute', { session_id: await open(), output });
    expect(responses.body['input']).toMatchObject([
      { call_id: 'a', output: [{ type: 'input_image' }] },
      { call_id: 'b', output: expect.stringMatching(/^Error: /) },
    ]);
    const function_calls = [
      { id: 'a', name: 'Read', args: { file_path: 'pixel.png' } },
      { id: 'b', name: 'Read', args: failed },
      { id: 'c', name: 'Bash', args: { command: 'echo ok' } },
    ];
    const gemini = await client.post('/execute', { session_id: await open(), function_calls });
    expect(gemini.body['function_responses']).toMatchObject([
      { id: 'a', name: 'Read', response: { output: expect.stringContaining('image') } },
      { id: 'b', name: 'Read', response: { error: expect.any(String) } },
      { id: 'c', name: 'Bash', response: { output: 'ok' } },
    ]);
    expect(gemini.body['content']).toMatchObject({
      role: 'user',
      parts: [
        {},
        {},
        {},
        { text: 'Result of call "a":' },
        { inlineData: { mimeType: expect.stringMatching(/^image/) } },
      ],
    });
  });
});

describe('the tool list', () => {
  it.each<[string, (tool: WireTool) => readonly string[]]>([
    ['format=anthropic', anthropicProblems],
    ['format=openai-chat', (tool) => openAiProblems(tool, 'chat')],
    ['format=openai-chat&strict=true', (tool) => openAiProblems(tool, 'chat')],
    ['format=openai-responses&strict=true', (tool) => openAiProblems(tool, 'responses')],
    ['format=gemini', geminiProblems],
  ])('%s is taken by its provider, every tool of it', async (query, problems) => {
    const { body } = await client.get(`/tools?schemas=full&${query}`);
    expect(body.tools.length).toBeGreaterThan(10);
    expect(body.tools.flatMap((tool) => problems(tool).map((problem) => ({ tool, problem })))).toEqual([]);
    expect(body).not.toHaveProperty('left_out');
  });

  it('strict schemas fit most built-in tools', async () => {
    const { body } = await client.get('/tools?format=openai-responses&strict=true&schemas=full');
    const loose = body.tools.filter(({ strict }) => strict !== true);
    expect(loose.length).toBeLessThan(body.tools.length / 4);
  });

  it('takes names and a maximum, and says what is missing', async () => {
    const { body } = await client.get('/tools?names=Read,Bash,Nothing&max=1');
    expect(body).toMatchObject({
      tools: [{ name: 'Bash' }],
      built_in_count: 1,
      left_out: [{ name: 'Nothing' }, { name: 'Read', reason: expect.stringContaining('1 tools at most') }],
    });
    const { status, body: refused } = await client.get('/tools?strict=true');
    expect([status, refused.error.details]).toEqual([400, { path: 'strict' }]);
  });
});
