/**
 * StructuredOutput: the result of a task as data, typed by the JSON Schema that the session was created with.
 *
 * The built-in of this name is never enabled; it exists so that lists explain how to enable it. The session's own tool
 * replaces it.
 */
import * as z from 'zod';
import type { ToolResultBlock } from '../../src/wire/blocks.ts';
import type { JsonObject } from '../../src/base/json.ts';
import { buildTool } from '../../src/tool/build-tool.ts';
import type { Display } from '../../src/wire/display.ts';
import type { AnyObject, Tool } from '../../src/tool/tool.ts';
import { jsonSchemaInput, schemaProblem } from '../../src/mcp/json-schema-input.ts';

const PROMPT = `Hands over the result of the task as data, for the program that asked for it.

Call it once, at the end, when every field is known: the input is the result, and its fields are described in the schema. Do not repeat the data in text. If the answer names a field that does not fit, correct that field and call it again.`;

const SHARED = {
  name: 'StructuredOutput',
  aliases: ['SyntheticOutput'],
  searchHint: 'hand over the result as typed data',
  alwaysLoad: true,
  isReadOnly: () => true,
  touchesOnlySession: () => true,
  maxResultSizeChars: 100_000,
  prompt: () => PROMPT,
  description: () => 'Hand over the result',
  call: (data: Record<string, unknown>) => Promise.resolve({ data }),
  mapToolResultToToolResultBlockParam: (_output: unknown, toolUseId: string): ToolResultBlock => ({
    type: 'tool_result',
    tool_use_id: toolUseId,
    content: 'The result fits its schema and was returned.',
  }),
  getActivityDescription: () => 'Handing over the result',
  renderToolUseMessage: (input: Partial<Record<string, unknown>>): Display => drawn('Result', input),
  renderToolResultMessage: (output: unknown): Display => ({ ...drawn('Result', output), tone: 'success' }),
  renderToolUseErrorMessage: (message: string): Display => failure('The result does not fit', message),
  renderToolUseRejectedMessage: (_input: unknown, message: string): Display => failure('Not returned', message),
} as const;

/** Create the built-in placeholder for lists. */
export function structuredOutputTool() {
  return buildTool({
    ...SHARED,
    inputSchema: z.looseObject({}) as AnyObject,
    isEnabled: () => false,
    disabledReason: () => 'the session has no schema for its result: begin it with "output_schema"',
  });
}

/** Create the tool of a session. @param schema Accepted by `outputSchemaProblem`. */
export function structuredOutputFor(schema: JsonObject): Tool {
  const { $schema: _dialect, ...inputJSONSchema } = schema;
  return buildTool({ ...SHARED, inputSchema: jsonSchemaInput(schema), inputJSONSchema }) as Tool;
}

/** Explain why a JSON Schema cannot be used for a result, or return undefined. */
export function outputSchemaProblem(schema: JsonObject): string | undefined {
  if (schema['type'] !== 'object') return 'expected the schema of an object: "type" must be "object"';
  const combinator = ['oneOf', 'anyOf', 'allOf'].find((keyword) => keyword in schema);
  if (combinator !== undefined) return `model providers take no "${combinator}" at the top of a schema`;
  return schemaProblem(schema);
}

function drawn(title: string, value: unknown): Display {
  return { title, blocks: [{ kind: 'code', language: 'json', text: JSON.stringify(value, undefined, 2) }] };
}

function failure(title: string, message: string): Display {
  return { title, tone: 'danger', blocks: [{ kind: 'text', text: message }] };
}
