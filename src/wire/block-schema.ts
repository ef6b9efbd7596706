/**
 * Schema of a `tool_use` block, the first check that it must pass.
 */
import * as z from 'zod';
import type { JsonValue } from '../base/json.ts';
import { GauntletError } from '../base/errors.ts';
import { checkFields } from './field-issues.ts';
import { openObject, type Wire } from './wire-type.ts';

/** `tool_use` blocks in one request, and blocks that one client may stream at once. */
export const MAX_BATCH_BLOCKS = 256;

/** Ids from outside: calls, turns, sessions, requests. */
export const IdSchema = z
  .string()
  .regex(/^[A-Za-z0-9_-]{1,128}$/, 'expected 1 to 128 characters of A-Z, a-z, 0-9, "_" and "-"');

/** The fields of a `tool_use` block. `input` may be any value: the tool's own schema judges it. */
export const TOOL_USE_FIELDS = {
  type: z.literal('tool_use'),
  id: IdSchema,
  name: z.string().min(1).max(256),
  input: z.custom<JsonValue>(),
};

/**
 * A `tool_use` block as it comes in; a missing input becomes `{}`. Other fields belong to the model's vendor and are
 * kept.
 */
export const ToolUseBlockSchema = openObject({
  ...TOOL_USE_FIELDS,
  input: TOOL_USE_FIELDS.input.nullish().transform((input): JsonValue => input ?? {}),
});

/** A block that was read. */
type ReadBlock = Wire<typeof ToolUseBlockSchema>;

/** Read a block. @throws {GauntletError} `invalid_request` naming the field */
export function readBlock(value: unknown): ReadBlock {
  const check = checkFields(ToolUseBlockSchema, value);
  if (check.kind === 'fits') return check.value;
  const [issue] = check.issues;
  const path = ['tool_use', issue?.path].filter(Boolean).join('.');
  throw new GauntletError('invalid_request', `Cannot read the block, field "${path}": ${issue?.message}`, {
    details: { path },
  });
}
