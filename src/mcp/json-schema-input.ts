/**
 * A server's JSON Schema as the Zod type that the first gate asks: ajv judges, Zod carries the issues.
 */
import type { Ajv, ErrorObject, Options, ValidateFunction } from 'ajv';
import { createRequire } from 'node:module';
import * as z from 'zod';
import type { Limits } from '../../config/limits.ts';
import { errorMessage } from '../base/errors.ts';
import type { JsonObject } from '../base/json.ts';
import type { AnyObject } from '../tool/tool.ts';
import { createSchemaPatterns } from './pattern-cost.ts';

/** Keywords that judge the same value as the schema they stand in. */
const SAME_VALUE_LISTS = ['allOf', 'anyOf', 'oneOf'];

const SAME_VALUE_SCHEMAS = ['not', 'if', 'then', 'else'];

const SAME_VALUE_MAPS = ['dependentSchemas', 'dependencies'];

/** References followed on one value; a longer chain is taken for one that never ends. */
const MAX_OPEN = 1_000;

/** Of all schemas: each is compiled, and each input judged, in one step. */
const patterns = createSchemaPatterns();

const OPTIONS: Options = {
  allErrors: true,
  // Schemas of strangers hold keywords and formats of their own.
  strict: false,
  validateSchema: false,
  logger: false,
  // Code that runs a few times is not worth the time it takes to optimise it.
  code: { optimize: false, regExp: Object.assign(patterns.compile, { code: 'patterns.compile' }) },
};

/** One ajv a draft, made when the first schema of that draft is compiled. */
const validators = new Map<'draft-07' | '2020-12', Ajv>();

/** Of all servers, since the process began. */
let compiledSchemas = 0;

type SchemaLimits = Pick<Limits, 'mcpCompiledSchemas' | 'mcpJudgedValues'>;

/**
 * Make the input type of a tool. The schema is compiled at the first parse and kept.
 *
 * Parsing hands back the very object it was given; issues carry their paths. A schema that cannot be
 * compiled refuses every input and says why. An input of very many values is left to its server, which judges it anyway.
 */
export function jsonSchemaInput(schema: JsonObject, limits: SchemaLimits): AnyObject {
  let compiled: ValidateFunction | undefined;
  return z.custom<Record<string, unknown>>(isObject, 'expected an object').superRefine((input, context) => {
    try {
      compiled ??= compile(schema, limits);
      if (isLargerThan(input, limits.mcpJudgedValues)) return;
      patterns.beginInput();
      if (compiled(input)) return;
      for (const error of compiled.errors ?? []) {
        context.addIssue({ code: 'custom', path: pathOf(error), message: wordError(error) });
      }
    } catch (error) {
      context.addIssue({ code: 'custom', path: [], message: unusable(error) });
    }
  });
}

/** Say why a schema judges nothing; undefined where it does. */
export function schemaProblem(schema: JsonObject, limits: SchemaLimits): string | undefined {
  try {
    compile(schema, limits);
    return undefined;
  } catch (error) {
    return unusable(error);
  }
}

function unusable(error: unknown): string {
  return `the schema of this tool cannot be used: ${errorMessage(error)}`;
}

/** Whether a value holds more than `most` values, itself included; those beyond are not looked at. */
function isLargerThan(value: unknown, most: number): boolean {
  const waiting = [value];
  for (let seen = 1; waiting.length > 0;) {
    const next = waiting.pop();
    const members = typeof next === 'object' && next !== null ? Object.values(next) : [];
    seen += members.length;
    if (seen > most) return true;
    waiting.push(...members);
  }
  return false;
}

function compile(schema: JsonObject, limits: SchemaLimits): ValidateFunction {
  const dialect = typeof schema['$schema'] === 'string' ? schema['$schema'] : '';
  const draft = /draft-0[467]/.test(dialect) ? 'draft-07' : '2020-12';
  // Without `$schema` and `$id`: neither may name what ajv does not know, or claim what another schema is called. And
  // without `$async`, upon which ajv would answer with a promise, which counts as yes.
  const { $schema: _dialect, $id: _id, $async: _async, ...rest } = schema;
  patterns.beginSchema();
  return ajvFor(draft, limits).compile(rest);
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

function ajvFor(draft: 'draft-07' | '2020-12', limits: SchemaLimits): Ajv {
  if (++compiledSchemas % limits.mcpCompiledSchemas === 0) validators.clear();
  let ajv = validators.get(draft);
  if (ajv === undefined) {
    ajv = newAjv(draft);
    validators.set(draft, ajv);
  }
  return ajv;
}

/** Where the input is wrong; a missing field is named itself, not the object around it. */
function pathOf({ instancePath, keyword, params }: ErrorObject): (string | number)[] {
  const path: (string | number)[] = instancePath
    .split('/')
    .slice(1)
    .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'))
    .map((key) => (/^\d+$/.test(key) ? Number(key) : key));
  if (keyword === 'required') path.push(String(params['missingProperty']));
  return path;
}

function wordError({ keyword, params, message }: ErrorObject): string {
  if (keyword === 'required') return 'required';
  if (keyword === 'additionalProperties') return `unknown field \`${String(params['additionalProperty'])}\`; remove it`;
  if (keyword === 'enum') return `must be one of ${JSON.stringify(params['allowedValues']).slice(0, 500)}`;
  if (keyword === 'const') return `must be ${JSON.stringify(params['allowedValue']).slice(0, 500)}`;
  return message ?? keyword;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Whether a local `$ref` of `schema` leads back to itself on the same value. */
export function hasReferenceCycle(schema: JsonObject): boolean {
  const finished = new Set<object>();
  const open = new Set<object>();

  function leadsBack(node: unknown): boolean {
    if (!isObject(node) || finished.has(node)) return false;
    if (open.has(node) || open.size > MAX_OPEN) return true;
    open.add(node);
    const isCycle = sameValueSchemas(node).some(leadsBack);
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

  return everySchema(schema).some(leadsBack);
}

/** Every object inside, the schema itself first; not every one is a schema, which does no harm. */
function everySchema(schema: JsonObject): readonly unknown[] {
  const found: unknown[] = [schema];
  for (const node of found) {
    for (const inner of Object.values(node as object))
      if (typeof inner === 'object' && inner !== null) found.push(inner);
  }
  return found;
}

/** What a `#/…` reference points at; undefined when it is not local or points nowhere. */
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
    // A stray percent sign: the key is taken as written.
    return key;
  }
}

function isContainer(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
