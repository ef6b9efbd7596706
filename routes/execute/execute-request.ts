/**
 * Converts a request of any format to blocks.
 */
import * as z from 'zod';
import { GauntletError, isGauntletError } from '../../src/base/errors.ts';
import { type JsonValue, parseSafeJson } from '../../src/base/json.ts';
import { scopeBlock } from '../../src/session/turn/id-scope.ts';
import { ApprovalsSchema } from '../../src/wire/approval.ts';
import {
  GivenBlockSchema,
  GivenCallIdSchema,
  IdSchema,
  IdScopeSchema,
  MAX_BATCH_BLOCKS,
  type GivenBlock,
  type IdScope,
} from '../../src/wire/block-schema.ts';
import type { AssistantMessage, ToolUseBlock } from '../../src/wire/blocks.ts';
import { ANTHROPIC, GEMINI, OPENAI_CHAT, OPENAI_RESPONSES, type ReplyFormat } from './reply-formats.ts';

/** Longest time that a request may keep its questions open. */
const MAX_ASK_TIMEOUT_MS = 24 * 60 * 60_000;

const ToolName = z.string().min(1).max(256);

/** Arguments as a model wrote them, or as an SDK has parsed them. */
const Arguments = z
  .union([z.string(), z.record(z.string(), z.custom<JsonValue>()), z.null()], {
    error: ({ input }) => (input === undefined ? 'is required' : 'expected JSON as text, or an object'),
  })
  .describe('JSON as text, or an object');

/** Fields specific to a vendor are kept. */
const FunctionCallItem = z.looseObject({ call_id: GivenCallIdSchema, name: ToolName, arguments: Arguments });

/** Output items of a response; all are kept for the reply, and its function calls are executed. */
const OutputItemsSchema = z
  .array(z.looseObject({ type: z.string() }))
  .transform((items): { items: readonly OutputItem[]; calls: unknown } => ({
    items,
    calls: items.filter(({ type }) => type === 'function_call'),
  }))
  .pipe(z.object({ items: z.custom<readonly OutputItem[]>(), calls: z.array(FunctionCallItem) }))
  .describe('Output items of a response; its function_call items are taken');

