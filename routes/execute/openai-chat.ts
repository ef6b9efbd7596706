/**
 * The shape of OpenAI Chat Completions: `tool_calls` in, `role:"tool"` messages out.
 */
import { z } from 'zod';
import { resultText, type ToolResultBlock } from '../../src/wire/blocks.ts';
import { IdSchema } from '../../src/wire/block-schema.ts';
import type { ReplyShape } from './shape.ts';

/** One function call of an assistant message; its vendor's own fields are kept. */
export const ToolCallSchema = z.looseObject({
  id: IdSchema,
  type: z.literal('function').optional(),
  function: z.object({ name: z.string().min(1).max(256), arguments: z.string().describe('JSON') }),
});

/** Replies with one message a call. A tool message holds text only: other blocks are named. */
export const OPENAI_CHAT: ReplyShape = {
  appendix: (results) => `"messages":${JSON.stringify(results.map(toMessage))}`,
};

function toMessage({ tool_use_id, content }: ToolResultBlock): object {
  const omitted =
    typeof content === 'string' ? [] : content.filter(({ type }) => type === 'image' || type === 'document');
  const notes = omitted.map(({ type }) => `[${type} left out: a tool message holds text only]`);
  return {
    role: 'tool',
    tool_call_id: tool_use_id,
    content: [resultText(content), ...notes].filter(Boolean).join('\n'),
  };
}
