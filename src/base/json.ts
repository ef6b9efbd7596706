/**
 * Parses and validates untrusted JSON.
 *
 * All routes and WebSocket frames use it. An accepted value is at most `MAX_JSON_DEPTH` levels deep and contains no key that
 * reaches a prototype and no lone surrogate. For JSON of other servers, only the depth is checked.
 */

import { GauntletError } from './errors.ts';

/** A value that survives `JSON.stringify` and `JSON.parse`. */
export type JsonValue = string | number | boolean | null | readonly JsonValue[] | { readonly [key: string]: JsonValue };

/** A JSON object. */
export type JsonObject = { readonly [key: string]: JsonValue };

/** Maximum nesting of objects and lists: deeper values are cyclic or useless, and overflow recursive readers. */
export const MAX_JSON_DEPTH = 64;

interface JsonLocation {
  readonly at?: string;
  readonly fragments?: readonly string[];
}

/**
 * Parse and validate `text`.
 *
 * @param what Name of the text in messages, as in "the body".
 * @param at Path of the field whose value `text` is; empty for a whole body.
 * @param fragments Paths of values whose strings are pieces of longer ones: each may end within a surrogate pair.
 * @throws {GauntletError} `invalid_request` with `details.reason` `not_json`, `too_deep`, `forbidden_key` or
 *   `lone_surrogate`, the last with `details.path`.
 */
export function parseSafeJson(text: string, what: string, { at = '', fragments = [] }: JsonLocation = {}): JsonValue {
  const value = parse(text, what);
  const problem = unsafeJson(value);
  if (problem === 'too_deep') {
    throw refusal(problem, `Cannot read ${what}: it is nested deeper than ${MAX_JSON_DEPTH} levels`);
  }
  if (problem === 'forbidden_key') {
    throw refusal(problem, `Cannot read ${what}: "__proto__" and "constructor.prototype" are not allowed as keys`);
  }
  const path = mayHoldLoneSurrogate(text) ? loneSurrogatePath(value, at, fragments) : undefined;
  if (path !== undefined) {
    const why = `"${path}" holds half of a surrogate pair, which is not a character`;
    throw refusal('lone_surrogate', `Cannot read ${what}: ${why}`, undefined, path);
  }
  return value;
}

/** UTF-8 text can only contain one as an escape, so most values need not be walked. */
function mayHoldLoneSurrogate(text: string): boolean {
  return text.includes('\\ud') || text.includes('\\uD') || !text.isWellFormed();
}

/**
 * Find the first string or key that is not well-formed Unicode: encoded for a file or a command line it would differ
 * from what was judged. The depth of `value` must be bounded.
 */
function loneSurrogatePath(value: JsonValue, path: string, fragments: readonly string[]): string | undefined {
  if (fragments.includes(path)) return undefined;
  if (typeof value === 'string') return value.isWellFormed() ? undefined : path;
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [key, member] of Object.entries(value)) {
    const field = Array.isArray(value) ? `${path}[${key}]` : `${path}${path && '.'}${key.toWellFormed()}`;
    const found = key.isWellFormed() ? loneSurrogatePath(member, field, fragments) : field;
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Find a problem of a parsed value: nested too deep, or a key that reaches a prototype. */
export function unsafeJson(value: unknown): JsonProblem | undefined {
  return findProblem(value, MAX_JSON_DEPTH, false);
}

/** True if `value` is nested deeper than `MAX_JSON_DEPTH` levels; a string has level 0. Keys are not checked. */
export function isTooDeep(value: unknown): boolean {
  return findProblem(value, MAX_JSON_DEPTH, true) !== undefined;
}

type JsonProblem = 'too_deep' | 'forbidden_key';

/** The recursion is bounded by the limit, so no value can overflow the stack. */
function findProblem(value: unknown, levelsLeft: number, allowsAnyKey: boolean): JsonProblem | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  if (levelsLeft === 0) return 'too_deep';
  if (Array.isArray(value)) {
    for (const item of value) {
      const problem = findProblem(item, levelsLeft - 1, allowsAnyKey);
      if (problem !== undefined) return problem;
    }
    return undefined;
  }
  for (const [key, member] of Object.entries(value)) {
    if (!allowsAnyKey && isForbidden(key, member)) return 'forbidden_key';
    const problem = findProblem(member, levelsLeft - 1, allowsAnyKey);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function isForbidden(key: string, member: unknown): boolean {
  if (key === '__proto__') return true;
  return key === 'constructor' && typeof member === 'object' && member !== null && Object.hasOwn(member, 'prototype');
}

function parse(text: string, what: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch (error) {
    throw refusal('not_json', `Cannot read ${what}: it is not valid JSON`, error);
  }
}

function refusal(reason: string, message: string, cause?: unknown, path?: string): GauntletError {
  return new GauntletError('invalid_request', message, { details: { reason, ...(path && { path }) }, cause });
}

/** True if JSON can hold a value: no cycle, no bigint. Members that JSON omits, such as functions, are accepted. */
export function isPlainData(value: unknown, levelsLeft = MAX_JSON_DEPTH): boolean {
  if (typeof value === 'bigint') return false;
  if (typeof value !== 'object' || value === null) return true;
  return levelsLeft > 0 && Object.values(value).every((member) => isPlainData(member, levelsLeft - 1));
}

/**
 * Copy a value through JSON, so that later changes do not affect the log.
 *
 * @returns `undefined` if JSON cannot hold it.
 */
export function plainCopy(value: unknown): { readonly value: JsonValue } | undefined {
  try {
    return isPlainData(value) ? { value: JSON.parse(JSON.stringify(value ?? null)) as JsonValue } : undefined;
  } catch {
    // A getter or `toJSON` of a plugin's object threw.
    return undefined;
  }
}

/**
 * Deeply freeze a value, in place.
 *
 * @throws {TypeError} If JSON cannot hold it: it would not be the same after a restart.
 */
export function frozenJson<Value extends Readonly<Record<string, JsonValue>>>(value: Value): Value {
  freeze(value, MAX_JSON_DEPTH);
  return value;
}

function freeze(value: unknown, levelsLeft: number): void {
  if (typeof value === 'bigint' || typeof value === 'function' || typeof value === 'symbol')
    throw new TypeError(`JSON cannot hold a ${typeof value}`);
  if (typeof value !== 'object' || value === null) return;
  if (levelsLeft === 0) throw new TypeError(`it is nested deeper than ${MAX_JSON_DEPTH} levels`);
  if (!Array.isArray(value) && !isPlainObject(value)) throw new TypeError('JSON holds plain objects and lists alone');
  for (const member of Object.values(value)) freeze(member, levelsLeft - 1);
  Object.freeze(value);
}

function isPlainObject(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
