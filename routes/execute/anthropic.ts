/**
 * The shape of the Anthropic Messages API: blocks by themselves, or in an assistant message.
 */
import { z } from 'zod';
import { ToolUseBlockSchema } from '../../src/wire/block-schema.ts';
import type { AssistantMessage } from '../../src/wire/blocks.ts';
import type { ReplyShape } from './shape.ts';

/** An assistant message; its `tool_use` blocks are taken, and tools see the rest of it. */
export const AssistantMessageSchema = z
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

/** Replies with the user message that holds the results. */
export const ANTHROPIC: ReplyShape = {
  appendix: (_results, resultsJson) => `"message":{"role":"user","content":${resultsJson}}`,
};

function isToolUse(block: { readonly type: string }): boolean {
  return block.type === 'tool_use';
}
