/**
 * A form from a JSON Schema: fields for what a person can fill in, JSON for the rest, and the errors of an input.
 */
import type { JsonSchema } from './wire.ts';

/** Input element of a field. */
export type FieldKind = 'text' | 'long' | 'number' | 'boolean' | 'choice' | 'texts' | 'json';

/** One field of a form. */
export interface SchemaField {
  readonly name: string;
  readonly kind: FieldKind;
  readonly isRequired: boolean;
  readonly schema: JsonSchema;
  readonly description?: string;
  readonly choices?: readonly string[];
}

/** A fault of an input; `path` names the field, `''` the whole. */
export interface InputIssue {
  readonly path: string;
  readonly message: string;
}

/** Names of fields that hold whole texts rather than words. */
const LONG_TEXT = /content|text|command|code|prompt|message|body|script|plan|old_string|new_string|query/i;
/** Issues that are told at once. */
const MAX_ISSUES = 20;
const MAX_DEPTH = 16;

/** List the fields of a schema, the required ones first. */
export function fieldsOf(schema: JsonSchema | undefined): SchemaField[] {
  const fields = Object.entries(schema?.properties ?? {}).map(([name, property]) => fieldOf(name, property, schema));
  return [...fields.filter(({ isRequired }) => isRequired), ...fields.filter(({ isRequired }) => !isRequired)];
}

function fieldOf(name: string, given: JsonSchema, parent: JsonSchema | undefined): SchemaField {
  const schema = withoutNull(given);
  const choices = choicesOf(schema);
  const description = given.description ?? schema.description;
  return {
    ...{ name, schema: given, isRequired: parent?.required?.includes(name) === true },
    kind: choices ? 'choice' : kindOf(name, schema),
    ...(description !== undefined && { description }),
    ...(choices && { choices }),
  };
}

function kindOf(name: string, { type, items }: JsonSchema): FieldKind {
  if (type === 'string') return LONG_TEXT.test(name) ? 'long' : 'text';
  if (type === 'integer' || type === 'number') return 'number';
  if (type === 'boolean') return 'boolean';
  if (type === 'array' && items?.type === 'string' && !items.enum) return 'texts';
  return 'json';
}

/** The choices of a field, where all of them are texts. */
function choicesOf(schema: JsonSchema): readonly string[] | undefined {
  const options = schema.enum ?? (schema.anyOf ?? schema.oneOf)?.map((option) => option.const);
  return options?.every((option) => typeof option === 'string') ? options : undefined;
}

/** A type that may be null is its other type: an empty field is absent. */
function withoutNull(schema: JsonSchema): JsonSchema {
  const { type } = schema;
  if (Array.isArray(type)) {
    const rest = type.filter((each) => each !== 'null');
    return rest.length === 1 ? { ...schema, type: rest[0] } : schema;
  }
  const options = (schema.anyOf ?? schema.oneOf)?.filter((option) => option.type !== 'null');
  return options?.length === 1 && options[0] ? { ...options[0], ...pickWords(schema) } : schema;
}

function pickWords({ description }: JsonSchema): JsonSchema {
  return description === undefined ? {} : { description };
}

/** Write a value as a field shows it. */
export function textOfValue(value: unknown, kind: FieldKind): string {
  if (value === undefined) return '';
  if (kind === 'texts' && Array.isArray(value)) return value.join('\n');
  return typeof value === 'string' && kind !== 'json' ? value : JSON.stringify(value, null, 2);
}

/**
 * Read what a person typed into a field.
 *
 * @returns `undefined`: the field is absent.
 * @throws {SyntaxError} The text of a JSON field is none.
 */
export function valueOfText(text: string, { kind, isRequired }: SchemaField): unknown {
  if (text === '') return isRequired && (kind === 'text' || kind === 'long') ? '' : undefined;
  if (kind === 'number') return Number.isNaN(Number(text)) ? text : Number(text);
  if (kind === 'boolean') return text === 'true';
  if (kind === 'texts') return text.split('\n').filter((line) => line !== '');
  return kind === 'json' ? JSON.parse(text) : text;
}

/** List what is wrong with an input. What this does not know, the server checks. */
export function issuesOf(value: unknown, schema: JsonSchema | undefined): InputIssue[] {
  const issues: InputIssue[] = [];
  if (schema) check(value, schema, '', issues, 0);
  return issues.slice(0, MAX_ISSUES);
}

function check(value: unknown, schema: JsonSchema, path: string, issues: InputIssue[], depth: number): void {
  if (depth > MAX_DEPTH || issues.length >= MAX_ISSUES) return;
  const options = schema.anyOf ?? schema.oneOf;
  if (options) {
    const fits = options.some((option) => {
      const found: InputIssue[] = [];
      check(value, option, path, found, depth + 1);
      return found.length === 0;
    });
    if (!fits) issues.push({ path, message: 'fits none of the possible forms' });
    return;
  }
  const message = problemOf(value, schema);
  if (message !== undefined) issues.push({ path, message });
  else if (Array.isArray(value) && schema.items) {
    value.forEach((item, index) => check(item, schema.items ?? {}, `${path}[${index}]`, issues, depth + 1));
  } else if (isRecord(value)) checkRecord(value, schema, path, issues, depth);
}

function checkRecord(
  value: Record<string, unknown>,
  { properties = {}, required = [], additionalProperties }: JsonSchema,
  path: string,
  issues: InputIssue[],
  depth: number,
): void {
  const below = (name: string) => (path === '' ? name : `${path}.${name}`);
  for (const name of required)
    if (!Object.hasOwn(value, name)) issues.push({ path: below(name), message: 'is required' });
  for (const [name, item] of Object.entries(value)) {
    const schema = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (schema) check(item, schema, below(name), issues, depth + 1);
    else if (additionalProperties === false) issues.push({ path: below(name), message: 'is not a field of this tool' });
  }
}

/** Describe the fault of a value itself. */
function problemOf(value: unknown, schema: JsonSchema): string | undefined {
  const types = schema.type === undefined ? [] : [schema.type].flat();
  if (types.length > 0 && !types.some((type) => isOfType(value, type))) return `must be ${types.join(' or ')}`;
  if (schema.const !== undefined && value !== schema.const) return `must be ${JSON.stringify(schema.const)}`;
  if (schema.enum && !schema.enum.includes(value)) return `must be one of ${schema.enum.map(String).join(', ')}`;
  if (typeof value === 'string') return problemOfText(value, schema);
  if (typeof value === 'number') {
    if (value < (schema.minimum ?? -Infinity)) return `must be ${schema.minimum} or more`;
    if (value > (schema.maximum ?? Infinity)) return `must be ${schema.maximum} or less`;
  }
  if (Array.isArray(value)) {
    if (value.length < (schema.minItems ?? 0)) return `needs ${schema.minItems} or more`;
    if (value.length > (schema.maxItems ?? Infinity)) return `takes ${schema.maxItems} at most`;
  }
  return undefined;
}

function problemOfText(value: string, { minLength = 0, maxLength = Infinity }: JsonSchema): string | undefined {
  if (value.length < minLength) return minLength === 1 ? 'must not be empty' : `needs ${minLength} characters or more`;
  // A pattern may come from an MCP server, and could hold up the page: the server checks it.
  return value.length > maxLength ? `takes ${maxLength} characters at most` : undefined;
}

function isOfType(value: unknown, type: string): boolean {
  if (type === 'integer') return Number.isInteger(value);
  if (type === 'array') return Array.isArray(value);
  if (type === 'null') return value === null;
  if (type === 'object') return isRecord(value);
  return typeof value === type;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
