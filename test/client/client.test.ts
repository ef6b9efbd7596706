/** The client package against the built server: tools, calls in every form, questions, progress, aborts and cuts. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { WebSocket } from 'ws';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { type Client, connect, type ConnectOptions, type Frame, type Question } from '../../client/src/index.ts';
import { startServer, type BuiltServer } from '../helpers/built-server.ts';
import { cuttingProxy } from '../helpers/cutting-proxy.ts';
import { packageServer } from '../helpers/mcp-servers.ts';
import { until, wireClient } from '../helpers/wire-client.ts';

/** One grey point. */
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg==';

let server: BuiltServer;
beforeAll(async () => {
  server = await startServer({
    mayKeep: ['server-everything'],
    settings: {
      permissions: { allow: ['Write', 'Bash', 'Sleep', 'mcp__everything'] },
      mcpServers: { everything: packageServer('@modelcontextprotocol/server-everything/dist/index.js', 'stdio') },
    },
  });
  writeFileSync(join(server.workspace, 'notes.md'), 'one\ntwo\n');
  writeFileSync(join(server.workspace, 'point.png'), Buffer.from(PNG, 'base64'));
});

function connected(options: Partial<ConnectOptions> = {}): Promise<Client> {
  return connect({ url: server.url, token: server.token, ...options });
}

const sleep = (duration_ms: number) => ({ name: 'Sleep', input: { duration_ms } });
const bash = (command: string, id = 'call_0') => ({ type: 'tool_use', id, name: 'Bash', input: { command } });

describe('tools', () => {
  it('are listed as each API takes them, with every schema', async () => {
    const client = await connected();
    const names = ['Read', 'mcp__everything__echo'];
    await until(async () => (await client.tools('anthropic', { names })).length === 2);
    const [anthropic] = await client.tools('anthropic', { names });
    const [chat] = await client.tools('openai-chat', { names });
    const [responses] = await client.tools('openai-responses', { names });
    const [gemini] = await client.tools('gemini', { names });
    expect(anthropic).toMatchObject({ name: 'Read', input_schema: { type: 'object' } });
    expect(chat).toMatchObject({ type: 'function', function: { name: 'Read', parameters: { type: 'object' } } });
    expect(responses).toMatchObject({ type: 'function', name: 'Read', parameters: { type: 'object' } });
    expect(gemini).toMatchObject({ name: 'Read', parametersJsonSchema: { type: 'object' } });
  });

  it('are left to the references of ToolSearch where a session wants that', async () => {
    const client = await connected({ session: { tool_search: 'references' } });
    await until(async () => (await client.tools('anthropic', { names: ['mcp__everything__echo'] })).length === 1);
    const [echo] = await client.tools('anthropic', { names: ['mcp__everything__echo'], deferred: true });
    expect(echo).toMatchObject({ defer_loading: true, input_schema: { properties: { message: {} } } });
    const { results } = await client.execute({
      tool_uses: [
        { type: 'tool_use', id: 'call_0', name: 'ToolSearch', input: { query: 'select:mcp__everything__echo' } },
      ],
    });
    expect(results[0]?.content).toEqual([{ type: 'tool_reference', tool_name: 'mcp__everything__echo' }]);
  });
});

