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

/** Ids of turns, sessions and requests. */
export const IdSchema = z
  .string()
  .regex(/^[A-Za-z0-9_-]{1,128}$/, 'expected 1 to 128 characters of A-Z, a-z, 0-9, "_" and "-"');

const CALL_ID_WORDS = 'expected 1 to 128 printable characters, and neither "." nor ".."';

/**
 * Ids of calls: each provider has an alphabet of its own. Printable is all of Unicode but control and format characters,
 * surrogates and line separators. No address can end in "." or "..".
 */
export const CallIdSchema = z.string().regex(/^(?!\.{1,2}$)[^\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]{1,128}$/u, CALL_ID_WORDS);

/** The fields of a `tool_use` block. `input` may be any value: the tool's own schema judges it. */
export const TOOL_USE_FIELDS = {
  type: z.literal('tool_use'),
  id: CallIdSchema,
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

/** The id of a call as a provider gives it: some give none, or an empty one. */
export const GivenCallIdSchema = z
  .string()
  .refine((id) => id === '' || CallIdSchema.safeParse(id).success, CALL_ID_WORDS)
  .nullish()
  .transform((id) => id || undefined)
  .describe('May be absent or empty where `id_scope` is `turn`');

/** A block as a model sends it, before `scopeId` (src/session/turn/id-scope.ts) settles its id. */
export type GivenBlock = Wire<typeof GivenBlockSchema>;
export const GivenBlockSchema = ToolUseBlockSchema.extend({ id: GivenCallIdSchema });

/** Scope in which ids of calls are unique. */
export type IdScope = z.output<typeof IdScopeSchema>;
export const IdScopeSchema = z
  .enum(['session', 'turn'])
  .describe('How far the ids of calls are unique; `turn`: the server makes one of `turn_id` and the id or the place');

/** Form in which ToolSearch answers. */
export type ToolSearchForm = z.output<typeof ToolSearchFormSchema>;
export const ToolSearchFormSchema = z
  .enum(['text', 'references'])
  .describe(
    'How ToolSearch answers: with definitions as text, or with `tool_reference` blocks of the Messages API, whose list of tools then has the definitions',
  );

/** Read a block whose id the client must give. @throws {GauntletError} `invalid_request` naming the field */
export function readBlock(value: unknown): Wire<typeof ToolUseBlockSchema> {
  return read(ToolUseBlockSchema, value);
}

/** Read a block whose id may be absent. @throws {GauntletError} `invalid_request` naming the field */
export function readGivenBlock(value: unknown): GivenBlock {
  return read(GivenBlockSchema, value);
}

function read<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  const check = checkFields(schema, value);
  if (check.kind === 'fits') return check.value;
  const [issue] = check.issues;
  const path = ['tool_use', issue?.path].filter(Boolean).join('.');
  throw new GauntletError('invalid_request', `Cannot read the block, field "${path}": ${issue?.message}`, {
    details: { path },
  });
}
