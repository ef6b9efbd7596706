/**
 * Rewrites a tool's JSON Schema into the part of it that a provider accepts. What a provider cannot express is left out:
 * the server checks each input against the tool's own schema all the same.
 */
import type { JsonObject, JsonValue } from '../base/json.ts';

/** A schema with its references replaced, and the definitions that these name. */
type Node = Readonly<Record<string, JsonValue>>;

/** Levels of one schema, references followed; a recursive one ends here. */
const MAX_LEVELS = 10;

/** Schemas inside one schema, references followed: each use of a definition is a copy of it. */
const MAX_NODES = 5_000;

const TYPES = new Set(['string', 'number', 'integer', 'boolean', 'object', 'array', 'null']);

const COMBINATORS = ['allOf', 'anyOf', 'oneOf'] as const;

/** Keywords that OpenAI takes in strict schemas, besides those that `strictNode` writes itself. */
const STRICT_KEYWORDS = [
  ...['type', 'description', 'enum', 'const', 'pattern', 'multipleOf', 'minimum', 'maximum'],
  ...['exclusiveMinimum', 'exclusiveMaximum', 'minItems', 'maxItems'],
];

const STRICT_FORMATS = new Set(['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'ipv4', 'ipv6', 'uuid']);

const GEMINI_KEYWORDS = ['title', 'description', 'minItems', 'maxItems', 'minimum', 'maximum', 'pattern'];

/** Formats that Gemini knows, by type. */
const GEMINI_FORMATS: Readonly<Record<string, readonly string[]>> = {
  string: ['date-time'],
  number: ['float', 'double'],
  integer: ['int32', 'int64'],
};

/** A schema that cannot be offered to a model, with the reason. */
export class UnusableSchema extends Error {}

/**
 * Return the schema of an input as Anthropic and OpenAI take it: an object without combinators at the top, its lists with
 * items.
 *
 * @throws {UnusableSchema} For what is no JSON Schema of an object.
 */
export function plainSchema(schema: JsonObject): JsonObject {
  checkSchema(schema, schema);
  const isRefused = [...COMBINATORS, 'not', 'enum', '$ref'].some((keyword) => schema[keyword] !== undefined);
  const flat = isRefused ? mergedTop(withoutPlaces(schema)) : schema;
  if (flat['type'] !== 'object' || Array.isArray(flat['type'])) return withItems({ ...flat, ...OBJECT });
  return withItems(flat);
}

const OBJECT = { type: 'object' } as const;

/** Write out references to places, as `#/anyOf/0/properties/a`, which a merge would take away. */
function withoutPlaces(schema: JsonObject): JsonObject {
  const isPlace = (node: JsonValue): boolean => {
    if (typeof node !== 'object' || node === null) return false;
    const reference = isNode(node) ? node['$ref'] : undefined;
    if (typeof reference === 'string' && !/^#(?:$|\/(?:\$defs|definitions)\/)/.test(reference)) return true;
    return Object.values(node).some(isPlace);
  };
  return isPlace(schema) ? expanded(schema, ANY_OBJECT) : schema;
}

/** Return the strict variant for OpenAI; `undefined` if the schema has parts that strict schemas cannot express. */
export function strictSchema(schema: JsonObject): JsonObject | undefined {
  try {
    return strictNode(expanded(plainSchema(schema)), 0);
  } catch (error) {
    if (error instanceof NotStrict || error instanceof Recursive) return undefined;
    throw error;
  }
}

/** Return the schema in Gemini's subset; `undefined` for an input without fields, which Gemini takes no schema for. */
export function geminiSchema(schema: JsonObject): JsonObject | undefined {
  const whole = expanded(plainSchema(schema), ANY_OBJECT);
  return isEmpty(propertiesOf(whole)) ? undefined : geminiNode(whole);
}

class NotStrict extends Error {}

class Recursive extends Error {}

/** Stands for what is too deep to write out. */
const ANY_OBJECT: Node = { type: 'object' };

/** Check the keywords that readers of a schema rely on. @throws {UnusableSchema} */
function checkSchema(schema: JsonValue, root: JsonObject, path = ''): void {
  if (typeof schema === 'boolean') return;
  if (!isNode(schema)) throw unusable(path, 'a schema is an object');
  const { type, required, pattern, $ref: reference } = schema;
  const types = type === undefined ? [] : [type].flat();
  if (!types.every((each) => typeof each === 'string' && TYPES.has(each)))
    throw unusable(`${path}/type`, 'no such type');
  const isList =
    required === undefined || (Array.isArray(required) && required.every((each) => typeof each === 'string'));
  if (!isList) throw unusable(`${path}/required`, 'expected a list of names');
  if (schema['enum'] !== undefined && !Array.isArray(schema['enum'])) throw unusable(`${path}/enum`, 'expected a list');
  if (pattern !== undefined && !isPattern(pattern)) throw unusable(`${path}/pattern`, 'no regular expression');
  if (reference !== undefined && resolveReference(reference, root) === undefined)
    throw unusable(`${path}/$ref`, `leads nowhere: ${JSON.stringify(reference)}`);
  for (const keyword of ['properties', '$defs', 'definitions', 'patternProperties']) {
    const members = schema[keyword];
    if (members === undefined) continue;
    if (!isNode(members)) throw unusable(`${path}/${keyword}`, 'expected an object');
    for (const [name, member] of Object.entries(members)) checkSchema(member, root, `${path}/${keyword}/${name}`);
  }
  for (const keyword of COMBINATORS) {
    const branches = schema[keyword];
    if (branches === undefined) continue;
    if (!Array.isArray(branches)) throw unusable(`${path}/${keyword}`, 'expected a list');
    branches.forEach((branch: JsonValue, place) => checkSchema(branch, root, `${path}/${keyword}/${place}`));
  }
  for (const keyword of ['items', 'additionalProperties', 'not'])
    if (schema[keyword] !== undefined && !Array.isArray(schema[keyword]))
      checkSchema(schema[keyword], root, `${path}/${keyword}`);
}

function unusable(path: string, problem: string): UnusableSchema {
  return new UnusableSchema(`its schema cannot be used: ${path === '' ? 'the whole' : `"${path}"`}: ${problem}`);
}

function isPattern(pattern: JsonValue): boolean {
  if (typeof pattern !== 'string') return false;
  try {
    new RegExp(pattern, 'u');
    return true;
  } catch {
    // Many patterns are written for the older syntax.
    return isOldPattern(pattern);
  }
}

function isOldPattern(pattern: string): boolean {
  try {
    new RegExp(pattern);
    return true;
  } catch {
    // It is a pattern in neither syntax: the caller says so.
    return false;
  }
}

function resolveReference(reference: JsonValue, root: JsonObject): JsonValue | undefined {
  if (typeof reference !== 'string' || !reference.startsWith('#')) return undefined;
  const keys = decoded(reference.slice(1)).split('/').slice(1);
  return keys.reduce<JsonValue | undefined>((node, key) => {
    const name = key.replaceAll('~1', '/').replaceAll('~0', '~');
    const holder = node as Readonly<Record<string, JsonValue>> | undefined;
    return typeof node === 'object' && node !== null && Object.hasOwn(node, name) ? holder?.[name] : undefined;
  }, root);
}

/** Decode the part of an address behind `#`: names such as `List<Item>` are percent-encoded there. */
function decoded(fragment: string): string {
  try {
    return decodeURIComponent(fragment);
  } catch {
    // A lone "%" stands for itself.
    return fragment;
  }
}

/** Merge combinators and a reference at the top into one object: of alternatives it requires what all of them require. */
function mergedTop(schema: JsonObject, budget = { nodes: MAX_NODES }, levelsLeft = MAX_LEVELS): JsonObject {
  const { allOf, anyOf, oneOf, not: _not, enum: _enum, $ref: reference, ...own } = schema;
  const target = reference === undefined ? undefined : resolveReference(reference, schema);
  const whole = [...listOf(allOf), ...(isNode(target) ? [target] : [])];
  const alternatives = [listOf(anyOf), listOf(oneOf)].filter((branches) => branches.length > 0);
  const merged = (branch: JsonValue) =>
    isNode(branch) && levelsLeft > 0 && --budget.nodes > 0
      ? mergedTop({ ...definitionsOf(schema), ...branch }, budget, levelsLeft - 1)
      : {};
  const wholes = whole.map(merged);
  const choices = alternatives.map((branches) => branches.map(merged));
  const parts = [...wholes, ...choices.flat()];
  const required = [
    ...requiredOf(own),
    ...wholes.flatMap(requiredOf),
    ...choices.flatMap(([first, ...others]) =>
      requiredOf(first ?? {}).filter((name) => others.every((other) => requiredOf(other).includes(name))),
    ),
  ];
  const properties = Object.assign({}, ...[...parts].reverse().map(propertiesOf), propertiesOf(own)) as JsonObject;
  const { additionalProperties, ...rest } = own;
  const isClosed = additionalProperties === false && parts.length === 0;
  return {
    ...rest,
    ...OBJECT,
    properties,
    ...(required.length > 0 && { required: [...new Set(required)] }),
    ...(isClosed && { additionalProperties }),
  };
}

function definitionsOf({ $defs, definitions }: JsonObject): JsonObject {
  return { ...($defs !== undefined && { $defs }), ...(definitions !== undefined && { definitions }) };
}

/** Give lists without items some, which OpenAI wants. Returns the same schema where nothing is missing. */
function withItems<Schema extends JsonValue>(schema: Schema): Schema {
  if (typeof schema !== 'object' || schema === null) return schema;
  if (Array.isArray(schema)) {
    const items = schema.map((item: JsonValue) => withItems(item));
    return (items.some((item, place) => item !== schema[place]) ? items : schema) as Schema;
  }
  const entries = Object.entries(schema as JsonObject).map(([key, value]) => [key, withItems(value)] as const);
  const isChanged = entries.some(([key, value]) => value !== (schema as JsonObject)[key]);
  const isListWithoutItems = [(schema as JsonObject)['type']].flat().includes('array') && !('items' in schema);
  if (!isChanged && !isListWithoutItems) return schema;
  return { ...Object.fromEntries(entries), ...(isListWithoutItems && { items: {} }) } as Schema;
}

/**
 * Replace references by what they name.
 *
 * @param deep Stands for what is too deep; absent: that throws.
 * @throws {Recursive}
 */
function expanded(root: JsonObject, deep?: Node): Node {
  let nodesLeft = MAX_NODES;
  const visit = (value: JsonValue, levelsLeft: number): JsonValue => {
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) return value.map((item: JsonValue) => visit(item, levelsLeft));
    const node = value as Node;
    if (levelsLeft < 0 || --nodesLeft < 0) {
      if (deep === undefined) throw new Recursive();
      return deep;
    }
    const { $ref: reference, $defs: _defs, definitions: _definitions, ...own } = node;
    if (typeof reference === 'string') {
      const target = resolveReference(reference, root);
      return visit({ ...(isNode(target) ? target : {}), ...own }, levelsLeft - 1);
    }
    return Object.fromEntries(
      Object.entries(own).map(([key, member]) => {
        if (key === 'properties' && isNode(member))
          return [
            key,
            Object.fromEntries(Object.entries(member).map(([name, one]) => [name, visit(one, levelsLeft - 1)])),
          ];
        return [key, LITERALS.has(key) ? member : visit(member, levelsLeft - 1)];
      }),
    );
  };
  return visit(root, 2 * MAX_LEVELS) as Node;
}

/** Keywords whose values are no schemas. */
const LITERALS = new Set(['enum', 'const', 'default', 'examples', 'example', 'required']);

/** @throws {NotStrict} */
function strictNode(node: JsonValue | undefined, level: number): JsonObject {
  if (!isNode(node) || level > MAX_LEVELS) throw new NotStrict();
  const alternatives = [...listOf(node['anyOf']), ...listOf(node['oneOf'])];
  const kept = Object.fromEntries(
    STRICT_KEYWORDS.flatMap((key) => (node[key] === undefined ? [] : [[key, node[key]]])),
  );
  const format = typeof node['format'] === 'string' && STRICT_FORMATS.has(node['format']) && { format: node['format'] };
  if (listOf(node['allOf']).length > 0) throw new NotStrict();
  if (alternatives.length > 0) {
    const { description } = node;
    return {
      ...(description !== undefined && { description }),
      anyOf: alternatives.map((branch) => strictNode(branch, level + 1)),
    };
  }
  const types = [node['type']].flat();
  if (node['type'] === undefined && node['enum'] === undefined && node['const'] === undefined) throw new NotStrict();
  return {
    ...kept,
    ...format,
    ...(types.includes('array') && { items: strictNode(node['items'], level + 1) }),
    ...(types.includes('object') && strictMembers(node, level)),
  };
}

function strictMembers(node: Node, level: number): JsonObject {
  const properties = propertiesOf(node);
  const isOpen = node['additionalProperties'] !== undefined && node['additionalProperties'] !== false;
  if (isOpen || node['patternProperties'] !== undefined) throw new NotStrict();
  // An object of any members cannot be one of none.
  if (isEmpty(properties) && node['additionalProperties'] === undefined && level > 0) throw new NotStrict();
  const required = requiredOf(node);
  return {
    properties: Object.fromEntries(
      Object.entries(properties).map(([name, member]) => {
        const strict = strictNode(member, level + 1);
        return [name, required.includes(name) ? strict : nullable(strict)];
      }),
    ),
    required: Object.keys(properties),
    additionalProperties: false,
  };
}

/** Let a strict schema be null. */
function nullable(schema: JsonObject): JsonObject {
  const { type, enum: values, anyOf, ...rest } = schema;
  if (Array.isArray(anyOf)) {
    const branches = listOf(anyOf as JsonValue);
    const hasNull = branches.some((branch) => isNode(branch) && branch['type'] === 'null');
    return hasNull ? schema : { ...rest, anyOf: [...branches, { type: 'null' }] };
  }
  if (type === undefined || 'const' in rest) return { anyOf: [schema, { type: 'null' }] };
  const types = [type].flat();
  const choices = Array.isArray(values) && {
    enum: values.includes(null) ? values : [...(values as readonly JsonValue[]), null],
  };
  return { type: types.includes('null') ? types : [...types, 'null'], ...rest, ...choices };
}

function geminiNode(node: JsonValue | undefined): JsonObject {
  if (!isNode(node)) return ANY_OF_GEMINI;
  const { type, enum: values, format } = node;
  const constant = typeof node['const'] === 'string' ? [node['const']] : undefined;
  const kept = Object.fromEntries(
    GEMINI_KEYWORDS.flatMap((key) => (node[key] === undefined ? [] : [[key, node[key]]])),
  );
  const branches = ['anyOf', 'oneOf', 'allOf'].flatMap((keyword) => listOf(node[keyword]));
  const types = type === undefined ? [] : [type].flat().map(String);
  const [first, ...others] = types.filter((each) => each !== 'null');
  const isNull = (branch: JsonValue) => isNode(branch) && branch['type'] === 'null';
  const mayBeNull = (types.includes('null') || branches.some(isNull)) && { nullable: true };
  const choices = branches.filter((branch) => !isNull(branch));
  if (choices.length > 0 && first === undefined)
    return { ...kept, ...mayBeNull, anyOf: choices.map((branch) => geminiNode(branch)) };
  const texts = constant ?? (listOf(values).every((value) => typeof value === 'string') ? listOf(values) : []);
  const typed = first ?? (texts.length > 0 ? 'string' : undefined);
  if (typed === undefined) return { ...kept, ...mayBeNull, ...ANY_OF_GEMINI };
  if (others.length > 0)
    return {
      ...kept,
      ...mayBeNull,
      anyOf: [first, ...others].map((each) => geminiNode({ ...node, type: each ?? '' })),
    };
  return {
    type: typed.toUpperCase(),
    ...kept,
    ...mayBeNull,
    ...(typed === 'string' && texts.length > 0 && { enum: texts }),
    ...(typeof format === 'string' && GEMINI_FORMATS[typed]?.includes(format) && { format }),
    ...(typed === 'array' && { items: geminiNode(node['items'] ?? { type: 'string' }) }),
    ...(typed === 'object' && geminiMembers(node)),
  };
}

/** Gemini wants a type everywhere; what may be anything is one of these. */
const ANY_OF_GEMINI: JsonObject = {
  anyOf: [{ type: 'STRING' }, { type: 'NUMBER' }, { type: 'BOOLEAN' }, { type: 'OBJECT' }],
};

function geminiMembers(node: Node): JsonObject {
  const properties = propertiesOf(node);
  if (isEmpty(properties)) return {};
  const required = requiredOf(node).filter((name) => Object.hasOwn(properties, name));
  return {
    properties: Object.fromEntries(Object.entries(properties).map(([name, member]) => [name, geminiNode(member)])),
    ...(required.length > 0 && { required }),
  };
}

function propertiesOf(node: Node): JsonObject {
  return isNode(node['properties']) ? node['properties'] : {};
}

function requiredOf(node: Node): readonly string[] {
  return listOf(node['required']).flatMap((name) => (typeof name === 'string' ? [name] : []));
}

function listOf(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? (value as readonly JsonValue[]) : [];
}

function isEmpty(value: JsonObject): boolean {
  return Object.keys(value).length === 0;
}

function isNode(value: JsonValue | undefined): value is Node {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
