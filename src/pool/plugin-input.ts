/**
 * A plugin's input schema, written with whichever Zod the plugin has, as the input of a tool.
 */
import { z } from 'zod';
import { zodToJsonSchema } from 'zod-to-json-schema';
import type { ZodTypeAny } from 'zod/v3';
import type { JsonObject } from '../base/json.ts';
import { errorMessage } from '../base/errors.ts';
import type { AnyObject, Tool } from '../tool/tool.ts';

/**
 * Take a Zod 4 schema as it is; wrap a Zod 3 schema, which then judges by itself.
 *
 * @throws {Error} When it is neither, when JSON Schema cannot say what it says (a date, a bigint, a map),
 *   or when its input is no object.
 */
export function pluginInput(schema: object): Pick<Tool, 'inputSchema' | 'inputJSONSchema'> {
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

/** Zod 3 says what it is in `_def`, Zod 4 in `_zod`. */
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
