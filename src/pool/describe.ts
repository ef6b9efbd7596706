/**
 * Describes a tool in the format of each API: Anthropic, OpenAI (Responses and Chat), MCP, and in full.
 *
 * Key order is part of the bytes that prompt caches depend on.
 */
import * as z from 'zod';
import type { JsonObject } from '../base/json.ts';
import type { McpHints, PromptOptions, Tool } from '../tool/tool.ts';
import type { ToolDefinition, ToolEntry, ToolFacts } from '../wire/server-replies.ts';
import { geminiSchema, plainSchema, strictSchema } from './provider-schema.ts';
import type { ToolPool } from './tool-pool.ts';

/** Part of a deferred tool's description that a list shows. */
const DEFERRED_DESCRIPTION_CHARS = 200;

const schemas = new WeakMap<Tool, JsonObject>();

/** JSON formats of `GET /tools?format=`. */
export const ENTRY_FORMATS = ['anthropic', 'openai-responses', 'openai-chat', 'gemini', 'mcp', 'full'] as const;

/** One of the JSON formats. */
export type EntryFormat = (typeof ENTRY_FORMATS)[number];

/** Longest description that Chat Completions takes. */
const CHAT_DESCRIPTION_CHARS = 1_024;

/** Schema of a deferred tool where the API wants one: the model learns the fields from ToolSearch. */
const OPEN_SCHEMA: JsonObject = { type: 'object', properties: {}, additionalProperties: true };

/** Amount of detail: according to deferral (`open`: each tool has a schema, as the API requires), all, or only the name. */
export type SchemaChoice = 'by deferral' | 'open' | 'full' | 'none';

/** Form of an entry. */
export interface EntryForm {
  readonly format: EntryFormat;
  readonly schemas: SchemaChoice;
  /** True for OpenAI's strict schemas, where a tool's schema can be one. */
  readonly isStrict?: boolean;
}

/** Describe one tool as the Messages API takes it, and ToolSearch gives it. */
export function describeTool(tool: Tool, options: PromptOptions): ToolDefinition {
  return {
    name: tool.name,
    description: tool.prompt(options),
    input_schema: toolInputSchema(tool),
    ...(tool.strict === true && { strict: true }),
  };
}

/**
 * Describe one entry of a list.
 *
 * MCP requires a schema and `full` is meant to show everything, so these two always include all details. Chat
 * Completions and Gemini reject unknown fields, including `defer_loading`, and a model of theirs calls declared tools
 * alone: a deferred one has a schema there that takes anything.
 *
 * @throws {UnusableSchema} If the API would refuse the tool.
 */
export function describeEntry(tool: Tool, pool: ToolPool, { format, schemas, isStrict }: EntryForm): ToolEntry {
  if (schemas === 'none' && format !== 'full') return { name: tool.name };
  const options = promptOptions(pool);
  const isDeferred = pool.isDeferred(tool);
  const defer = isDeferred && ({ defer_loading: true } as const);
  if (format === 'mcp') return mcpEntry(tool, options);
  if (format === 'full') return { ...describeTool(tool, options), ...defer, ...facts(tool, pool) };

  const { input_schema, strict, ...words } = describeTool(tool, options);
  const isShort = isDeferred && schemas !== 'full';
  const description = isShort ? cut(words.description, DEFERRED_DESCRIPTION_CHARS) : words.description;
  if (format === 'gemini') {
    const parameters = isShort ? undefined : geminiSchema(input_schema);
    return { name: tool.name, description, ...(parameters && { parameters }) };
  }
  const plain = isShort ? OPEN_SCHEMA : plainSchema(input_schema);
  if (format === 'anthropic')
    return {
      name: tool.name,
      description,
      ...((!isShort || schemas === 'open') && { input_schema: plain, ...(!isShort && strict && { strict }) }),
      ...defer,
    };
  const strictOne = isStrict === true && !isShort ? strictSchema(input_schema) : undefined;
  const parameters = strictOne ?? plain;
  const marked = strictOne !== undefined || (strict ?? false);
  if (format === 'openai-responses')
    return { type: 'function', name: tool.name, description, parameters, strict: marked, ...defer };
  const short = cut(description, CHAT_DESCRIPTION_CHARS);
  return {
    type: 'function',
    function: { name: tool.name, description: short, parameters, ...(marked && { strict: marked }) },
  };
}

/**
 * Collect the context that prompts may depend on. It names built-ins only, so that the prompts of built-ins never
 * depend on connected MCP servers.
 */