interface OutputItem {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** One function call of an assistant message; fields specific to a vendor are kept. */
const ToolCallSchema = z.looseObject({
  id: GivenCallIdSchema,
  type: z.literal('function').optional(),
  function: z.looseObject({ name: ToolName, arguments: Arguments }),
});

const GeminiCall = z.looseObject({
  id: GivenCallIdSchema,
  name: ToolName,
  args: z.record(z.string(), z.custom<JsonValue>()).nullish(),
});

/** A function call of Gemini, alone or in its part, whose other fields the reply repeats. */
const GeminiCallSchema = z
  .looseObject({})
  .transform((given) => ('functionCall' in given ? given : { functionCall: given }))
  .pipe(z.looseObject({ functionCall: GeminiCall }))
  .meta({
    description: 'A `FunctionCall`, or a part that holds one',
    type: 'object',
    properties: {
      id: { type: 'string' },
      name: { type: 'string' },
      args: { type: 'object' },
      functionCall: { type: 'object' },
    },
  });

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
  .pipe(z.object({ message: z.custom<AssistantMessage>(), blocks: z.array(GivenBlockSchema) }))
  .describe('An assistant message; its tool_use blocks are taken');

/** The body of `POST /execute`. */
export function executeSchema() {
  return z.strictObject({
    session_id: IdSchema.optional().describe('Absent: the batch runs in a session of its own'),
    turn_id: IdSchema.optional(),
    id_scope: IdScopeSchema.optional(),
    tool_uses: z.array(GivenBlockSchema).optional().describe('tool_use blocks'),
    message: AssistantMessageSchema.optional(),
    tool_calls: z.array(ToolCallSchema).optional().describe('tool_calls of OpenAI Chat Completions'),
    output: OutputItemsSchema.optional(),
    function_calls: z.array(GeminiCallSchema).optional().describe('functionCall parts of Gemini'),
    approvals: ApprovalsSchema.optional(),
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

/** The calls of a request, as they were sent. */
export interface GivenBatch {
  readonly field: string;
  readonly blocks: readonly GivenBlock[];
  /** Return the field of a call's id, for messages. */
  idField(index: number): string;
  /** The message that contained them. */
  readonly message?: AssistantMessage;
  readonly format: ReplyFormat;
  /** Return the assistant's message in the form in which it was sent, with other ids. */
  withIds(ids: readonly string[]): unknown;
}

/** Blocks of a request under the ids that they run under. */
export interface Batch {
  readonly blocks: readonly ToolUseBlock[];
  readonly message?: AssistantMessage;
  /** Where the server made the ids: the providers' ones. */
  readonly providerIds?: ReadonlyMap<string, string>;
  /** Where the server made the ids: the assistant's message with them. */
  readonly assistant?: unknown;
}

/** Extract the calls from the one field that contains them. @throws {GauntletError} `invalid_request` */
export function givenBatch({ tool_uses, message, tool_calls, output, function_calls }: ExecuteBody): GivenBatch {
  const given = [
    tool_uses && fromBlocks(tool_uses),
    message && fromMessage(message),
    tool_calls && fromToolCalls(tool_calls),
    output && fromOutput(output),
    function_calls && fromFunctionCalls(function_calls),
  ].filter((one) => one !== undefined);
  const [one] = given;
  if (one === undefined || given.length > 1) {
    throw refusal('send exactly one of "tool_uses", "message", "tool_calls", "output" and "function_calls"');
  }
  const { field, blocks } = one;
  if (blocks.length === 0) throw refusal('it holds no tool call; send at least one', field);
  if (blocks.length > MAX_BATCH_BLOCKS)
    throw refusal(`it holds more than ${MAX_BATCH_BLOCKS} tool calls; send fewer`, field);
  return one;
}

/** Settle the ids of the calls. @throws {GauntletError} as `scopeId` */
export function batchOf(given: GivenBatch, scope: IdScope, turnId: string | undefined): Batch {
  const scoped = given.blocks.map((block, index) =>
    scopeBlock(scope, block, { turnId, index, path: given.idField(index) }),
  );
  const blocks = scoped.map(({ block }) => block);
  if (scope === 'session') return { blocks, message: given.message };
  const ids = blocks.map(({ id }) => id);
  return {
    blocks,
    message: given.message && withBlockIds(given.message, ids),
    providerIds: new Map(
      scoped.flatMap(({ block, providerId }) => (providerId === undefined ? [] : [[block.id, providerId]])),
    ),
    assistant: given.withIds(ids),
  };
}

function fromBlocks(blocks: readonly GivenBlock[]): GivenBatch {
  return {
    field: 'tool_uses',
    blocks,
    idField: (index) => `tool_uses[${index}].id`,
    format: ANTHROPIC,
    withIds: (ids) => ({ role: 'assistant', content: blocks.map((block, index) => ({ ...block, id: ids[index] })) }),
  };
}

function fromMessage({ message, blocks }: NonNullable<ExecuteBody['message']>): GivenBatch {
  const places = message.content.flatMap((block, place) => (isToolUse(block) ? [place] : []));
  return {
    field: 'message',
    blocks,
    idField: (index) => `message.content[${places[index]}].id`,
    message,
    format: ANTHROPIC,
    withIds: (ids) => withBlockIds(message, ids),
  };
}

function withBlockIds(message: AssistantMessage, ids: readonly string[]): AssistantMessage {
  const content = replaceInOrder(message.content, isToolUse, (block, index) => ({ ...block, id: ids[index] }));
  return { ...message, content };
}

function fromToolCalls(calls: NonNullable<ExecuteBody['tool_calls']>): GivenBatch {
  return {
    field: 'tool_calls',
    blocks: calls.map(({ id, type: _type, function: called, ...vendors }, index) => {
      const input = parseArguments(called.arguments, `tool_calls[${index}].function.arguments`);
      return { ...vendors, type: 'tool_use', id, name: called.name, input };
    }),
    idField: (index) => `tool_calls[${index}].id`,
    format: OPENAI_CHAT,
    withIds: (ids) => ({
      role: 'assistant',
      content: null,
      tool_calls: calls.map((call, index) => ({
        ...call,
        id: ids[index],
        type: 'function',
        function: { ...call.function, arguments: argumentsText(call.function.arguments) },
      })),
    }),
  };
}

function fromOutput({ items, calls }: NonNullable<ExecuteBody['output']>): GivenBatch {
  const isCall = ({ type }: OutputItem) => type === 'function_call';
  const places = items.flatMap((item, place) => (isCall(item) ? [place] : []));
  return {
    field: 'output',
    blocks: calls.map(({ call_id: id, name, arguments: given, ...vendors }, index) => {
      const input = parseArguments(given, `output[${places[index]}].arguments`);
      return { ...vendors, type: 'tool_use', id, name, input };
    }),
    idField: (index) => `output[${places[index]}].call_id`,
    format: OPENAI_RESPONSES,
    withIds: (ids) =>
      replaceInOrder(items, isCall, (item, index) => ({
        ...item,
        call_id: ids[index],
        arguments: argumentsText(calls[index]?.arguments ?? null),
      })),
  };
}

function fromFunctionCalls(parts: NonNullable<ExecuteBody['function_calls']>): GivenBatch {
  return {
    field: 'function_calls',
    blocks: parts.map(({ functionCall: { id, name, args, ...vendors } }) => {
      return { ...vendors, type: 'tool_use', id, name, input: args ?? {} };
    }),
    idField: (index) => `function_calls[${index}].id`,
    format: GEMINI,
    withIds: (ids) => ({
      role: 'model',
      parts: parts.map((part, index) => ({ ...part, functionCall: { ...part.functionCall, id: ids[index] } })),
    }),
  };
}

/** Replace the items that `isOne` selects; `change` gets their index among these. */
function replaceInOrder<Item>(
  items: readonly Item[],
  isOne: (item: Item) => boolean,
  change: (item: Item, index: number) => Item,
): readonly Item[] {
  let index = 0;
  return items.map((item) => (isOne(item) ? change(item, index++) : item));
}

/** Parse arguments. Invalid JSON is kept as a string, which then fails the tool's schema as a result of that block. */
function parseArguments(given: z.output<typeof Arguments>, field: string): JsonValue {
  if (typeof given !== 'string') return given ?? {};
  if (given.trim() === '') return {};
  try {
    return parseSafeJson(given, 'the body', { at: field });
  } catch (error) {
    const mayBeText = isGauntletError(error, 'invalid_request') && error.details?.reason !== 'lone_surrogate';
    if (mayBeText) return given;
    throw error;
  }
}

/** Arguments as the APIs take them back: always text. */
function argumentsText(given: z.output<typeof Arguments>): string {
  return typeof given === 'string' ? given : JSON.stringify(given ?? {});
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
