/**
 * A model on loopback that speaks the wires of Anthropic, OpenAI and Google, whole or streamed, and takes one step of
 * its script a request.
 */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll } from 'vitest';
import type { ScriptedCall, ScriptedStep } from './scripted-model.ts';

/** A model that runs. */
export interface ProviderModel {
  readonly url: string;
  /** Bodies of its requests, as JSON text. */
  readonly requests: string[];
  /** Forget the requests, and begin this script. */
  script(steps: readonly ScriptedStep[]): void;
}

/** One wire: the whole reply, and the same as a stream of events. */
interface ProviderWire {
  readonly path: RegExp;
  whole(step: ScriptedStep, count: number): object;
  events(step: ScriptedStep, count: number): readonly object[];
}

/** Start one; it ends with the test file. */
export async function providerModel(): Promise<ProviderModel> {
  const requests: string[] = [];
  let steps: readonly ScriptedStep[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString();
      const wire = WIRES.find(({ path }) => path.test(request.url ?? ''));
      if (wire === undefined) return void response.writeHead(404).end();
      const step = steps[requests.length] ?? { text: 'Nothing more' };
      requests.push(text);
      const isStreamed = (JSON.parse(text) as { stream?: boolean }).stream ?? /stream/.test(request.url ?? '');
      if (isStreamed) return stream(response, wire.events(step, requests.length), wire);
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(wire.whole(step, requests.length)));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    script(given) {
      steps = given;
      requests.length = 0;
    },
  };
}

function stream(response: ServerResponse, events: readonly object[], wire: ProviderWire): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const event of events) {
    const named = 'type' in event ? `event: ${String(event.type)}\n` : '';
    response.write(`${named}data: ${JSON.stringify(event)}\n\n`);
  }
  response.end(wire === CHAT ? 'data: [DONE]\n\n' : undefined);
}

/** Ids as providers make them that count from zero in each turn. */
function idOf({ id }: ScriptedCall, place: number): string {
  return id ?? `call_${place}`;
}

const MESSAGES: ProviderWire = {
  path: /\/v1\/messages/,
  whole: ({ text, calls = [] }, count) => ({
    ...{ id: `msg_${count}`, type: 'message', role: 'assistant', model: 'scripted' },
    content: [
      ...(text ? [{ type: 'text', text }] : []),
      ...calls.map((call, place) => ({
        type: 'tool_use',
        id: call.id ?? `toolu_${place}`,
        name: call.name,
        input: call.input,
      })),
    ],
    ...{ stop_reason: calls.length > 0 ? 'tool_use' : 'end_turn', stop_sequence: null },
    usage: { input_tokens: 1, output_tokens: 1 },
  }),
  events(step, count) {
    const { content, ...message } = MESSAGES.whole(step, count) as { content: object[]; stop_reason: string };
    const blocks = content as { type: string; text?: string; input?: unknown }[];
    return [
      { type: 'message_start', message: { ...message, content: [], stop_reason: null } },
      ...blocks.flatMap((block, index) => {
        const isText = block.type === 'text';
        const delta = isText
          ? { type: 'text_delta', text: block.text }
          : { type: 'input_json_delta', partial_json: JSON.stringify(block.input) };
        const empty = isText ? { ...block, text: '' } : { ...block, input: {} };
        return [
          { type: 'content_block_start', index, content_block: empty },
          { type: 'content_block_delta', index, delta },
          { type: 'content_block_stop', index },
        ];
      }),
      { type: 'message_delta', delta: { stop_reason: message.stop_reason }, usage: { output_tokens: 1 } },
      { type: 'message_stop' },
    ];
  },
};

const CHAT: ProviderWire = {
  path: /\/chat\/completions/,
  whole: ({ text, calls = [] }, count) => ({
    ...{ id: `chat_${count}`, object: 'chat.completion', created: 0, model: 'scripted' },
    choices: [
      {
        index: 0,
        message: {
          ...{ role: 'assistant', content: text ?? null },
          ...(calls.length > 0 && { tool_calls: calls.map(chatCall) }),
        },
        finish_reason: calls.length > 0 ? 'tool_calls' : 'stop',
      },
    ],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  }),
  events({ text, calls = [] }, count) {
    const base = { id: `chat_${count}`, object: 'chat.completion.chunk', created: 0, model: 'scripted' };
    const chunk = (delta: object, finish_reason: string | null = null) => ({
      ...base,
      choices: [{ index: 0, delta, finish_reason }],
    });
    return [
      chunk({ role: 'assistant', content: text ?? '' }),
      ...calls.map((call, index) => chunk({ tool_calls: [{ index, ...chatCall(call, index) }] })),
      chunk({}, calls.length > 0 ? 'tool_calls' : 'stop'),
      { ...base, choices: [], usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 } },
    ];
  },
};

function chatCall(call: ScriptedCall, place: number) {
  const called = { name: call.name, arguments: JSON.stringify(call.input) };
  return { id: idOf(call, place), type: 'function', function: called };
}

const RESPONSES: ProviderWire = {
  path: /\/responses/,
  whole: ({ text, calls = [] }, count) => ({
    ...{ id: `resp_${count}`, object: 'response', created_at: 0, model: 'scripted', status: 'completed' },
    ...{ error: null, incomplete_details: null, instructions: null, metadata: {}, parallel_tool_calls: true },
    ...{ temperature: 1, top_p: 1, tools: [], tool_choice: 'auto' },
    output: [
      ...(text
        ? [
            {
              ...{ type: 'message', id: `msg_${count}`, role: 'assistant', status: 'completed' },
              content: [{ type: 'output_text', text, annotations: [] }],
            },
          ]
        : []),
      ...calls.map((call, place) => ({
        ...{ type: 'function_call', id: `fc_${count}_${place}`, call_id: idOf(call, place), status: 'completed' },
        ...{ name: call.name, arguments: JSON.stringify(call.input) },
      })),
    ],
    usage: {
      ...{ input_tokens: 1, output_tokens: 1, total_tokens: 2 },
      ...{ input_tokens_details: { cached_tokens: 0 }, output_tokens_details: { reasoning_tokens: 0 } },
    },
  }),
  events(step, count) {
    const response = RESPONSES.whole(step, count) as { output: object[] };
    const events = [
      { type: 'response.created', response: { ...response, output: [], status: 'in_progress' } },
      ...response.output.flatMap((item, output_index) => [
        { type: 'response.output_item.added', output_index, item },
        { type: 'response.output_item.done', output_index, item },
      ]),
      { type: 'response.completed', response },
    ];
    return events.map((event, sequence_number) => ({ ...event, sequence_number }));
  },
};

const GEMINI: ProviderWire = {
  path: /:(stream)?[gG]enerateContent/,
  whole: ({ text, calls = [] }) => ({
    candidates: [
      {
        content: {
          role: 'model',
          parts: [
            ...(text ? [{ text }] : []),
            ...calls.map(({ name, input }) => ({ functionCall: { name, args: input } })),
          ],
        },
        ...{ finishReason: 'STOP', index: 0 },
      },
    ],
    usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
  }),
  events: (step, count) => [GEMINI.whole(step, count)],
};

const WIRES = [MESSAGES, CHAT, RESPONSES, GEMINI];
