/**
 * A request to execute, in any of the four shapes, becomes blocks.
 */
import { z } from 'zod';
import type { Limits } from '../../config/limits.ts';
import type { AssistantMessage, ToolUseBlock } from '../../src/wire/blocks.ts';
import { type JsonValue, parseSafeJson } from '../../src/base/json.ts';
import { GauntletError, isGauntletError } from '../../src/base/errors.ts';
import { IdSchema, ToolUseBlockSchema } from '../../src/wire/block-schema.ts';
import { ANTHROPIC, AssistantMessageSchema } from './anthropic.ts';
import { OPENAI_CHAT, ToolCallSchema } from './openai-chat.ts';
import { OPENAI_RESPONSES, OutputItemsSchema } from './openai-responses.ts';
import type { ReplyShape } from './shape.ts';

/** The body of `POST /execute`. */
export function executeSchema(limits: Limits) {
  return z.strictObject({
    session_id: IdSchema.optional().describe('Absent: the batch runs in a session of its own'),
    turn_id: IdSchema.optional(),
    tool_uses: z.array(ToolUseBlockSchema).optional().describe('tool_use blocks'),
    message: AssistantMessageSchema.optional(),
    tool_calls: z.array(ToolCallSchema).optional().describe('tool_calls of OpenAI Chat Completions'),
    output: OutputItemsSchema.optional(),
    on_ask: z.enum(['deny', 'wait']).optional().describe('What becomes of a question when nobody may answer'),
    ask_timeout_ms: z.number().int().min(1).max(limits.askTimeoutMaxMs).optional(),
    cancel_on_disconnect: z.boolean().default(false),
  });
}

/** The body of `POST /execute`, as its schema gives it. */
export type ExecuteBody = z.output<ReturnType<typeof executeSchema>>;

/** The blocks of a request, and how its reply speaks. */
export interface Batch {
  readonly blocks: readonly ToolUseBlock[];
  /** The message that they came in. */
  readonly message?: AssistantMessage;
  readonly shape: ReplyShape;
}

/** Take the blocks out of the one field that holds them. @throws {GauntletError} `invalid_request` */
export function batchOf({ tool_uses, message, tool_calls, output }: ExecuteBody, limits: Limits): Batch {
  const given = [
    tool_uses && { field: 'tool_uses', blocks: tool_uses, shape: ANTHROPIC },
    message && { field: 'message', ...message, shape: ANTHROPIC },
    tool_calls && {
      field: 'tool_calls',
      blocks: tool_calls.map(({ id, type: _type, function: called, ...vendors }, index): ToolUseBlock => {
        const input = parseArguments(called.arguments, `tool_calls[${index}].function.arguments`, limits);
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
          input: parseArguments(text, `output[${index}].arguments`, limits),
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
  if (blocks.length > limits.batchBlocks)
    throw refusal(`it holds more than ${limits.batchBlocks} tool calls; send fewer`, field);
  return { ...batch, shape };
}

/** What is not JSON stays text: an input that is no object fails its tool's schema, as a result of that block. */
function parseArguments(text: string, field: string, limits: Limits): JsonValue {
  if (text.trim() === '') return {};
  try {
    return parseSafeJson(text, 'the body', limits, { at: field });
  } catch (error) {
    const mayBeText = isGauntletError(error, 'invalid_request') && error.details?.reason !== 'lone_surrogate';
    if (mayBeText) return text;
    throw error;
  }
}

/** @param path The field, where it is one. */
function refusal(message: string, path?: string): GauntletError {
  if (path === undefined) return new GauntletError('invalid_request', `Cannot read the body: ${message}`);
  return new GauntletError('invalid_request', `Cannot read the body: "${path}": ${message}`, {
    details: { path },
  });
}
