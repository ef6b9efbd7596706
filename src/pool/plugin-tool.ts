/**
 * Completes the export of a plugin to a tool, or reports the invalid member.
 *
 * Besides the members with a default of `buildTool`, these are optional: `description`, the mapping of the result and
 * its limit. `prompt` and `description` may be plain texts.
 */
import * as z from 'zod';
import { zodToJsonSchema } from 'zod-to-json-schema';
import type { ZodTypeAny } from 'zod/v3';
import { errorMessage } from '../base/errors.ts';
import type { JsonObject } from '../base/json.ts';
import { alwaysEnabled, buildTool } from '../tool/build-tool.ts';
import type { AnyObject, ListContext, Tool } from '../tool/tool.ts';
import type { ToolResultBlock } from '../wire/blocks.ts';

/** Upper bound of the aliases of one tool. */
const MAX_ALIASES = 16;

/** Tool name accepted by model APIs; the prefix of MCP tools is reserved for their servers. */
const name = z
  .string()
  .regex(/^[A-Za-z0-9_-]{1,64}$/, 'expected 1 to 64 letters, digits, "_" or "-"')
  .refine((value) => !value.startsWith('mcp__'), 'must not begin with "mcp__"');

const isFunction = (value: unknown) => typeof value === 'function';

const method = z.custom<(...given: never[]) => unknown>(isFunction, 'expected a function');

const words = z.union([z.string(), method], 'expected a text or a function');

const flag = z.boolean().optional();

const optional = method.optional();

const fields = z.array(z.string()).optional();

/** Members of a tool with their kinds. Unknown members are kept, since a plugin may use them itself. */
const Definition = z.looseObject({
  name,
  aliases: z.array(name).max(MAX_ALIASES).optional(),
  searchHint: z.string().optional(),
  inputSchema: z.custom<object>((value) => typeof value === 'object' && value !== null, 'expected a Zod schema'),
  prompt: words,
  description: words.optional(),
  call: method,
  mapToolResultToToolResultBlockParam: optional,
  maxResultSizeChars: z.number().positive().or(z.literal(Infinity)).optional(),
  internalFields: fields,
  personFields: fields,
  shouldDefer: flag,
  alwaysLoad: flag,
  strict: flag,
  touchesOnlySession: z.union([z.boolean(), method], 'expected true, false or a function').optional(),
  isFileEdit: flag,
  abortsSiblings: flag,
  isOutsideTurnBudget: flag,
  ...Object.fromEntries(
    [
      ...[
        'userFacingName',
        'isEnabled',
        'disabledReason',
        'analyse',
        'validateInput',
        'checkPermissions',
        'isReadOnly',
      ],
      ...['isConcurrencySafe', 'isDestructive', 'toAutoClassifierInput', 'backfillObservableInput'],
      ...['preparePermissionMatcher', 'paths', 'warnings', 'suggestRules', 'interruptBehavior', 'isResultTruncated'],
      ...['isSearchOrReadCommand', 'toHookResponse', 'getToolUseSummary', 'getActivityDescription'],
      ...['renderToolUseMessage', 'renderToolUseProgressMessage', 'renderToolResultMessage'],
      ...['renderToolUseRejectedMessage', 'renderToolUseErrorMessage', 'renderGroupedToolUse'],
    ].map((member) => [member, optional]),
  ),
});

/**
 * Create a tool from one export.
 *
 * @param exported Definition for `buildTool`, or a tool created by it.
 * @param plugin Name of the plugin in the tool's origin.
 * @param resultChars Default limit of a result.
 * @throws {Error} Names the invalid member and the problem.
 */