export function promptOptions(pool: ToolPool): PromptOptions {
  return {
    principal: pool.principal,
    cwd: pool.cwd,
    permissions: pool.permissions,
    toolNames: pool.tools.slice(0, pool.builtInCount).map((tool) => tool.name),
    ...(pool.innerTools.length > pool.tools.length && { innerTools: pool.innerTools.slice(pool.tools.length) }),
  };
}

function mcpEntry(tool: Tool, options: PromptOptions): ToolEntry {
  return {
    name: tool.name,
    description: tool.prompt(options),
    inputSchema: toolInputSchema(tool),
    ...(tool.outputSchema && { outputSchema: toolOutputSchema(tool.outputSchema) }),
    ...tool.mcpDefinition,
    annotations: annotations(tool),
  };
}

/** List the properties of a tool that only `full` shows. */
function facts(tool: Tool, pool: ToolPool): ToolFacts {
  return {
    source: tool.origin?.type ?? 'built_in',
    ...(tool.origin && { server: tool.origin.name }),
    aliases: tool.aliases ?? [],
    user_facing_name: nameForPeople(tool),
    ...(tool.outputSchema && { output_schema: toolOutputSchema(tool.outputSchema) }),
    ...(tool.mcpDefinition?.outputSchema && { output_schema: tool.mcpDefinition.outputSchema }),
    annotations: annotations(tool),
    // JSON has no Infinity: null for a tool that limits its own result.
    max_result_size_chars: Number.isFinite(tool.maxResultSizeChars) ? tool.maxResultSizeChars : null,
    ...(tool.searchHint !== undefined && { search_hint: tool.searchHint }),
    state: pool.lookup(tool.name) === tool ? 'enabled' : (pool.hiddenTool(tool.name)?.reason ?? 'not enabled'),
  };
}

function nameForPeople(tool: Tool): string {
  try {
    return tool.userFacingName();
  } catch {
    // Without a name for people, the tool's own name is shown.
    return tool.name;
  }
}

/** Return MCP's hints, which must hold for every input; for unknown ones the default of the specification. */
function annotations(tool: Tool): Required<McpHints> {
  const { mcpHints: said = {} } = tool;
  const isReadOnly = holdsForEveryInput(tool.isReadOnly);
  const isHarmless = isReadOnly || holdsForEveryInput(tool.touchesOnlySession);
  return {
    readOnlyHint: isReadOnly,
    destructiveHint: !isHarmless && (said.destructiveHint ?? true),
    idempotentHint: said.idempotentHint ?? false,
    openWorldHint: said.openWorldHint ?? !staysOnMachine(tool, isReadOnly),
  };
}

/**
 * Report whether a tool opens nothing outside the session and the file system: a built-in that reads or edits files
 * opens nothing else.
 */
function staysOnMachine(tool: Tool, isReadOnly: boolean): boolean {
  if (holdsForEveryInput(tool.touchesOnlySession)) return true;
  return tool.origin === undefined && (tool.isFileEdit === true || (isReadOnly && tool.paths !== undefined));
}

function holdsForEveryInput(answer: ((input: never) => boolean) | undefined): boolean {
  try {
    return answer?.length === 0 && (answer as () => boolean)() === true;
  } catch {
    // It depends on its input, or fails, so nothing holds for every input.
    return false;
  }
}

/** Cut a text without splitting a surrogate pair. */
function cut(text: string, chars: number): string {
  if (text.length <= chars) return text;
  const end = chars - 1;
  const isSplit = /[\uD800-\uDBFF]/.test(text.charAt(end - 1));
  return `${text.slice(0, isSplit ? end - 1 : end)}…`;
}

/**
 * Return the JSON Schema for a model: the server's own for MCP tools, else derived from Zod.
 *
 * @throws {Error} If the Zod schema cannot be expressed in JSON Schema (a date, a map).
 */
function toolInputSchema(tool: Tool): JsonObject {
  const known = schemas.get(tool);
  if (known !== undefined) return known;
  const { $schema: _dialect, ...schema } = tool.inputJSONSchema ?? fromZod(tool);
  schemas.set(tool, schema);
  return schema;
}

/** Convert a tool's output schema to JSON Schema. Parts that JSON Schema cannot express become `{}`. */
function toolOutputSchema(schema: z.ZodType): JsonObject {
  return z.toJSONSchema(schema, { io: 'output', unrepresentable: 'any' }) as JsonObject;
}

/** Convert the input side: on the output side a field with a default would be required. */
function fromZod(tool: Tool): JsonObject {
  return z.toJSONSchema(tool.inputSchema, { io: 'input' }) as JsonObject;
}
