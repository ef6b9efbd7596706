/** A model on loopback that speaks the real streaming wires, Messages and Chat Completions, and follows a script. */
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll } from 'vitest';

/** What the model does once. */
export interface ScriptedStep {
  readonly text?: string;
  readonly calls?: readonly ScriptedCall[];
  /** Why it stops, in the words of the wire, where that is not plain. */
  readonly stop?: string;
  /** Answers with this status, and `text` as the error's message. */
  readonly status?: number;
  readonly location?: string;
  /** `break`: the connection is cut behind the blocks; `hang`: nothing comes behind them. */
  readonly ending?: 'break' | 'hang';
  readonly usage?: { readonly input: number; readonly output: number };
}

/** A call of the model. */
export interface ScriptedCall {
  readonly name: string;
  readonly input: unknown;
  readonly id?: string;
  /** Before it is streamed. */
  readonly delayMs?: number;
}

/** A request, as the script sees it. */
export interface SeenRequest {
  readonly headers: IncomingHttpHeaders;
  readonly body: { readonly model: string; readonly [field: string]: unknown };
  readonly system: string;
  /** Text of the first message. */
  readonly prompt: string;
  /** Messages of the model so far. */
  readonly turn: number;
  readonly toolNames: readonly string[];
  /** Text of the results so far. */
  readonly results: readonly string[];
  /** All the conversation, as JSON. */
  readonly conversation: string;
}

type Script = (request: SeenRequest) => ScriptedStep | Promise<ScriptedStep>;

/** Start one; it ends with the test file. */
export async function scriptedModel(script: Script) {
  const requests: SeenRequest[] = [];
  let count = 0;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = JSON.parse(Buffer.concat(chunks).toString()) as SeenRequest['body'];
      const seen = seenRequest(request.headers, body);
      requests.push(seen);
      const isMessages = request.url === '/v1/messages';
      if (!isMessages && request.url !== '/v1/chat/completions') return void response.writeHead(404).end();
      Promise.resolve(script(seen))
        .then((step) => answer(response, step, isMessages ? messagesWire : chatWire, (count += 1)))
        .catch((error: unknown) => response.destroy(error as Error));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    requests,
    /** An entry of the setting `models`. */
    settings: (provider: 'anthropic' | 'openai' = 'anthropic', more: object = {}) => ({
      provider,
      baseUrl: url,
      apiKey: 'canary-model-key',
      model: 'scripted',
      ...more,
    }),
  };
}

/** What `scriptedModel` gives. */
export type ScriptedModel = Awaited<ReturnType<typeof scriptedModel>>;

interface RawMessage {
  readonly role: string;
  readonly content?: unknown;
  readonly tool_calls?: unknown;
}

function seenRequest(headers: IncomingHttpHeaders, body: SeenRequest['body']): SeenRequest {
  const messages = body['messages'] as readonly RawMessage[];
  const spoken = messages.filter(({ role }) => role !== 'system');
  const tools = (body['tools'] ?? []) as readonly { name?: string; function?: { name: string } }[];
  return {
    headers,
    body,
    system: textOf(body['system'] ?? messages.find(({ role }) => role === 'system')?.content),
    prompt: textOf(spoken[0]?.content),
    turn: spoken.filter(({ role }) => role === 'assistant').length,
    toolNames: tools.map((tool) => tool.name ?? tool.function?.name ?? ''),
    results: spoken.flatMap(({ role, content }) => {
      if (role === 'tool') return [textOf(content)];
      if (!Array.isArray(content)) return [];
      const blocks = content as readonly { type: string; content?: unknown }[];
      return blocks.flatMap((block) => (block.type === 'tool_result' ? [textOf(block.content)] : []));
    }),
    conversation: JSON.stringify(spoken),
  };
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return (content as readonly { text?: string }[]).map(({ text }) => text ?? '').join('\n');
}

/** Number of the message in the test file, and what stands before its calls. */
interface MessageFacts {
  readonly count: number;
  readonly hasText: boolean;
}

interface Wire {
  begin(send: Send, step: ScriptedStep, count: number): void;
  text(send: Send, text: string): void;
  call(send: Send, call: ScriptedCall, place: number, message: MessageFacts): void;
  end(send: Send, step: ScriptedStep): void;
}

