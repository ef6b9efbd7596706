/**
 * A request to execute, in any of the four shapes, becomes blocks.
 */
import { z } from 'zod';
import type { Limits } from '../../config/limits.ts';
import type { JsonValue, ToolUseBlock } from '../../src/contract/blocks.ts';
import { GauntletError, isGauntletError } from '../../src/contract/errors.ts';
import { parseSafeJson } from '../../src/contract/safe-json.ts';
import { IdSchema, ToolUseBlockSchema } from '../../src/session/feed/block-schema.ts';
import { parseRequest } from '../parse-request.ts';
import { ANTHROPIC, AssistantMessageSchema } from './anthropic.ts';
import { OPENAI_CHAT, ToolCallSchema } from './openai-chat.ts';
import { OPENAI_RESPONSES, OutputItemsSchema } from './openai-responses.ts';
import type { ReplyShape } from './shape.ts';

/** The body of `POST /execute`. */
export function executeSchema(limits: Limits) {
  return z.object({
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

/** A body that was understood. */
export interface ExecuteRequest extends Pick<
  z.output<ReturnType<typeof executeSchema>>,
  'session_id' | 'turn_id' | 'on_ask' | 'ask_timeout_ms' | 'cancel_on_disconnect'
> {
  readonly blocks: readonly ToolUseBlock[];
  readonly shape: ReplyShape;
}

/** Make the reader of bodies. @throws {GauntletError} From it: `invalid_request`. */
export function executeReader(limits: Limits): (body: unknown) => ExecuteRequest {
  const schema = executeSchema(limits);
  return function readExecute(body) {
    const { tool_uses, message, tool_calls, output, ...asked } = parseRequest(schema, body, 'the body', limits);
    const given = [
      tool_uses && { field: 'tool_uses', blocks: tool_uses.map(toBlock), shape: ANTHROPIC },
      message && { field: 'message', blocks: message.map(toBlock), shape: ANTHROPIC },
      tool_calls && {
        field: 'tool_calls',
        blocks: tool_calls.map((call, index) =>
          toCall(
            call.id,
            call.function.name,
            call.function.arguments,
            `tool_calls[${index}].function.arguments`,
            limits,
          ),
        ),
        shape: OPENAI_CHAT,
      },
      output && {
        field: 'output',
        blocks: output.map((item, index) =>
          toCall(item.call_id, item.name, item.arguments, `output[${index}].arguments`, limits),
        ),
        shape: OPENAI_RESPONSES,
      },
    ].filter((one) => one !== undefined);
    const [one] = given;
    if (one === undefined || given.length > 1) {
      throw refusal('send exactly one of "tool_uses", "message", "tool_calls" and "output"');
    }
    const { field, blocks, shape } = one;
    if (blocks.length === 0) throw refusal('it holds no tool call; send at least one', field);
    if (blocks.length > limits.batchBlocks)
      throw refusal(`it holds more than ${limits.batchBlocks} tool calls; send fewer`, field);
    return { blocks, shape, ...asked };
  };
}

function toBlock(block: z.output<typeof ToolUseBlockSchema>): ToolUseBlock {
  return { ...block, input: (block.input ?? {}) as JsonValue };
}

/** What is not JSON stays text: an input that is no object fails its tool's schema, as a result of that block. */
function toCall(id: string, name: string, text: string, field: string, limits: Limits): ToolUseBlock {
  return { type: 'tool_use', id, name, input: text.trim() === '' ? {} : parseArguments(text, field, limits) };
}

function parseArguments(text: string, field: string, limits: Limits): JsonValue {
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