export function pluginTool(exported: unknown, plugin: string, resultChars: number): Tool {
  const parsed = Definition.safeParse(exported);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new Error(`"${issue?.path.join('.') || 'default export'}": ${issue?.message ?? 'malformed'}`);
  }
  const { inputSchema, prompt, description = parsed.data.name, ...members } = parsed.data;
  const { touchesOnlySession } = members;
  return buildTool({
    mapToolResultToToolResultBlockParam: textResult,
    maxResultSizeChars: resultChars,
    ...(members as unknown as Pick<Tool, 'name' | 'call'>),
    ...pluginInput(inputSchema),
    ...(typeof touchesOnlySession === 'boolean' && { touchesOnlySession: () => touchesOnlySession }),
    isEnabled: enabledBy(members['isEnabled']),
    prompt: safeText(prompt, parsed.data.name),
    description: safeText(description, parsed.data.name),
    origin: { type: 'plugin', name: plugin },
  });
}

/** Wrap a text so that it never throws: lists and questions use it and must not fail. */
function safeText(words: string | ((...given: never[]) => unknown), name: string): () => string {
  if (typeof words === 'string') return () => words;
  return (...given: unknown[]) => {
    try {
      const text = words(...(given as never[]));
      return typeof text === 'string' ? text : name;
    } catch {
      // Without a valid text the name is shown.
      return name;
    }
  };
}

/** Wrap `isEnabled`: a tool that fails to answer is disabled. */
function enabledBy(isEnabled: unknown): Tool['isEnabled'] {
  if (typeof isEnabled !== 'function') return alwaysEnabled;
  return (list) => {
    try {
      return (isEnabled as (given: ListContext) => unknown)(list) === true;
    } catch {
      // Disabled, as stated above.
      return false;
    }
  };
}

/** Map a text unchanged, and any other output as JSON. */
function textResult(output: unknown, toolUseId: string): ToolResultBlock {
  const content = typeof output === 'string' ? output : (JSON.stringify(output) ?? '');
  return { type: 'tool_result', tool_use_id: toolUseId, content };
}

/**
 * Use a Zod 4 schema directly; wrap a Zod 3 schema, which then validates itself.
 *
 * @throws {Error} If it is neither, if JSON Schema cannot express it (a date, a bigint, a map), or if its input is not
 * an object.
 */
function pluginInput(schema: object): Pick<Tool, 'inputSchema' | 'inputJSONSchema'> {
  if ('_zod' in schema && 'safeParse' in schema) {
    const inputSchema = schema as AnyObject;
    requireObject(describe(() => z.toJSONSchema(inputSchema, { io: 'input' }) as JsonObject));
    return { inputSchema };
  }
  if (!isZod3(schema)) throw new Error('"inputSchema": expected a Zod schema');
  const { $schema: _dialect, ...inputJSONSchema } = describe(() => zodToJsonSchema(schema) as JsonObject);
  requireObject(inputJSONSchema);
  return { inputSchema: wrapped(schema), inputJSONSchema };
}

/** Report whether this is a Zod 3 schema, which has its definition in `_def`; Zod 4 uses `_zod`. */
function isZod3(schema: object): schema is ZodTypeAny {
  const { _def: definition, safeParse } = schema as { _def?: unknown; safeParse?: unknown };
  return (
    typeof safeParse === 'function' &&
    typeof definition === 'object' &&
    definition !== null &&
    'typeName' in definition &&
    typeof definition.typeName === 'string'
  );
}

function wrapped(schema: ZodTypeAny): AnyObject {
  return z.unknown().transform((input, context) => {
    const parsed = schema.safeParse(input);
    if (parsed.success) return parsed.data as Record<string, unknown>;
    for (const { path, message } of parsed.error.issues) context.addIssue({ code: 'custom', path, message });
    return z.NEVER;
  });
}

function describe(toJsonSchema: () => JsonObject): JsonObject {
  try {
    return toJsonSchema();
  } catch (error) {
    throw new Error(`"inputSchema": it cannot be said in JSON Schema (${errorMessage(error)})`, { cause: error });
  }
}

function requireObject(schema: JsonObject): void {
  if (schema['type'] !== 'object') throw new Error('"inputSchema": expected the schema of an object');
}
