/**
 * A tool's schemas as JSON Schema; that of its input is made once a tool.
 */
import { z } from 'zod';
import type { JsonObject } from '../base/json.ts';
import type { Tool } from '../tool/tool.ts';

const schemas = new WeakMap<Tool, JsonObject>();

/**
 * The JSON Schema a model is given: the server's own for MCP tools, else made from Zod.
 *
 * @throws {Error} If the Zod schema holds what JSON Schema cannot say (a date, a map).
 */
export function toolInputSchema(tool: Tool): JsonObject {
  const known = schemas.get(tool);
  if (known !== undefined) return known;
  const { $schema: _dialect, ...schema } = tool.inputJSONSchema ?? fromZod(tool);
  schemas.set(tool, schema);
  return schema;
}

/** Converts a tool's output schema to JSON Schema. Parts that JSON Schema cannot express become `{}`. */
export function toolOutputSchema(schema: z.ZodType): JsonObject {
  return z.toJSONSchema(schema, { io: 'output', unrepresentable: 'any' }) as JsonObject;
}

/** Side `input`: on side `output` a field with a default would be required. */
function fromZod(tool: Tool): JsonObject {
  return z.toJSONSchema(tool.inputSchema, { io: 'input' }) as JsonObject;
}
