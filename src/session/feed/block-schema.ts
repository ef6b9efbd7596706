/**
 * What a `tool_use` block must look like before anything else is asked of it.
 */
import { z } from 'zod';
import type { ToolUseBlock } from '../../contract/blocks.ts';
import { GauntletError } from '../../contract/errors.ts';

/** Ids from outside: calls, turns, sessions, requests. */
export const IdSchema = z
  .string()
  .regex(/^[A-Za-z0-9_-]{1,128}$/, 'expected 1 to 128 characters of A-Z, a-z, 0-9, "_" and "-"');

/** A `tool_use` block. `input` may be anything: the tool's own schema judges it. Fields beside these are dropped. */
export const ToolUseBlockSchema = z.object({
  type: z.literal('tool_use'),
  id: IdSchema,
  name: z.string().min(1).max(256),
  input: z.unknown().optional(),
});

/** Read a block. @throws {GauntletError} `invalid_request` naming the field */
export function readBlock(value: unknown): ToolUseBlock {
  const parsed = ToolUseBlockSchema.safeParse(value);
  if (parsed.success) return { ...parsed.data, input: parsed.data.input ?? {} } as ToolUseBlock;
  const issue = parsed.error.issues[0];
  const path = ['tool_use', ...(issue?.path ?? [])].join('.');
  throw new GauntletError('invalid_request', `Cannot read the block, field "${path}": ${issue?.message ?? 'invalid'}`, {
    details: { path },
  });
}
