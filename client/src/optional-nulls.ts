/**
 * Drops `null` where a model meant "not given": strict modes make it send every optional field.
 */

/** A JSON Schema, as far as this file reads it. */
interface Schema {
  readonly type?: unknown;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
}

/** True if a `null` stands anywhere in a value. */
export function hasNull(value: unknown): boolean {
  if (value === null) return true;
  return typeof value === 'object' && Object.values(value).some(hasNull);
}

/** Return the value without the fields that are `null`, optional, and may not be `null` by the schema. */
export function withoutOptionalNulls(value: unknown, schema: Schema | undefined): unknown {
  if (schema === undefined || typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => withoutOptionalNulls(item, schema.items));
  const { properties = {}, required = [] } = schema;
  const kept = Object.entries(value).filter(([key, field]) => {
    const property = properties[key];
    return field !== null || property === undefined || required.includes(key) || takesNull(property);
  });
  return Object.fromEntries(kept.map(([key, field]) => [key, withoutOptionalNulls(field, properties[key])]));
}

function takesNull(schema: Schema): boolean {
  const { type, anyOf, oneOf } = schema;
  if (type === 'null' || (Array.isArray(type) && type.includes('null'))) return true;
  if (schema.enum?.includes(null)) return true;
  const choices = anyOf ?? oneOf;
  if (choices !== undefined) return choices.some(takesNull);
  // Without any of these, everything is valid.
  return type === undefined && schema.enum === undefined && schema.properties === undefined;
}
