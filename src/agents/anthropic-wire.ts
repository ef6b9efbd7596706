/**
 * The Messages API of Anthropic, through the vendor's SDK, which is loaded when a model is first asked.
 */
import type Anthropic from '@anthropic-ai/sdk';
import type { ModelSettings } from '../../config/settings/models.ts';
import type { ConversationMessage, ModelRequest, StopReason } from './conversation.ts';
import type { ModelWire, WireStream } from './reply-builder.ts';

/** Marks the end of a stable prefix, which the provider caches for the next request. */
const CACHED = { cache_control: { type: 'ephemeral' } } as const;

const STOPS: Readonly<Record<string, StopReason>> = {
  tool_use: 'calls',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  refusal: 'refusal',
};

/** Create the wire of a model. @param address Ends with the version, as in `https://api.anthropic.com/v1`. */
export function anthropicWire(
  settings: ModelSettings,
  address: string,
  bounds: { readonly modelReplyTokens: number; readonly silenceMs: number },
): ModelWire {
  let client: Promise<Anthropic> | undefined;
  return async (request, options) => {
    client ??= createClient(settings, address, bounds.silenceMs);
    const stream = await (
      await client
    ).messages.create(
      {
        model: settings.model,
        max_tokens: bounds.modelReplyTokens,
        system: [{ type: 'text', text: request.system, ...CACHED }],
        tools: request.tools.map(({ name, description, inputSchema }) => ({
          name,
          description,
          input_schema: { ...inputSchema, type: 'object' },
        })),
        messages: wireMessages(request),
        stream: true,
      },
      options,
    );
    return events(stream);
  };
}

async function createClient({ apiKey }: ModelSettings, address: string, silenceMs: number): Promise<Anthropic> {
  const { default: Client } = await import('@anthropic-ai/sdk');
  return new Client({
    // Without a key the SDK would look for one in the environment and in the home folder.
    apiKey: apiKey ?? 'none',
    authToken: null,
    baseURL: address.slice(0, -'/v1'.length),
    timeout: silenceMs,
    logLevel: 'off',
    // The request has a span of its own, for all providers alike.
    openTelemetry: false,
    // The key is sent only to the configured address.
    fetchOptions: { redirect: 'error' },
    ...(apiKey === undefined && { defaultHeaders: { authorization: null } }),
  });
}

async function* events(stream: AsyncIterable<Anthropic.RawMessageStreamEvent>): WireStream {
  for await (const event of stream) {
    switch (event.type) {
      case 'message_start':
        yield { type: 'usage', usage: inputOf(event.message.usage) };
        break;
      case 'message_delta':
        yield { type: 'usage', usage: { outputTokens: event.usage?.output_tokens } };
        if (event.delta.stop_reason) yield { type: 'stop', stop: STOPS[event.delta.stop_reason] ?? 'end' };
        break;
      case 'content_block_start':
      case 'content_block_delta':
      case 'content_block_stop':
        yield event;
        break;
      case 'message_stop':
    }
  }
}

/** Count all input tokens, cached or not. A compatible server may report none. */
function inputOf(usage: Partial<Anthropic.Usage> | undefined): { readonly inputTokens: number | undefined } {
  const parts = [usage?.input_tokens, usage?.cache_creation_input_tokens, usage?.cache_read_input_tokens];
  const counted = parts.filter((part) => typeof part === 'number');
  return { inputTokens: counted.length === 0 ? undefined : counted.reduce((sum, part) => sum + part, 0) };
}

function wireMessages({ messages }: ModelRequest): Anthropic.MessageParam[] {
  return messages.map((message, place) => {
    const blocks = wireBlocks(message);
    const last = blocks.at(-1);
    const isLast = place === messages.length - 1 && last !== undefined;
    const content = isLast ? [...blocks.slice(0, -1), { ...last, ...CACHED }] : blocks;
    // Blocks of the model are sent back unchanged, including fields of the vendor.
    return { role: message.role, content: content as unknown as Anthropic.ContentBlockParam[] };
  });
}

function wireBlocks({ content }: ConversationMessage): readonly object[] {
  return content.map((block) => {
    if (block.type === 'tool_use') return { ...block, input: asObject(block.input) };
    return block;
  });
}

/** The wire accepts only objects, so other inputs are wrapped: the model sees what it wrote. */
function asObject(input: unknown): object {
  return typeof input === 'object' && input !== null && !Array.isArray(input) ? input : { not_an_object: input };
}