type Send = (data: object, event?: string) => void;

async function answer(response: ServerResponse, step: ScriptedStep, wire: Wire, count: number): Promise<void> {
  if (step.location !== undefined) return void response.writeHead(307, { location: step.location }).end();
  if (step.status !== undefined) {
    const error = { type: 'error', error: { type: 'invalid_request_error', message: step.text ?? 'no' } };
    // Told not to be asked again, so that tests need not wait.
    response.writeHead(step.status, { 'content-type': 'application/json', 'x-should-retry': 'false' });
    return void response.end(JSON.stringify(error));
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const send: Send = (data, event) =>
    void response.write(`${event === undefined ? '' : `event: ${event}\n`}data: ${JSON.stringify(data)}\n\n`);
  wire.begin(send, step, count);
  if (step.text) wire.text(send, step.text);
  for (const [place, call] of (step.calls ?? []).entries()) {
    if (call.delayMs) await new Promise((resolve) => setTimeout(resolve, call.delayMs));
    wire.call(send, call, place, { count, hasText: Boolean(step.text) });
  }
  if (step.ending === 'hang') return;
  if (step.ending === 'break') return void setImmediate(() => response.destroy());
  wire.end(send, step);
  response.end(wire === chatWire ? 'data: [DONE]\n\n' : undefined);
}

/** Cut in pieces, as a model's JSON streams in. */
function pieces(input: unknown): readonly string[] {
  const text = typeof input === 'string' ? input : JSON.stringify(input);
  return text.match(/.{1,11}/gs) ?? [];
}

const messagesWire: Wire = {
  begin(send, { usage }, count) {
    const message = {
      ...{ id: `msg_${count}`, type: 'message', role: 'assistant', model: 'scripted', content: [] },
      ...{ stop_reason: null, stop_sequence: null, usage: { input_tokens: usage?.input ?? 10, output_tokens: 1 } },
    };
    send({ type: 'message_start', message }, 'message_start');
  },
  text(send, text) {
    const event = (type: string, data: object) => send({ type, index: 0, ...data }, type);
    event('content_block_start', { content_block: { type: 'text', text: '' } });
    for (const piece of pieces(text)) event('content_block_delta', { delta: { type: 'text_delta', text: piece } });
    event('content_block_stop', {});
  },
  call(send, { name, input, id }, place, { count, hasText }) {
    const index = place + (hasText ? 1 : 0);
    const event = (type: string, data: object) => send({ type, index, ...data }, type);
    const content_block = { type: 'tool_use', id: id ?? `toolu_${count}_${place}`, name, input: {} };
    event('content_block_start', { content_block });
    for (const partial_json of pieces(input))
      event('content_block_delta', { delta: { type: 'input_json_delta', partial_json } });
    event('content_block_stop', {});
  },
  end(send, { calls = [], stop, usage }) {
    const stop_reason = stop ?? (calls.length > 0 ? 'tool_use' : 'end_turn');
    const counted = { output_tokens: usage?.output ?? 5 };
    send({ type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage: counted }, 'message_delta');
    send({ type: 'message_stop' }, 'message_stop');
  },
};

const chunk = (delta: object, finish_reason: string | null = null) => ({
  ...{ id: 'chat', object: 'chat.completion.chunk', created: 0, model: 'scripted' },
  choices: [{ index: 0, delta, finish_reason }],
});

const chatWire: Wire = {
  begin: (send) => send(chunk({ role: 'assistant', content: '' })),
  text: (send, text) => pieces(text).forEach((content) => send(chunk({ content }))),
  call(send, { name, input, id }, index, { count }) {
    const called = { index, id: id ?? `call_${count}_${index}`, type: 'function', function: { name, arguments: '' } };
    send(chunk({ tool_calls: [called] }));
    for (const piece of pieces(input)) send(chunk({ tool_calls: [{ index, function: { arguments: piece } }] }));
  },
  end(send, { calls = [], stop, usage }) {
    send(chunk({}, stop ?? (calls.length > 0 ? 'tool_calls' : 'stop')));
    const counted = { prompt_tokens: usage?.input ?? 10, completion_tokens: usage?.output ?? 5, total_tokens: 15 };
    send({ ...chunk({}), choices: [], usage: counted });
  },
};
