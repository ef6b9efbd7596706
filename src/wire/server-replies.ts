/**
 * Replies about the server: its tools, how it is, and what went wrong.
 */
import * as z from 'zod';
import { REQUEST_ERROR_CODES } from '../base/errors.ts';
import { Count, JsonRecord, Texts } from './values.ts';
import type { Wire } from './wire-type.ts';

const True = z.literal(true).optional();
const Deferred = True.describe('The schema is left out; ToolSearch gives it');

/** A tool's whole definition, as the Messages API takes it. */
export type ToolDefinition = Wire<typeof ToolDefinition>;
export const ToolDefinition = z.object({
  name: z.string(),
  description: z.string(),
  input_schema: JsonRecord.describe('JSON Schema'),
  strict: True,
});

/** A tool as the Messages API takes it. */
const AnthropicTool = ToolDefinition.extend({
  input_schema: ToolDefinition.shape.input_schema.optional(),
  defer_loading: Deferred,
});

const Called = z.object({ name: z.string(), description: z.string(), parameters: JsonRecord.optional() });

/** A tool as OpenAI Chat Completions takes it. */
const ChatTool = z.object({ type: z.literal('function'), function: Called.extend({ strict: True }) });

/** A tool as OpenAI Responses takes it. */
const ResponsesTool = Called.extend({
  type: z.literal('function'),
  strict: z.boolean(),
  defer_loading: Deferred,
});

/** A tool as Gemini takes it. */
const GeminiTool = z.object({ name: z.string(), description: z.string(), parameters: JsonRecord.optional() });

const Hints = z.object({
  readOnlyHint: z.boolean(),
  destructiveHint: z.boolean(),
  idempotentHint: z.boolean(),
  openWorldHint: z.boolean(),
});

/** A tool as MCP lists it. */
const McpTool = z.object({
  name: z.string(),
  description: z.string(),
  inputSchema: JsonRecord,
  outputSchema: JsonRecord.optional(),
  annotations: Hints,
});

/** The facts about a tool beside its definition. */
export type ToolFacts = Wire<typeof ToolFacts>;
const ToolFacts = z.object({
  source: z.enum(['built_in', 'mcp', 'plugin']),
  server: z.string().optional().describe('The MCP server or plugin that it comes from'),
  aliases: Texts,
  user_facing_name: z.string().describe('Its name for people'),
  output_schema: JsonRecord.optional(),
  annotations: Hints,
  max_result_size_chars: z.number().nullable().describe('Longer results are spilled; null: the tool limits itself'),
  search_hint: z.string().optional(),
  state: z.string().describe('`enabled`, or why the tool is hidden'),
});

/** A tool in full. */
export const FullTool = ToolDefinition.extend({ defer_loading: Deferred, ...ToolFacts.shape });

/** A tool in the shape that `format` asks for; with `schemas=none` its name alone. */
export type ToolEntry = Wire<typeof ToolEntry>;
export const ToolEntry = z.union([
  AnthropicTool,
  ChatTool,
  ResponsesTool,
  GeminiTool,
  McpTool,
  FullTool,
  z.object({ name: z.string() }),
]);

/** The tool list. */
export const Tools = z.object({
  tools: z.array(ToolEntry).describe('In the shape that `format` names'),
  built_in_count: Count,
  mcp_count: Count.describe('Tools of MCP servers and plugins'),
  session_count: Count.optional().describe('Tools of this session alone'),
  deferred_count: Count,
  prefix_sha256: z.string().describe('Digest of the built-in part of the whole list'),
  preamble: z
    .string()
    .optional()
    .describe('Words for the model: what MCP servers say of their use, and the skills that they offer'),
  left_out: z
    .array(z.object({ name: z.string(), reason: z.string() }))
    .optional()
    .describe('Tools that are missing in `tools`, by `names`, `max`, or because the provider would refuse them'),
});

/** The server is alive. */
export const Health = z.object({ status: z.literal('ok'), version: z.string() });

/** Containment of reading commands on this machine. */
export type ContainmentState = Wire<typeof ContainmentState>;
const ContainmentState = z.object({
  scope: z.enum(['off', 'reads', 'all']).describe('The setting `containment.scope`'),
  reading: z
    .enum(['jail', 'words', 'asked'])
    .describe('What holds commands that only read; `asked`: nothing does, so a person is asked about each'),
  missing: z.string().optional().describe('Why there is no jail, as a clause'),
});

/** Readiness of the server. */
export type Readiness = Wire<typeof Readiness>['status'];
export const Readiness = z.object({
  status: z.enum(['starting', 'ready', 'draining']),
  mcp_missing: z
    .array(z.object({ name: z.string(), state: z.string(), reason: z.string().optional() }))
    .optional()
    .describe('MCP servers of `?mcp` that are not connected'),
  uptime_ms: Count.optional().describe('With `?verbose`'),
  containment: ContainmentState.optional().describe('With `?verbose`'),
});

/** Error of a request. */
export type WireError = Wire<typeof WireError>;
export const WireError = z.object({
  code: z.enum(REQUEST_ERROR_CODES),
  message: z.string().describe('What could not be done, and what to do next'),
  details: z
    .record(z.string(), z.unknown())
    .optional()
    .describe('More about the error; `reason` says more precisely which one it is'),
});

/** The body of a reply that is an error. */
export const ErrorReply = z.object({ error: WireError, request_id: z.string().describe('Names the request in logs') });
