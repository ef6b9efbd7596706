/**
 * Wraps a server's JSON Schema in a Zod type: ajv validates, Zod carries the issues.
 */
import type { Ajv, ErrorObject, Options, ValidateFunction } from 'ajv';
import { createRequire } from 'node:module';
import * as z from 'zod';
import { errorMessage } from '../base/errors.ts';
import type { JsonObject } from '../base/json.ts';
import type { AnyObject } from '../tool/tool.ts';
import { createSchemaPatterns } from './pattern-cost.ts';

/** Keywords whose subschemas apply to the same value as the schema that contains them. */
const SAME_VALUE_LISTS = ['allOf', 'anyOf', 'oneOf'];

const SAME_VALUE_SCHEMAS = ['not', 'if', 'then', 'else'];

const SAME_VALUE_MAPS = ['dependentSchemas', 'dependencies'];

/** Longest chain of references followed on one value; a longer one counts as a cycle. */
const MAX_REFERENCE_CHAIN = 1_000;

/** Shared by all schemas, since each compilation and each validation is synchronous. */
const patterns = createSchemaPatterns();

const OPTIONS: Options = {
  allErrors: true,
  // Servers' schemas contain keywords and formats of their own.
  strict: false,
  validateSchema: false,
  logger: false,
  // Optimising the generated code costs more than it saves on a few runs.
  code: { optimize: false, regExp: Object.assign(patterns.compile, { code: 'patterns.compile' }) },
};

/** One ajv instance for each draft, created when its first schema is compiled. */
const validators = new Map<'draft-07' | '2020-12', Ajv>();

/** Schemas of all servers compiled by this process. */
let compiledSchemas = 0;

/** Schemas that one compiler takes before a new one is made: it keeps something of each for ever. */
const MAX_COMPILED_SCHEMAS = 1_000;

/**
 * Values of an input that is judged by its schema. All issues are listed, some keywords compare each value with each
 * other, and the schema comes from outside: an input full of values could take a minute and gigabytes.
 */
const MAX_JUDGED_VALUES = 2_000;

/**
 * Create the input type of a tool. The schema is compiled at the first parse and cached.
 *
 * Parsing returns the same object; issues carry their paths. A schema that cannot be compiled rejects every input with
 * the reason. Inputs with more than `mcpJudgedValues` values are not validated here, only by their server.
 */
export function jsonSchemaInput(schema: JsonObject): AnyObject {
  let compiled: ValidateFunction | undefined;
  return z.custom<Record<string, unknown>>(isObject, 'expected an object').superRefine((input, context) => {
    try {
      compiled ??= compile(schema);
      if (isLargerThan(input, MAX_JUDGED_VALUES)) return;
      patterns.beginInput();
      if (compiled(input)) return;
      for (const error of compiled.errors ?? []) {
        context.addIssue({ code: 'custom', path: pathOf(error), message: issueMessage(error) });
      }
    } catch (error) {
      context.addIssue({ code: 'custom', path: [], message: unusableMessage(error) });
    }
  });
}

/** Return the reason why a schema cannot be used; `undefined` if it can. */
export function schemaProblem(schema: JsonObject): string | undefined {
  try {
    compile(schema);
    return undefined;
  } catch (error) {
    return unusableMessage(error);
  }
}

function unusableMessage(error: unknown): string {
  return `the schema of this tool cannot be used: ${errorMessage(error)}`;
}

/** True if a value contains more than `maxValues` values, itself included; counting stops there. */
function isLargerThan(value: unknown, maxValues: number): boolean {
  const pending = [value];
  for (let seen = 1; pending.length > 0;) {
    const next = pending.pop();
    const members = typeof next === 'object' && next !== null ? Object.values(next) : [];
    seen += members.length;
    if (seen > maxValues) return true;
    pending.push(...members);
  }
  return false;
}

function compile(schema: JsonObject): ValidateFunction {
  const dialect = typeof schema['$schema'] === 'string' ? schema['$schema'] : '';
  const draft = /draft-0[467]/.test(dialect) ? 'draft-07' : '2020-12';
  // Removed: `$schema` and `$id`, which could name a draft that ajv does not support or collide with another schema,
  // and `$async`, which would make ajv return a promise, a truthy value.
  const { $schema: _dialect, $id: _id, $async: _async, ...rest } = schema;
  patterns.beginSchema();
  return ajvFor(draft).compile(rest);
}