describe('execute', () => {
  it('takes a message of the Messages API, and gives back what to append', async () => {
    const client = await connected();
    const content = [
      { type: 'text', text: 'I look.' },
      { type: 'tool_use', id: 'a:0', name: 'Glob', input: { pattern: '*.md' } },
      { type: 'tool_use', id: 'a:1', name: 'Read', input: { file_path: 'point.png' } },
      { type: 'tool_use', id: 'a:2', name: 'Read', input: { file_path: 'missing.md' } },
    ];
    const { append, calls, results } = await client.execute({ message: { content } });
    expect(calls.map(({ tool_use_id, status }) => [tool_use_id, status])).toEqual([
      ['a:0', 'ok'],
      ['a:1', 'ok'],
      ['a:2', 'error'],
    ]);
    expect(results.map(({ tool_use_id }) => tool_use_id)).toEqual(['a:0', 'a:1', 'a:2']);
    expect(append).toEqual([
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'a:0', content: 'notes.md' },
          expect.objectContaining({ tool_use_id: 'a:1', content: expect.arrayContaining([image()]) }),
          expect.objectContaining({ tool_use_id: 'a:2', is_error: true }),
        ],
      },
    ]);
  });

  const image = () => expect.objectContaining({ type: 'image' }) as unknown;

  it('takes tool_calls of Chat Completions: images follow in a message of the user, errors say so', async () => {
    const client = await connected();
    const call = (id: string, name: string, args: unknown) => ({
      id,
      type: 'function',
      function: { name, arguments: args },
    });
    const { append } = await client.execute({
      tool_calls: [
        call('call_0', 'Read', '{"file_path": "point.png"}'),
        call('call_1', 'Read', { file_path: 'missing.md' }),
        call('call_2', 'Read', '{"file_path": "no'),
      ],
    });
    expect(append.map(({ role }) => role)).toEqual(['tool', 'tool', 'tool', 'user']);
    expect(append[1]).toMatchObject({ tool_call_id: 'call_1', content: expect.stringMatching(/^error/i) as unknown });
    expect(append[2]).toMatchObject({ tool_call_id: 'call_2', content: expect.stringMatching(/^error/i) as unknown });
    expect(JSON.stringify(append[3])).toContain('"image_url":{"url":"data:image/png;base64,');
  });

  it('takes output of Responses, with images in the output', async () => {
    const client = await connected();
    const item = { type: 'function_call', call_id: 'x|y', name: 'Read', arguments: '{"file_path": "point.png"}' };
    const { append } = await client.execute({ output: [{ type: 'reasoning' }, item] });
    expect(append).toMatchObject([{ type: 'function_call_output', call_id: 'x|y' }]);
    expect(JSON.stringify(append)).toContain('"type":"input_image","image_url":"data:image/png;base64,');
  });

  it('takes calls of Gemini, which have no id', async () => {
    const client = await connected();
    const calls = [
      { name: 'Glob', args: { pattern: '*.md' } },
      { name: 'Read', args: { file_path: 'missing.md' } },
    ];
    const { append } = await client.execute({ function_calls: calls });
    expect(append).toMatchObject([
      {
        role: 'user',
        parts: [
          { functionResponse: { name: 'Glob', response: { output: 'notes.md' } } },
          { functionResponse: { name: 'Read', response: { error: expect.any(String) as unknown } } },
        ],
      },
    ]);
  });

  it('answers a message without calls at once, with nothing to append', async () => {
    const client = await connected();
    const { append, results } = await client.execute({ message: { content: 'Done.' } });
    expect([append, results]).toEqual([[], []]);
  });

  it('runs an id that comes again in a later turn as a call of its own', async () => {
    const client = await connected();
    const texts = [];
    for (const word of ['first', 'second']) {
      const { results } = await client.execute({ tool_uses: [bash(`echo ${word}`)] });
      expect(results[0]?.tool_use_id).toBe('call_0');
      texts.push(results[0]?.content);
    }
    expect(texts).toEqual(['first', 'second']);
  });

  it('runs the same turn once, also from a second client of the session', async () => {
    const client = await connected();
    const again = await connected({ session: client.sessionId });
    const source = { tool_uses: [bash('echo x >> once')] };
    await client.execute(source, { turnId: 'turn_7' });
    const { calls } = await again.execute(source, { turnId: 'turn_7' });
    expect(calls[0]?.replayed).toBe(true);
    expect(readFileSync(join(server.workspace, 'once'), 'utf8')).toBe('x\n');
  });

  it('leaves out optional fields that are null, and keeps required ones', async () => {
    const client = await connected();
    const read = { file_path: 'notes.md', offset: null, limit: null };
    const { results } = await client.execute({
      tool_uses: [
        { type: 'tool_use', id: 'c0', name: 'Read', input: read },
        { type: 'tool_use', id: 'c1', name: 'Read', input: { file_path: null } },
      ],
    });
    expect(results[0]?.content).toContain('one');
    expect(results[1]?.is_error).toBe(true);
  });

  it('reaches tools of MCP servers', async () => {
    const client = await connected();
    await until(async () => (await client.tools()).some(({ name }) => name === 'mcp__everything__echo'));
    expect(await client.run('mcp__everything__echo', { message: 'hi' })).toMatchObject({ text: 'Echo: hi' });
  });
});

