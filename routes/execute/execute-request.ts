/**
 * Converts a request of any of the four formats to blocks.
 */
import * as z from 'zod';
import { GauntletError, isGauntletError } from '../../src/base/errors.ts';
import { type JsonValue, parseSafeJson } from '../../src/base/json.ts';
import { IdSchema, MAX_BATCH_BLOCKS, ToolUseBlockSchema } from '../../src/wire/block-schema.ts';
import type { ChatToolMessage, FunctionCallOutput, ResponsesPart } from '../../src/wire/call-replies.ts';
import type { AssistantMessage, ResultContentBlock, ToolResultBlock, ToolUseBlock } from '../../src/wire/blocks.ts';
import { resultText } from '../../src/wire/result-text.ts';

/** Longest time that a request may keep its questions open. */
const MAX_ASK_TIMEOUT_MS = 24 * 60 * 60_000;

/** Fields specific to a vendor are kept. */
const FunctionCallSchema = z.looseObject({
  call_id: IdSchema,
  name: z.string().min(1).max(256),
  arguments: z.string().describe('JSON'),
});

/** Output items of a response; only its function calls are used. */
const OutputItemsSchema = z
  .array(z.looseObject({ type: z.string() }))
  .transform((items): unknown => items.filter(({ type }) => type === 'function_call'))
  .pipe(z.array(FunctionCallSchema))
  .describe('Output items of a response; its function_call items are taken');

/** Replies with one item a call: text or, if there are images or documents, a list of parts. */
const OPENAI_RESPONSES: ReplyShape = {
  appendix: (results) => `"input":${JSON.stringify(results.map(toItem))}`,
};

/** One function call of an assistant message; fields specific to a vendor are kept. */
const ToolCallSchema = z.looseObject({
  id: IdSchema,
  type: z.literal('function').optional(),
  function: z.object({ name: z.string().min(1).max(256), arguments: z.string().describe('JSON') }),
});

/** Replies with one message a call. A tool message contains text only: other blocks are replaced by notes. */
const OPENAI_CHAT: ReplyShape = {
  appendix: (results) => `"messages":${JSON.stringify(results.map(toMessage))}`,
};

/** An assistant message; its `tool_use` blocks are executed, and tools receive the whole message. */
const AssistantMessageSchema = z
  .looseObject({
    role: z.literal('assistant').optional(),
    content: z.union([z.string(), z.array(z.looseObject({ type: z.string() }))]),
  })
  .transform((message): { message: AssistantMessage; blocks: unknown } => {
    const content = typeof message.content === 'string' ? [] : message.content;
    return { message: { ...message, role: 'assistant', content }, blocks: content.filter(isToolUse) };
  })
  .pipe(z.object({ message: z.custom<AssistantMessage>(), blocks: z.array(ToolUseBlockSchema) }))
  .describe('An assistant message; its tool_use blocks are taken');

/** The reply to blocks of the Messages API, with the user message that contains the results. */
export const ANTHROPIC: ReplyShape = {
  appendix: (_results, resultsJson) => `"message":{"role":"user","content":${resultsJson}}`,
};

/** The body of `POST /execute`. */
export function executeSchema() {
  return z.strictObject({
    session_id: IdSchema.optional().describe('Absent: the batch runs in a session of its own'),
    turn_id: IdSchema.optional(),
    tool_uses: z.array(ToolUseBlockSchema).optional().describe('tool_use blocks'),
    message: AssistantMessageSchema.optional(),
    tool_calls: z.array(ToolCallSchema).optional().describe('tool_calls of OpenAI Chat Completions'),
    output: OutputItemsSchema.optional(),
    on_ask: z
      .enum(['deny', 'wait'])
      .optional()
      .describe('What happens to a question when no connected client may answer'),
    ask_timeout_ms: z.number().int().min(1).max(MAX_ASK_TIMEOUT_MS).optional(),
    cancel_on_disconnect: z.boolean().default(false),
  });
}

/** Parsed body of `POST /execute`. */
export type ExecuteBody = z.output<ReturnType<typeof executeSchema>>;

/** Blocks of a request, and the format of its reply. */
export interface Batch {
  readonly blocks: readonly ToolUseBlock[];
  /** The message that contained them. */
  readonly message?: AssistantMessage;
  readonly shape: ReplyShape;
}

