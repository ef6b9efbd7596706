/**
 * Makes a tool of ours out of a tool of a server: its words made visible, its hints turned into gates.
 *
 * Whatever a server claims, the general rules decide; what it leaves unsaid is answered "no".
 */
import type { CallToolResult } from '@modelcontextprotocol/client';
import { createHash } from 'node:crypto';
import type { Limits } from '../../config/limits.ts';
import type { JsonObject, JsonValue } from '../base/json.ts';
import { buildTool } from '../tool/build-tool.ts';
import type { Tool } from '../tool/tool.ts';
import type { TextBlock } from '../wire/blocks.ts';
import type { PermissionResult } from '../wire/decision.ts';
import { type McpOutput, toOutput } from './call-result.ts';
import { jsonSchemaInput } from './json-schema-input.ts';
import { type McpProgress, mcpRendering } from './render.ts';
import { type McpToolDefinition, RESULT_CHARS_KEY } from './tool-definition.ts';
import { visibleLine, visibleText } from './visible-text.ts';

/** The longest name the model APIs take. */
const NAME_CHARS = 64;

/** `_` and eight hex digits. */
const SUFFIX_CHARS = 9;

/** What a result of an MCP tool may hold when the tool says nothing. */
const DEFAULT_RESULT_CHARS = 100_000;

const TITLE_CHARS = 100;

/** Schema keywords that hold words for a reader. */
const WORDS = new Set(['description', 'title']);

/** Progress as the server sends it. */
interface SentProgress {
  readonly progress: number;
  readonly total?: number;
  readonly message?: string;
}

/** One call to a server. */
export interface McpToolCall {
  readonly toolName: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly inputSchema: JsonObject;
  readonly signal: AbortSignal;
  /** May be sent twice: it only reads, or says that twice is as good as once. */
  readonly isRepeatable: boolean;
  readonly onProgress: (progress: SentProgress) => void;
}

/** What a tool needs from its server. */
export interface ToolSource {
  /** As configured. */
  readonly server: string;
  /** Its tools are never deferred. */
  readonly isAlwaysLoaded: boolean;
  readonly limits: Pick<
    Limits,
    | 'jsonDepth'
    | 'resultChars'
    | 'mcpResultChars'
    | 'mcpDescriptionChars'
    | 'mcpCompiledSchemas'
    | 'mcpJudgedValues'
    | 'progressChars'
  >;
  /** @throws {GauntletError} `cancelled`, `timeout` or `tool_failed`. */
  readonly call: (call: McpToolCall) => Promise<CallToolResult>;
  /** Whether a person approved another definition of this tool and has not seen this one yet. */
  readonly isChanged: (definition: McpToolDefinition) => boolean;
  /** The definition was let through the gate: from now on it is the approved one. */
  readonly approve: (definition: McpToolDefinition) => void;
}

/** Make the tool. Pure but for `source`, which its calls reach. */
export function adaptTool(definition: McpToolDefinition, source: ToolSource): Tool {
  const { server, limits } = source;
  const { title: hintedTitle, ...hints } = definition.annotations ?? {};
  const name = mcpToolName(server, definition.name);
  const title = visibleLine(hintedTitle ?? definition.title ?? `${server} - ${definition.name} (MCP)`, TITLE_CHARS);
  const words = visibleText(definition.description ?? definition.title ?? definition.name, limits.mcpDescriptionChars);
  const isReadOnly = hints.readOnlyHint === true;

  return buildTool({
    name,
    origin: { type: 'mcp', name: server },
    ...(source.isAlwaysLoaded ? { alwaysLoad: true } : { shouldDefer: true }),
    userFacingName: () => title,
    prompt: () => words,
    description: () => `Use "${visibleLine(definition.name, TITLE_CHARS)}" of the MCP server "${server}"`,
    inputSchema: jsonSchemaInput(definition.inputSchema, limits),
    inputJSONSchema: shownSchema(definition.inputSchema, limits.mcpDescriptionChars),
    mcpHints: hints,

    isReadOnly: () => isReadOnly,
    isConcurrencySafe: () => isReadOnly,
    isDestructive: () => hints.destructiveHint === true && !isReadOnly,
    warnings: () => (hints.openWorldHint === true ? [`"${server}" says that this reaches systems outside`] : []),
    suggestRules: () => [name],
    checkPermissions: () => (source.isChanged(definition) ? askAgain(name, server) : { behavior: 'allow' }),

    async call(input, context, _canUseTool, _parentMessage, onProgress) {
      // The gate let it through, so whoever was asked has seen this definition.
      source.approve(definition);
      const result = await source.call({
        toolName: definition.name,
        arguments: input,
        inputSchema: definition.inputSchema,
        signal: context.signal,
        isRepeatable: isReadOnly || hints.idempotentHint === true,
        onProgress: (progress) => onProgress?.({ data: toProgress(progress, limits.progressChars) }),
      });
      return { data: toOutput(result, limits) };
    },

    mapToolResultToToolResultBlockParam: ({ content }: McpOutput, toolUseId) => ({
      type: 'tool_result',
      tool_use_id: toolUseId,
      content: isOneText(content) ? content[0].text : content,
    }),
    ...resultSize(definition, limits),
    ...mcpRendering(title),
  });
}