describe('run', () => {
  it('keeps the order of calls that are made at once', async () => {
    const client = await connected();
    const made = client.run('Write', { file_path: 'made.txt', content: 'made' });
    const read = client.run('Read', { file_path: 'made.txt' });
    expect((await made).isError).toBe(false);
    expect((await read).text).toContain('made');
  });

  it('answers a call that fails with its error', async () => {
    const client = await connected();
    const result = await client.run('Read', { file_path: 'missing.md' });
    expect(result).toMatchObject({ isError: true, call: { status: 'error', error_code: 'tool_failed' } });
  });

  it('cancels one call of several, and the others go on', async () => {
    const client = await connected();
    const controller = new AbortController();
    const { name, input } = sleep(30_000);
    const cancelled = client.run(name, input, { id: 'sleeping', signal: controller.signal });
    const read = client.run('Read', { file_path: 'notes.md' });
    await running(client.sessionId);
    controller.abort(new Error('no longer needed'));
    await expect(cancelled).rejects.toThrow('no longer needed');
    expect((await read).text).toContain('one');
  });

  it('runs another input under an id that ran before', async () => {
    const client = await connected();
    const id = 'call_abcdefghijklmnopqrstuv';
    expect((await client.run('Bash', { command: 'echo 1' }, { id })).text).toBe('1');
    expect((await client.run('Bash', { command: 'echo 2' }, { id })).text).toBe('2');
  });

  it('runs a call that ran already not again where one beside it comes with another input', async () => {
    const client = await connected();
    const append = () => client.run('Bash', { command: 'echo ran >> log.txt' }, { id: 'call_logabcdefghijklmnopqrs' });
    const say = (word: string) =>
      client.run('Bash', { command: `echo ${word}` }, { id: 'call_wordabcdefghijklmnopqr' });
    await Promise.all([append(), say('one')]);
    const [logged, said] = await Promise.all([append(), say('two')]);
    expect(logged.call.replayed).toBe(true);
    expect(said.text).toBe('two');
    expect(readFileSync(join(server.workspace, 'log.txt'), 'utf8')).toBe('ran\n');
  });
});

describe('questions', () => {
  const ask = { rules: { ask: ['Bash'] } };

  it('are answered by onAsk, and name the call as its provider does', async () => {
    const seen: [string, string | undefined][] = [];
    const client = await connected({
      session: ask,
      onAsk: (question, { call }) => {
        seen.push([question.tool_name, call?.id]);
        const { command } = question.input as { command: string };
        return command.includes('no') ? { behavior: 'deny', message: 'Not that' } : { behavior: 'allow' };
      },
    });
    const { calls, results } = await client.execute({ tool_uses: [bash('echo yes', 'p.0'), bash('echo no', 'p.1')] });
    expect(calls.map(({ status }) => status)).toEqual(['ok', 'denied']);
    expect(results[1]?.content).toContain('Not that');
    expect(seen).toEqual([
      ['Bash', 'p.0'],
      ['Bash', 'p.1'],
    ]);
  });

  it('are denied without onAsk, and by an onAsk that throws', async () => {
    const silent = await connected({ session: ask });
    expect((await silent.run('Bash', { command: 'echo hi' })).call.status).toBe('denied');
    const broken = await connected({
      session: ask,
      onAsk: () => {
        throw new Error('the dialog is gone');
      },
    });
    expect((await broken.run('Bash', { command: 'echo hi' })).text).toContain('the dialog is gone');
  });

  it('are told when somebody else has answered, and left to others by undefined', async () => {
    const asked: Question[] = [];
    let wasTold = false;
    const client = await connected({
      session: ask,
      onAsk: (question, { signal }) => {
        signal.addEventListener('abort', () => (wasTold = true));
        asked.push(question);
        return asked.length === 1 ? new Promise(() => undefined) : undefined;
      },
    });
    for (const place of [0, 1]) {
      const executing = client.run('Bash', { command: 'echo hi' });
      const { request_id } = await until(() => Promise.resolve(asked[place]));
      await wireClient(server).post(`/sessions/${client.sessionId}/prompts/${request_id}`, { behavior: 'allow' });
      expect((await executing).text).toBe('hi');
    }
    expect(wasTold).toBe(true);
  });

  it('whose answer the server cannot take now stay open for others, and nothing is thrown at the program', async () => {
    const refusing: typeof fetch = (address, init) =>
      init?.method === 'POST' && String(address).includes('/prompts/')
        ? Promise.resolve(new Response('{}', { status: 503, headers: { 'retry-after': '60' } }))
        : fetch(address, init);
    let id: string | undefined;
    const onAsk = ({ request_id }: Question) => ((id = request_id), { behavior: 'allow' as const });
    const client = await connected({ session: ask, onAsk, fetch: refusing });
    const executing = client.run('Bash', { command: 'echo hi' });
    const asked = await until(() => Promise.resolve(id));
    await wireClient(server).post(`/sessions/${client.sessionId}/prompts/${asked}`, { behavior: 'allow' });
    expect((await executing).text).toBe('hi');
  });

  it('that were open when the client came are asked when its call joins', async () => {
    const first = await connected({ session: { ...ask, on_ask: 'wait' } });
    const source = { tool_uses: [bash('echo hi')] };
    const waiting = first.execute(source, { turnId: 'turn_1' });
    const { sessionId } = first;
    await until(async () => (await wireClient(server).get(`/sessions/${sessionId}/prompts`)).body.prompts.length > 0);
    const second = await connected({ session: sessionId, onAsk: () => ({ behavior: 'allow' }) });
    expect((await second.execute(source, { turnId: 'turn_1' })).results[0]?.content).toBe('hi');
    expect((await waiting).results[0]?.content).toBe('hi');
  });
});