/** Loaded with the first schema: most servers of ours never see one, and it would be a tenth of their start. */
function newAjv(draft: 'draft-07' | '2020-12'): Ajv {
  const load = createRequire(import.meta.url);
  const { default: addFormats } = load('ajv-formats') as typeof import('ajv-formats');
  const ajv =
    draft === 'draft-07'
      ? new (load('ajv') as typeof import('ajv')).Ajv(OPTIONS)
      : new (load('ajv/dist/2020.js') as typeof import('ajv/dist/2020.js')).Ajv2020(OPTIONS);
  addFormats.default(ajv, { mode: 'fast' });
  return ajv;
}

function ajvFor(draft: 'draft-07' | '2020-12'): Ajv {
  if (++compiledSchemas % MAX_COMPILED_SCHEMAS === 0) validators.clear();
  let ajv = validators.get(draft);
  if (ajv === undefined) {
    ajv = newAjv(draft);
    validators.set(draft, ajv);
  }
  return ajv;
}

/** Path of an issue in the input; for a missing member, the path of that member. */
function pathOf({ instancePath, keyword, params }: ErrorObject): (string | number)[] {
  const path: (string | number)[] = instancePath
    .split('/')
    .slice(1)
    .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'))
    .map((key) => (/^\d+$/.test(key) ? Number(key) : key));
  if (keyword === 'required') path.push(String(params['missingProperty']));
  return path;
}

function issueMessage({ keyword, params, message }: ErrorObject): string {
  if (keyword === 'required') return 'required';
  if (keyword === 'additionalProperties') return `unknown field \`${String(params['additionalProperty'])}\`; remove it`;
  if (keyword === 'enum') return `must be one of ${JSON.stringify(params['allowedValues']).slice(0, 500)}`;
  if (keyword === 'const') return `must be ${JSON.stringify(params['allowedValue']).slice(0, 500)}`;
  return message ?? keyword;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** True if a local `$ref` of `schema` leads back to itself on the same value. */
export function hasReferenceCycle(schema: JsonObject): boolean {
  const finished = new Set<object>();
  const open = new Set<object>();

  function isPartOfCycle(node: unknown): boolean {
    if (!isObject(node) || finished.has(node)) return false;
    if (open.has(node) || open.size > MAX_REFERENCE_CHAIN) return true;
    open.add(node);
    const isCycle = sameValueSchemas(node).some(isPartOfCycle);
    open.delete(node);
    finished.add(node);
    return isCycle;
  }

  function sameValueSchemas(node: Record<string, unknown>): readonly unknown[] {
    return [
      ...(typeof node['$ref'] === 'string' ? [resolvePointer(schema, node['$ref'])] : []),
      ...SAME_VALUE_LISTS.flatMap((keyword) => (Array.isArray(node[keyword]) ? (node[keyword] as unknown[]) : [])),
      ...SAME_VALUE_SCHEMAS.map((keyword) => node[keyword]),
      ...SAME_VALUE_MAPS.flatMap((keyword) => (isObject(node[keyword]) ? Object.values(node[keyword]) : [])),
    ];
  }

  return allObjects(schema).some(isPartOfCycle);
}

/** List every object inside, the schema itself first. Those that are no schemas do no harm. */
function allObjects(schema: JsonObject): readonly unknown[] {
  const found: unknown[] = [schema];
  for (const node of found) {
    for (const inner of Object.values(node as object))
      if (typeof inner === 'object' && inner !== null) found.push(inner);
  }
  return found;
}

/** Resolve a `#/…` reference; `undefined` if it is not local or has no target. */
function resolvePointer(schema: JsonObject, reference: string): unknown {
  if (!reference.startsWith('#')) return undefined;
  const keys = reference.slice(1).split('/').slice(1);
  return keys.reduce<unknown>((node, key) => {
    const name = safeDecode(key).replaceAll('~1', '/').replaceAll('~0', '~');
    return isContainer(node) && Object.hasOwn(node, name) ? node[name] : undefined;
  }, schema);
}

function safeDecode(key: string): string {
  try {
    return decodeURIComponent(key);
  } catch {
    // A stray percent sign: the key is used as written.
    return key;
  }
}

function isContainer(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
