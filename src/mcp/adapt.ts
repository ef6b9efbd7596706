/**
 * Adapts a tool of an MCP server to `Tool`: hidden characters become visible, and annotations become gates.
 *
 * The general permission rules decide whatever a server claims; a missing annotation counts as false.
 */
import type { CallToolResult } from '@modelcontextprotocol/client';
import type { Limits } from '../../config/limits.ts';
import type { JsonObject, JsonValue } from '../base/json.ts';
import { buildTool } from '../tool/build-tool.ts';
import {
  type CallPreview,
  MAX_PROGRESS_CHARS,
  type McpDefinition,
  type Tool,
  type ToolUseContext,
} from '../tool/tool.ts';
import type { TextBlock } from '../wire/blocks.ts';
import type { PermissionResult } from '../wire/decision.ts';
import type { Display } from '../wire/display.ts';
import { type McpOutput, toOutput } from './call-result.ts';
import { drawChangedDefinition } from './changed-definition.ts';
import { jsonSchemaInput } from './json-schema-input.ts';
import { type McpProgress, mcpRendering } from './render.ts';
import { type McpToolDefinition, RESULT_CHARS_KEY, SEARCH_HINT_KEY } from './tool-definition.ts';
import { mcpToolName } from './tool-name.ts';
import { visibleLine, visibleText } from './visible-text.ts';

/** Limit of a result, in characters, for tools that declare none. */
const DEFAULT_RESULT_CHARS = 100_000;

/** Results that a tool may ask for in its `_meta`; some 125,000 tokens. */
const MAX_RAISED_RESULT_CHARS = 500_000;

/** Characters of a tool's description that a model reads. */
const MAX_DESCRIPTION_CHARS = 8 * 1_024;

const TITLE_CHARS = 100;

const SEARCH_HINT_CHARS = 200;

/** Schema keywords whose values are text for a reader. */
const TEXT_KEYWORDS = new Set(['description', 'title']);

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
  /** Tells if the tool may or must be called as a task. */
  readonly execution?: McpToolDefinition['execution'];
  /** The call of the session that it serves. */
  readonly context: ToolUseContext;
  /** True if it may be sent twice: it only reads, or declares itself idempotent. */
  readonly isRepeatable: boolean;
  readonly onProgress: (progress: SentProgress) => void;
}

/** Connection and policies of the server that a tool comes from. */
export interface ToolSource {
  /** Name of the server, as configured. */
  readonly server: string;
  /** True if the tool is never deferred. */
  readonly isAlwaysLoaded: (definition: McpToolDefinition) => boolean;
  readonly limits: Pick<Limits, 'resultChars'>;
  /** @throws {GauntletError} `cancelled`, `timeout` or `tool_failed`. */
  readonly call: (call: McpToolCall) => Promise<CallToolResult>;
  /** True if a person approved an earlier definition of this tool but not this one. */
  readonly isChanged: (definition: McpToolDefinition) => boolean;
  /** Return the definition that was approved, as `approvedText` wrote it; undefined if it was not kept. */
  readonly pinnedText: (definition: McpToolDefinition) => string | undefined;
  /** Record that the gate allowed this definition: it becomes the approved one. */
  readonly approve: (definition: McpToolDefinition) => void;
}

/** Build the tool. Has no effects; its calls go through `source`. */
export function adaptTool(definition: McpToolDefinition, source: ToolSource): Tool {
  const { server, limits } = source;
  const { title: hintedTitle, ...hints } = definition.annotations ?? {};
  const name = mcpToolName(server, definition.name);
  const title = visibleLine(hintedTitle ?? definition.title ?? `${server} - ${definition.name} (MCP)`, TITLE_CHARS);
  const words = visibleText(definition.description ?? definition.title ?? definition.name, MAX_DESCRIPTION_CHARS);
  const isReadOnly = hints.readOnlyHint === true;

  const rendering = mcpRendering(title);

  return buildTool({
    name,
    origin: { type: 'mcp', name: server },
    ...(source.isAlwaysLoaded(definition) ? { alwaysLoad: true } : { shouldDefer: true }),
    userFacingName: () => title,
    prompt: () => words,
    description: () => `Use "${visibleLine(definition.name, TITLE_CHARS)}" of the MCP server "${server}"`,
    inputSchema: jsonSchemaInput(definition.inputSchema),
    inputJSONSchema: schemaForModel(definition.inputSchema, MAX_DESCRIPTION_CHARS),
    mcpHints: hints,
    mcpDefinition: passedOn(definition),
    ...searchHintOf(definition),

    isReadOnly: () => isReadOnly,
    isConcurrencySafe: () => isReadOnly,
    isDestructive: () => hints.destructiveHint === true && !isReadOnly,
    warnings: () => (hints.openWorldHint === true ? [`According to "${server}", this reaches external systems`] : []),
    suggestRules: () => [name],
    checkPermissions: () => (source.isChanged(definition) ? requireNewApproval(name, server) : { behavior: 'allow' }),

    async call(input, context, _canUseTool, _parentMessage, onProgress) {
      // The gate allowed the call, so the person who was asked has seen this definition.
      source.approve(definition);
      const result = await source.call({
        toolName: definition.name,
        arguments: input,
        inputSchema: definition.inputSchema,
        execution: definition.execution,
        context,
        isRepeatable: isReadOnly || hints.idempotentHint === true,
        onProgress: (progress) => onProgress?.({ data: toProgress(progress, MAX_PROGRESS_CHARS) }),
      });
      const { whole, ...data } = toOutput(result, limits);
      return { data, ...(whole && { mcpResult: whole }) };
    },

    mapToolResultToToolResultBlockParam: ({ content, isError }: McpOutput, toolUseId) => ({
      type: 'tool_result',
      tool_use_id: toolUseId,
      content: isOneText(content) ? content[0].text : content,
      ...(isError && { is_error: true }),
    }),
    ...resultSize(definition, limits),
    ...rendering,
    preview: (input) =>
      Promise.resolve(
        source.isChanged(definition)
          ? previewChange(definition, source.pinnedText(definition), rendering.renderToolUseMessage(input))
          : undefined,
      ),
  });
}