describe('progress', () => {
  it('comes before the results, with every frame of the turn once and in order', async () => {
    const frames: Frame[] = [];
    const ids = new Set<string | undefined>();
    const client = await connected({
      onProgress: (frame, call) => {
        frames.push(frame);
        ids.add(call?.id);
      },
    });
    await client.execute({ tool_uses: [bash('echo a; sleep 0.2; echo b', 'call_0')] });
    expect(frames.map(({ type }) => type)).toEqual(
      expect.arrayContaining(['tool_use', 'started', 'result', 'turn_end']),
    );
    expect(frames.at(-1)?.type).toBe('turn_end');
    const seqs = frames.map(({ seq }) => seq);
    expect(seqs).toEqual([...new Set(seqs)].sort((one, other) => one - other));
    expect(ids).toContain('call_0');
  });
});

describe('a cut connection', () => {
  it('costs neither results nor frames, and runs nothing twice', async () => {
    const proxy = await cuttingProxy(() => server.url);
    const frames: Frame[] = [];
    const client = await connected({ url: proxy.url, onProgress: (frame) => void frames.push(frame) });
    proxy.cutAfter(150);
    setTimeout(() => proxy.cutAfter(undefined), 900);
    const { results } = await client.execute({ tool_uses: [bash('echo x >> cut; sleep 1; echo done')] });
    expect(results[0]?.content).toBe('done');
    expect(readFileSync(join(server.workspace, 'cut'), 'utf8')).toBe('x\n');
    const seqs = frames.map(({ seq }) => seq);
    expect(seqs).toEqual(Array.from(seqs, (_, index) => (seqs[0] ?? 0) + index));
    expect(frames.at(-1)?.type).toBe('turn_end');
  });
});

describe('an abort', () => {
  it('cancels the calls on the server, and rejects with its reason', async () => {
    const client = await connected();
    const controller = new AbortController();
    const executing = client.execute({ tool_uses: [bash('sleep 30; touch too-late')] }, { signal: controller.signal });
    await running(client.sessionId);
    controller.abort(new Error('enough'));
    await expect(executing).rejects.toThrow('enough');
    await until(async () => (await state(client.sessionId)) === 'idle');
    expect(existsSync(join(server.workspace, 'too-late'))).toBe(false);
  });

  it('right behind the request cancels too, and close() does the same for all', async () => {
    const client = await connected();
    const executing = client.execute({ tool_uses: [bash('sleep 30')] }, { signal: AbortSignal.timeout(1) });
    await expect(executing).rejects.toThrow(/timeout/i);
    const other = client.execute({ tool_uses: [bash('sleep 30')] });
    await running(client.sessionId);
    client.close();
    await expect(other).rejects.toMatchObject({ code: 'closed' });
    await until(async () => (await state(client.sessionId)) === 'idle');
  });
});

