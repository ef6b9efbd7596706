/**
 * The shape of the Anthropic Messages API: blocks by themselves, or in an assistant message.
 */
import { z } from 'zod';
import { ToolUseBlockSchema } from '../../src/session/feed/block-schema.ts';
import type { ReplyShape } from './shape.ts';

/** An assistant message; its `tool_use` blocks are taken, whatever else it holds. */
export const AssistantMessageSchema = z
  .object({
    role: z.literal('assistant').optional(),
    content: z.union([z.string(), z.array(z.looseObject({ type: z.string() }))]),
  })
  .transform(({ content }): unknown => (typeof content === 'string' ? [] : content.filter(isToolUse)))
  .pipe(z.array(ToolUseBlockSchema))
  .describe('An assistant message; its tool_use blocks are taken');

/** Replies with the user message that holds the results. */
export const ANTHROPIC: ReplyShape = {
  appendix: (_results, resultsJson) => `"message":{"role":"user","content":${resultsJson}}`,
};

function isToolUse(block: { readonly type: string }): boolean {
  return block.type === 'tool_use';
}