function searchHintOf({ _meta: meta }: McpToolDefinition): Pick<Tool, 'searchHint'> {
  const hint = meta?.[SEARCH_HINT_KEY];
  return typeof hint === 'string' && hint.trim() !== '' ? { searchHint: visibleLine(hint, SEARCH_HINT_CHARS) } : {};
}

/** Return the members that clients of the format `mcp` get as the server sent them, without hidden characters. */
function passedOn({ title, inputSchema, outputSchema, icons, _meta }: McpToolDefinition): McpDefinition {
  const clean = (value: JsonObject) => makeTextVisible(value, MAX_DESCRIPTION_CHARS) as JsonObject;
  return {
    ...(title !== undefined && { title: visibleLine(title, TITLE_CHARS) }),
    inputSchema: { type: 'object', ...clean(inputSchema) },
    ...(outputSchema && { outputSchema: clean(outputSchema) }),
    ...(icons && { icons }),
    ...(_meta && { _meta }),
  };
}

/** Show a person what changed in the definition, beside the call. */
function previewChange(definition: McpToolDefinition, earlier: string | undefined, intent: Display): CallPreview {
  const display: Display = {
    ...intent,
    tone: 'warning',
    blocks: [...intent.blocks, ...drawChangedDefinition(definition, earlier)],
  };
  // Another definition approved meanwhile makes another diff, which is asked about again.
  return { display, key: JSON.stringify(display.blocks), fields: {} };
}

function requireNewApproval(name: string, server: string): PermissionResult {
  const message = `The MCP server "${server}" has changed the definition of "${name}" since it was last allowed`;
  // A rule made for the earlier definition must not allow this one.
  return { behavior: 'ask', message, isSafetyCheck: true };
}

/** A tool may raise its result limit, and is then outside the turn's budget; it cannot lower it. */
function resultSize(
  { _meta: meta }: McpToolDefinition,
  limits: Pick<Limits, 'resultChars'>,
): Pick<Tool, 'maxResultSizeChars' | 'isOutsideTurnBudget'> {
  const requestedChars = meta?.[RESULT_CHARS_KEY];
  if (typeof requestedChars !== 'number' || requestedChars <= limits.resultChars)
    return { maxResultSizeChars: DEFAULT_RESULT_CHARS };
  return {
    maxResultSizeChars: Math.min(Math.floor(requestedChars), MAX_RAISED_RESULT_CHARS),
    isOutsideTurnBudget: true,
  };
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
 * Copy the schema for the model: without hidden characters in its descriptions, and without what the model APIs reject
 * at the top level, alternatives and types other than object. Inputs are still validated against the server's own
 * schema.
 */
function schemaForModel(schema: JsonObject, maxChars: number): JsonObject {
  const { anyOf: _any, oneOf: _one, allOf: _all, ...rest } = makeTextVisible(schema, maxChars) as JsonObject;
  return { type: 'object', ...rest };
}

function makeTextVisible(value: JsonValue, maxChars: number): JsonValue {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item: JsonValue) => makeTextVisible(item, maxChars));
  return Object.fromEntries(
    Object.entries(value as JsonObject).map(([key, inner]) => [
      key,
      TEXT_KEYWORDS.has(key) && typeof inner === 'string'
        ? visibleText(inner, maxChars)
        : makeTextVisible(inner, maxChars),
    ]),
  );
}