describe('forward', () => {
  const start = (index: number, id: string, name: string) => ({
    type: 'content_block_start' as const,
    index,
    content_block: { type: 'tool_use', id, name, input: {} },
  });
  const piece = (index: number, partial_json: string) => ({
    type: 'content_block_delta' as const,
    index,
    delta: { type: 'input_json_delta', partial_json },
  });
  const stop = (index: number) => ({ type: 'content_block_stop' as const, index });

  /** The message ends once the first call has made its file. */
  async function* message() {
    yield { type: 'message_start' as const };
    yield start(0, 'toolu_0', 'Bash');
    yield piece(0, '{"command": "touch ');
    yield piece(0, 'early"}');
    yield stop(0);
    await until(() => Promise.resolve(existsSync(join(server.workspace, 'early'))));
    yield start(1, 'toolu_1', 'Read');
    yield piece(1, '{"file_path": "notes.md"}');
    yield stop(1);
    yield { type: 'message_stop' as const };
  }

  it('passes a stream on as it is, while its calls run', async () => {
    const client = await connected({ WebSocket });
    const turn = client.forward(message());
    const types = [];
    for await (const { type } of turn) types.push(type);
    expect(types).toHaveLength(9);
    const { append, calls } = await turn.reply();
    expect(calls.map(({ status, replayed }) => [status, replayed])).toEqual([
      ['ok', true],
      ['ok', expect.anything()],
    ]);
    expect(append[0]?.content).toMatchObject([{ tool_use_id: 'toolu_0' }, { tool_use_id: 'toolu_1' }]);
  });

  it('reads chunks of Chat Completions', async () => {
    const client = await connected({ WebSocket });
    const chunk = (delta: object, finish_reason: string | null = null) => ({ choices: [{ delta, finish_reason }] });
    const call = (index: number, text: string, more: object = {}) =>
      chunk({ tool_calls: [{ index, ...more, function: { ...more, arguments: text } }] });
    async function* chunks() {
      yield chunk({ role: 'assistant' });
      yield call(0, '{"pattern": ', { id: 'call_0', name: 'Glob' });
      yield call(0, '"*.md"}');
      yield call(1, '{"command": "echo hi"}', { id: 'call_1', name: 'Bash' });
      yield chunk({}, 'tool_calls');
    }
    const { append } = await client.forward(chunks()).reply();
    expect(append).toEqual([
      { role: 'tool', tool_call_id: 'call_0', content: 'notes.md' },
      { role: 'tool', tool_call_id: 'call_1', content: 'hi' },
    ]);
  });

  it.each([
    ['under one index', 0],
    ['without an index', undefined],
  ])('reads whole calls that a server sends %s', async (_title, index) => {
    const client = await connected({ WebSocket });
    async function* chunks() {
      for (const word of ['one', 'two', 'three']) {
        const called = { name: 'Bash', arguments: JSON.stringify({ command: `echo ${word}` }) };
        yield { choices: [{ delta: { tool_calls: [{ index, id: `call_${word}`, function: called }] } }] };
      }
      yield { choices: [{ delta: {}, finish_reason: 'tool_calls' }] };
    }
    const { results } = await client.forward(chunks()).reply();
    expect(results.map(({ content }) => content)).toEqual(['one', 'two', 'three']);
  });

  it('reads events of Responses', async () => {
    const client = await connected({ WebSocket });
    async function* events() {
      yield { type: 'response.created', sequence_number: 0 };
      const item = { type: 'function_call', call_id: 'fc', name: 'Bash', arguments: '{"command": "echo hi"}' };
      yield { type: 'response.output_item.done', sequence_number: 1, item };
      yield { type: 'response.completed', sequence_number: 2 };
    }
    const { append } = await client.forward(events()).reply();
    expect(append).toEqual([{ type: 'function_call_output', call_id: 'fc', output: 'hi' }]);
  });

  it('denies questions that nobody is there to answer', async () => {
    const client = await connected({ WebSocket, session: { rules: { ask: ['Bash'] } } });
    async function* events() {
      yield { type: 'message_start' as const };
      yield start(0, 'toolu_0', 'Bash');
      yield piece(0, '{"command": "touch asked"}');
      yield stop(0);
      yield { type: 'message_stop' as const };
    }
    const { calls } = await client.forward(events()).reply();
    expect(calls[0]?.status).toBe('denied');
  });

  it('cancels the calls of a message that breaks off', async () => {
    const client = await connected({ WebSocket });
    async function* events() {
      yield { type: 'message_start' as const };
      yield start(0, 'toolu_0', 'Bash');
      yield piece(0, '{"command": "sleep 30"}');
      yield stop(0);
      await running(client.sessionId);
      throw new Error('the model is overloaded');
    }
    await expect(client.forward(events()).reply()).rejects.toThrow('the model is overloaded');
    await until(async () => (await state(client.sessionId)) === 'idle');
  });

  it.each(['close()', 'the signal'])('cancels the calls that have begun on %s, before anybody waits', async (way) => {
    const client = await connected({ WebSocket });
    const controller = new AbortController();
    async function* events() {
      yield { type: 'message_start' as const };
      yield start(0, 'toolu_0', 'Bash');
      yield piece(0, '{"command": "sleep 30"}');
      yield stop(0);
      await running(client.sessionId);
      yield { type: 'message_stop' as const };
    }
    const turn = client.forward(events(), { signal: controller.signal });
    for await (const _ of turn);
    if (way === 'close()') client.close();
    else controller.abort(new Error('enough'));
    await until(async () => (await state(client.sessionId)) === 'idle');
    await expect(turn.reply()).rejects.toThrow(way === 'close()' ? 'The client was closed' : 'enough');
  });

  it('says what is missing where there is no WebSocket', async () => {
    const client = await connected();
    if (!('WebSocket' in globalThis)) expect(() => client.forward(message())).toThrow('pass that of the package "ws"');
  });

  it('works without its WebSocket, only later', async () => {
    const Broken = function () {
      throw new Error('blocked');
    } as unknown as typeof WebSocket;
    const client = await connected({ WebSocket: Broken });
    async function* events() {
      yield { type: 'message_start' as const };
      yield start(0, 'toolu_0', 'Bash');
      yield piece(0, '{"command": "echo hi"}');
      yield stop(0);
      yield { type: 'message_stop' as const };
    }
    expect((await client.forward(events()).reply()).results[0]?.content).toBe('hi');
  });
});

