/**
 * A tool's input schema as JSON Schema, made once a tool.
 */
import { z } from 'zod';
import type { JsonObject } from '../contract/blocks.ts';
import type { Tool } from '../contract/tool.ts';

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

/** Side `input`: on side `output` a field with a default would be required. */
function fromZod(tool: Tool): JsonObject {
  return z.toJSONSchema(tool.inputSchema, { io: 'input' }) as JsonObject;
}