/** Extract the blocks from the one field that contains them. @throws {GauntletError} `invalid_request` */
export function batchOf({ tool_uses, message, tool_calls, output }: ExecuteBody): Batch {
  const given = [
    tool_uses && { field: 'tool_uses', blocks: tool_uses, shape: ANTHROPIC },
    message && { field: 'message', ...message, shape: ANTHROPIC },
    tool_calls && {
      field: 'tool_calls',
      blocks: tool_calls.map(({ id, type: _type, function: called, ...vendors }, index): ToolUseBlock => {
        const input = parseArguments(called.arguments, `tool_calls[${index}].function.arguments`);
        return { ...vendors, type: 'tool_use', id, name: called.name, input };
      }),
      shape: OPENAI_CHAT,
    },
    output && {
      field: 'output',
      blocks: output.map(({ call_id: id, name, arguments: text, ...vendors }, index): ToolUseBlock => {
        return {
          ...vendors,
          type: 'tool_use',
          id,
          name,
          input: parseArguments(text, `output[${index}].arguments`),
        };
      }),
      shape: OPENAI_RESPONSES,
    },
  ].filter((one) => one !== undefined);
  const [one] = given;
  if (one === undefined || given.length > 1) {
    throw refusal('send exactly one of "tool_uses", "message", "tool_calls" and "output"');
  }
  const { field, shape, ...batch } = one;
  const { blocks } = batch;
  if (blocks.length === 0) throw refusal('it holds no tool call; send at least one', field);
  if (blocks.length > MAX_BATCH_BLOCKS)
    throw refusal(`it holds more than ${MAX_BATCH_BLOCKS} tool calls; send fewer`, field);
  return { ...batch, shape };
}

/** Parse arguments. Invalid JSON is kept as a string, which then fails the tool's schema as a result of that block. */
function parseArguments(text: string, field: string): JsonValue {
  if (text.trim() === '') return {};
  try {
    return parseSafeJson(text, 'the body', { at: field });
  } catch (error) {
    const mayBeText = isGauntletError(error, 'invalid_request') && error.details?.reason !== 'lone_surrogate';
    if (mayBeText) return text;
    throw error;
  }
}

/** @param path The field, if the error concerns one. */
function refusal(message: string, path?: string): GauntletError {
  if (path === undefined) return new GauntletError('invalid_request', `Cannot read the body: ${message}`);
  return new GauntletError('invalid_request', `Cannot read the body: "${path}": ${message}`, {
    details: { path },
  });
}

function isToolUse(block: { readonly type: string }): boolean {
  return block.type === 'tool_use';
}

function toMessage({ tool_use_id, content }: ToolResultBlock): ChatToolMessage {
  const omitted =
    typeof content === 'string' ? [] : content.filter(({ type }) => type === 'image' || type === 'document');
  const notes = omitted.map(({ type }) => `[${type} left out: a tool message holds text only]`);
  return {
    role: 'tool',
    tool_call_id: tool_use_id,
    content: [resultText(content), ...notes].filter(Boolean).join('\n'),
  };
}

function toItem({ tool_use_id, content }: ToolResultBlock): FunctionCallOutput {
  const hasParts = typeof content !== 'string' && content.some(({ type }) => type === 'image' || type === 'document');
  const output = hasParts ? content.flatMap(toPart) : resultText(content);
  return { type: 'function_call_output', call_id: tool_use_id, output };
}

function toPart(block: ResultContentBlock): readonly ResponsesPart[] {
  if (block.type === 'text') return [{ type: 'input_text', text: block.text }];
  if (block.type === 'tool_reference') return [];
  const data = `data:${block.source.media_type};base64,${block.source.data}`;
  if (block.type === 'image') return [{ type: 'input_image', image_url: data, detail: 'auto' }];
  return [{ type: 'input_file', filename: block.title ?? 'document.pdf', file_data: data }];
}

/** Format of a reply, matching that of the request. */
export interface ReplyShape {
  /**
   * Build the member that the client appends to its conversation, as JSON without braces.
   *
   * @param resultsJson The results, already serialised.
   */
  appendix(results: readonly ToolResultBlock[], resultsJson: string): string;
}