describe('an error', () => {
  it('has the code, status, details and request of the reply', async () => {
    await expect(connected({ token: 'wrong' })).rejects.toMatchObject({ code: 'unauthenticated', status: 401 });
    await expect(connected({ session: 'ses_none' })).rejects.toMatchObject({ code: 'not_found', status: 404 });
    const error = await connected({ session: { mode: 'free' as 'plan' } }).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'invalid_request', status: 400, details: { path: 'mode' } });
    expect((error as { request_id: string }).request_id).not.toBe('');
  });

  it('names the address of a server that is not there', async () => {
    const options = { url: 'http://127.0.0.1:1', token: 'any' };
    await expect(connect(options)).rejects.toMatchObject({ code: 'unreachable', message: /127\.0\.0\.1:1/ });
  });

  it('comes from a server out of reach in the end, however long each attempt takes to fail', async () => {
    vi.useFakeTimers();
    try {
      let attempts = 0;
      const unanswered = async () => {
        attempts += 1;
        await new Promise((resolve) => setTimeout(resolve, 10_500));
        throw new TypeError('fetch failed');
      };
      const connecting = connected({ session: 's', fetch: unanswered });
      const refused = expect(connecting).rejects.toMatchObject({ code: 'unreachable' });
      await vi.advanceTimersByTimeAsync(200_000);
      expect(attempts).toBe(6);
      await refused;
    } finally {
      vi.useRealTimers();
    }
  });

  it('names a turn that cannot be one', async () => {
    const client = await connected();
    const executing = client.execute({ tool_uses: [bash('true')] }, { turnId: 'a turn' });
    await expect(executing).rejects.toThrow('"turnId"');
  });
});

async function state(sessionId: string): Promise<unknown> {
  return (await wireClient(server).get(`/sessions/${sessionId}`)).body['state'];
}

function running(sessionId: string): Promise<unknown> {
  return until(async () => (await state(sessionId)) === 'running');
}