function askAgain(name: string, server: string): PermissionResult {
  const message = `The MCP server "${server}" has changed what "${name}" says about itself since it was last allowed`;
  // No rule that was made for the earlier definition may answer for this one.
  return { behavior: 'ask', message, isSafetyCheck: true };
}

/** A tool may raise its own limit, and is then outside the turn's sum; it cannot lower it. */
function resultSize(
  { _meta: meta }: McpToolDefinition,
  limits: Pick<Limits, 'resultChars' | 'mcpResultChars'>,
): Pick<Tool, 'maxResultSizeChars' | 'isOutsideTurnBudget'> {
  const asked = meta?.[RESULT_CHARS_KEY];
  if (asked === undefined || asked <= limits.resultChars) return { maxResultSizeChars: DEFAULT_RESULT_CHARS };
  return { maxResultSizeChars: Math.min(Math.floor(asked), limits.mcpResultChars), isOutsideTurnBudget: true };
}

function toProgress({ progress, total, message }: SentProgress, maxChars: number): McpProgress {
  return {
    type: 'mcp',
    progress,
    ...(total === undefined ? {} : { total }),
    ...(message === undefined ? {} : { message: visibleText(message, maxChars) }),
  };
}

function isOneText(content: McpOutput['content']): content is readonly [TextBlock] {
  return content.length === 1 && content[0]?.type === 'text';
}

/**
 * The schema as sent, but for hidden characters in its words, and for what the model APIs refuse at the
 * top: another type than an object, alternatives. The server's own schema judges the input all the same.
 */
function shownSchema(schema: JsonObject, maxChars: number): JsonObject {
  const { anyOf: _any, oneOf: _one, allOf: _all, ...shown } = visibleWords(schema, maxChars) as JsonObject;
  return { type: 'object', ...shown };
}

function visibleWords(value: JsonValue, maxChars: number): JsonValue {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item: JsonValue) => visibleWords(item, maxChars));
  return Object.fromEntries(
    Object.entries(value as JsonObject).map(([key, inner]) => [
      key,
      WORDS.has(key) && typeof inner === 'string' ? visibleText(inner, maxChars) : visibleWords(inner, maxChars),
    ]),
  );
}

/**
 * Name a tool so that it depends on its own pair only, and so that no two pairs share a name.
 *
 * Where the plain name would be ambiguous, altered or too long, it is cut and a digest of the pair
 * is appended.
 *
 * @param server Name of the server, as configured.
 * @param tool Name of the tool, as the server sent it.
 * @returns At most 64 characters of `[A-Za-z0-9_-]`.
 */
export function mcpToolName(server: string, tool: string): string {
  const written = `mcp__${server}__${tool}`;
  const name = written.replace(/[^A-Za-z0-9_-]/g, '_');
  const isAmbiguous = server.includes('__') || server.endsWith('_') || tool.startsWith('_');
  if (name === written && !isAmbiguous && name.length <= NAME_CHARS) return name;

  const digest = createHash('sha256')
    .update(`${server}\0${tool}`)
    .digest('hex')
    .slice(0, SUFFIX_CHARS - 1);
  return `${name.slice(0, NAME_CHARS - SUFFIX_CHARS)}_${digest}`;
}
