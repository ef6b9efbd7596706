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

/** `_meta` key with words by which ToolSearch finds the tool. */
export const SEARCH_HINT_KEY = 'anthropic/searchHint';

/** `_meta` key by which a tool asks never to be deferred. */
export const ALWAYS_LOAD_KEY = 'anthropic/alwaysLoad';

/** Longest `outputSchema`, `icons` and `_meta` each, in characters of JSON; a longer one is dropped. */
const MAX_EXTRA_CHARS = 64 * 1_024;

/** Keyword of a schema: the argument is sent as a header of the request, too. */
const HEADER_KEYWORD = 'x-mcp-header';

/** A token of RFC 9110. */
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

const jsonObject = z.custom<JsonObject>(
  (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  'expected an object',
);

/** A member that is dropped where it is malformed or too long. */
const extra = <Value extends z.ZodType>(schema: Value) =>
  schema
    .refine((value) => JSON.stringify(value).length <= MAX_EXTRA_CHARS)
    .optional()
    .catch(undefined);

/** A hint of the wrong type counts as absent. */
const hint = z.boolean().optional().catch(undefined);

const SentTool = z.object({
  name: z.string().min(1).max(SENT_NAME_CHARS),
  title: z.string().optional().catch(undefined),
  description: z.string().optional(),
  inputSchema: jsonObject,
  outputSchema: extra(jsonObject),
  icons: extra(z.array(jsonObject)),
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
  execution: z
    .object({ taskSupport: z.enum(['forbidden', 'optional', 'required']).optional().catch(undefined) })
    .optional()
    .catch(undefined),
  _meta: extra(jsonObject),
});

/** A tool as its server describes it. */
export type McpToolDefinition = z.output<typeof SentTool> & {
  /** SHA-256, hex, of what a person approves: text, schema and hints. */
  readonly hash: string;
  /** The same of all members. */
  readonly wholeHash: string;
};

/** A definition and its length as JSON, or the reason for its rejection. */
export type ParsedTool =
  | { readonly definition: McpToolDefinition; readonly chars: number }
  | { readonly name: string; readonly refusal: string };

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
  const hash = hashOf(approvedText(parsed.data));
  const whole = JSON.stringify(parsed.data);
  return { definition: { ...parsed.data, hash, wholeHash: hashOf(whole) }, chars: whole.length };
}

function schemaRefusal(schema: JsonObject): string | undefined {
  if (schema['type'] !== undefined && schema['type'] !== 'object') return '"inputSchema.type": expected "object"';
  if (JSON.stringify(schema).length > MAX_SCHEMA_CHARS) {
    return `"inputSchema": more than ${MAX_SCHEMA_CHARS} characters`;
  }
  if (hasReferenceCycle(schema)) return '"inputSchema": its references form a cycle';
  return headerRefusal(schema);
}

function refused(sent: unknown, refusal: string): ParsedTool {
  const name = typeof sent === 'object' && sent !== null && 'name' in sent ? sent.name : undefined;
  return { name: typeof name === 'string' ? name : 'unnamed', refusal };
}

/** Return the members that a model reads and a person approves, as JSON. Stored pins depend on their order. */
export function approvedText(definition: z.output<typeof SentTool>): string {
  const { name, title, description, inputSchema, annotations, _meta: meta } = definition;
  const chars = meta?.[RESULT_CHARS_KEY];
  const limits = meta && (typeof chars === 'number' ? { [RESULT_CHARS_KEY]: chars } : {});
  return JSON.stringify({ name, title, description, inputSchema, annotations, _meta: limits });
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/**
 * Return the reason why the headers that a schema asks for cannot be sent. The specification demands that such a tool is
 * left out.
 */
function headerRefusal(schema: JsonObject): string | undefined {
  const names = new Set<string>();
  let refusal: string | undefined;
  const visit = (node: unknown, path: string, isReachable: boolean): void => {
    if (typeof node !== 'object' || node === null || refusal !== undefined) return;
    if (Array.isArray(node)) return node.forEach((item, index) => visit(item, `${path}.${index}`, false));
    const { [HEADER_KEYWORD]: header, ...rest } = node as JsonObject;
    if (header !== undefined) refusal = refusedHeader(header, rest, { path, isReachable, names });
    for (const [key, inner] of Object.entries(rest)) {
      const isProperties = key === 'properties' && (isReachable || path === '') && isPlainObject(inner);
      if (!isProperties) visit(inner, `${path}.${key}`, false);
      else for (const [name, property] of Object.entries(inner)) visit(property, `${path}.${name}`, true);
    }
  };
  visit(schema, '', false);
  return refusal;
}

function refusedHeader(
  header: unknown,
  { type }: JsonObject,
  { path, isReachable, names }: { readonly path: string; readonly isReachable: boolean; readonly names: Set<string> },
): string | undefined {
  const where = `"inputSchema${path}.${HEADER_KEYWORD}"`;
  if (!isReachable) return `${where}: only properties of objects may have one`;
  if (typeof header !== 'string' || !HEADER_NAME.test(header)) return `${where}: expected the name of a header`;
  if (!['string', 'integer', 'boolean'].includes(String(type))) {
    return `${where}: only a string, an integer or a boolean may have one`;
  }
  const name = header.toLowerCase();
  if (names.has(name)) return `${where}: "${header}" is there twice`;
  names.add(name);
  return undefined;
}

function isPlainObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
