/**
 * The Chat Completions API of OpenAI, and of compatible servers, through the vendor's SDK, which is loaded
 * when a model is first asked.
 */
import type OpenAI from 'openai';
import type { ModelSettings } from '../../config/settings/models.ts';
import { cutText } from '../base/cut-text.ts';
import type { ResultContentBlock, ToolResultBlock } from '../wire/blocks.ts';
import { referenceText, resultText } from '../wire/result-text.ts';
import { ChunkReader } from '../session/feed/chunk-reader.ts';
import {
  type ConversationMessage,
  type ModelRequest,
  type ReplyBlock,
  replyText,
  type StopReason,
} from './conversation.ts';
import type { ModelWire, WireStream } from './reply-builder.ts';

/** Maximum that the API accepts. @see OpenAI API reference, "Create chat completion", tools */
const MAX_TOOLS = 128;
const MAX_NAME_CHARS = 64;
const MAX_DESCRIPTION_CHARS = 1_024;

const STOPS: Readonly<Record<string, StopReason>> = {
  tool_calls: 'calls',
  function_call: 'calls',
  length: 'length',
  content_filter: 'refusal',
};

/** Create the wire of a model. @param address Ends with the version, as in `https://api.openai.com/v1`. */
export function openAIWire(
  settings: ModelSettings,
  address: string,
  { silenceMs }: { readonly silenceMs: number },
): ModelWire {
  let client: Promise<OpenAI> | undefined;
  return async (request, options) => {
    client ??= createClient(settings, address, silenceMs);
    const tools = wireTools(request);
    const stream = await (
      await client
    ).chat.completions.create(
      {
        model: settings.model,
        messages: [{ role: 'system', content: request.system }, ...request.messages.flatMap(wireMessages)],
        ...(tools.length > 0 && { tools }),
        stream: true,
        stream_options: { include_usage: true },
      },
      options,
    );
    return events(stream);
  };
}

async function createClient({ apiKey }: ModelSettings, baseURL: string, silenceMs: number): Promise<OpenAI> {
  const { default: Client } = await import('openai');
  return new Client({
    // Without these the SDK would read the environment.
    apiKey: apiKey ?? 'none',
    adminAPIKey: null,
    organization: null,
    project: null,
    webhookSecret: null,
    baseURL,
    timeout: silenceMs,
    logLevel: 'off',
    // The key is sent only to the configured address.
    fetchOptions: { redirect: 'error' },
    ...(apiKey === undefined && { defaultHeaders: { authorization: null } }),
  });
}

async function* events(stream: AsyncIterable<OpenAI.ChatCompletionChunk>): WireStream {
  const reader = new ChunkReader();
  for await (const chunk of stream) {
    const { events: blocks, problem } = reader.read(undefined, chunk);
    for (const event of blocks) if (event.type !== 'message_start' && event.type !== 'message_stop') yield event;
    if (problem) throw problem;
    const { prompt_tokens: inputTokens, completion_tokens: outputTokens } = chunk.usage ?? {};
    if (chunk.usage) yield { type: 'usage', usage: { inputTokens, outputTokens } };
    const stop = chunk.choices.find(({ index }) => (index ?? 0) === 0)?.finish_reason;
    if (stop) yield { type: 'stop', stop: STOPS[stop] ?? 'end' };
  }
}

function wireTools({ tools }: ModelRequest): OpenAI.ChatCompletionFunctionTool[] {
  return tools
    .filter(({ name }) => name.length <= MAX_NAME_CHARS)
    .slice(0, MAX_TOOLS)
    .map(({ name, description, inputSchema }) => ({
      type: 'function',
      function: { name, description: cutText(description, MAX_DESCRIPTION_CHARS), parameters: { ...inputSchema } },
    }));
}

function wireMessages(message: ConversationMessage): OpenAI.ChatCompletionMessageParam[] {
  if (message.role === 'assistant') return [assistantMessage(message)];
  const results = message.content.filter((block) => block.type === 'tool_result');
  const others = message.content.filter((block) => block.type !== 'tool_result');
  // A tool message contains only text: images follow in a user message.
  const parts = [...results.flatMap(imagesOf), ...others].flatMap(contentParts);
  const texts = parts.flatMap((part) => (part.type === 'text' ? [part.text] : []));
  const content = texts.length === parts.length ? texts.join('\n\n') : parts;
  return [...results.map(toolMessage), ...(parts.length > 0 ? [{ role: 'user', content } as const] : [])];
}

function assistantMessage({ content }: ConversationMessage & { readonly role: 'assistant' }) {
  const text = replyText(content);
  const calls = content.filter((block) => block.type === 'tool_use').map(callOf);
  const tool_calls: OpenAI.ChatCompletionMessageFunctionToolCall[] = calls;
  return { role: 'assistant', content: text || null, ...(calls.length > 0 && { tool_calls }) } as const;
}

function callOf(block: ReplyBlock) {
  const { id, name, input } = block as { readonly id?: unknown; readonly name?: unknown; readonly input?: unknown };
  const text = typeof input === 'string' ? input : JSON.stringify(input ?? {});
  return { id: String(id), type: 'function', function: { name: String(name), arguments: text } } as const;
}

function toolMessage({ tool_use_id, content, is_error }: ToolResultBlock) {
  const text = resultText(content) || '(no text)';
  return { role: 'tool', tool_call_id: tool_use_id, content: is_error ? `Error: ${text}` : text } as const;
}

function imagesOf({ content }: ToolResultBlock): readonly ResultContentBlock[] {
  return typeof content === 'string' ? [] : content.filter(({ type }) => type === 'image' || type === 'document');
}

function contentParts(
  block: ResultContentBlock,
): (OpenAI.ChatCompletionContentPartText | OpenAI.ChatCompletionContentPartImage)[] {
  switch (block.type) {
    case 'text':
      return [{ type: 'text', text: block.text }];
    case 'image': {
      const { media_type, data } = block.source;
      return [{ type: 'image_url', image_url: { url: `data:${media_type};base64,${data}` } }];
    }
    case 'document':
      return [{ type: 'text', text: '(A document that cannot be shown to this model)' }];
    case 'tool_reference':
      return [{ type: 'text', text: referenceText(block.tool_name) }];
  }
}
