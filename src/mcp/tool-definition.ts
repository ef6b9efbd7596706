/**
 * Validates one tool of a server's list: a usable tool is kept, any other is named with the reason.
 */
import { createHash } from 'node:crypto';
import * as z from 'zod';
import { isTooDeep, MAX_JSON_DEPTH, type JsonObject } from '../base/json.ts';
import { hasReferenceCycle } from './json-schema-input.ts';

/** Longest name accepted from a server, in characters; `mcpToolName` shortens it. */
const SENT_NAME_CHARS = 256;

/** JSON of one tool's input schema; compiling it takes some 5 ms a KiB in the worst case, once. */
const MAX_SCHEMA_CHARS = 64 * 1_024;

/** `_meta` key by which a tool raises the limit of its own results. */
export const RESULT_CHARS_KEY = 'anthropic/maxResultSizeChars';

/** A hint of the wrong type counts as absent. */
const hint = z.boolean().optional().catch(undefined);

const SentTool = z.object({
  name: z.string().min(1).max(SENT_NAME_CHARS),
  title: z.string().optional().catch(undefined),
  description: z.string().optional(),
  inputSchema: z.custom<JsonObject>(
    (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
    'expected an object',
  ),
  annotations: z
    .object({
      title: z.string().optional().catch(undefined),
      readOnlyHint: hint,
      destructiveHint: hint,
      idempotentHint: hint,
      openWorldHint: hint,
    })
    .optional()
    .catch(undefined),
  _meta: z
    .object({ [RESULT_CHARS_KEY]: z.number().optional().catch(undefined) })
    .optional()
    .catch(undefined),
});

/** A tool as its server describes it. */
export type McpToolDefinition = z.output<typeof SentTool> & {
  /** SHA-256, hex, of all members in use: text, schema and hints. */
  readonly hash: string;
};

/** A definition, or the reason for its rejection. */
export type ParsedTool =
  { readonly definition: McpToolDefinition } | { readonly name: string; readonly refusal: string };

/** Validate one entry of `tools/list`. Never throws. */
export function parseToolDefinition(sent: unknown): ParsedTool {
  if (isTooDeep(sent)) return refused(sent, `nested deeper than ${MAX_JSON_DEPTH} levels`);
  const parsed = SentTool.safeParse(sent);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    return refused(sent, `"${issue?.path.join('.') ?? ''}": ${issue?.message ?? 'malformed'}`);
  }
  const refusal = schemaRefusal(parsed.data.inputSchema);
  if (refusal !== undefined) return refused(sent, refusal);
  return { definition: { ...parsed.data, hash: hashDefinition(parsed.data) } };
}

function schemaRefusal(schema: JsonObject): string | undefined {
  if (schema['type'] !== undefined && schema['type'] !== 'object') return '"inputSchema.type": expected "object"';
  if (JSON.stringify(schema).length > MAX_SCHEMA_CHARS) {
    return `"inputSchema": more than ${MAX_SCHEMA_CHARS} characters`;
  }
  return hasReferenceCycle(schema) ? '"inputSchema": its references form a cycle' : undefined;
}

function refused(sent: unknown, refusal: string): ParsedTool {
  const name = typeof sent === 'object' && sent !== null && 'name' in sent ? sent.name : undefined;
  return { name: typeof name === 'string' ? name : 'unnamed', refusal };
}

function hashDefinition(definition: z.output<typeof SentTool>): string {
  return createHash('sha256').update(JSON.stringify(definition)).digest('hex');
}
