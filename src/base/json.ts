/**
 * JSON from outside becomes a value here, or is refused.
 *
 * Every door reads through this: bodies, WebSocket frames. What passes is no deeper than its limit, holds
 * no key that reaches a prototype and no half of a surrogate pair. Of what other servers send, only the depth
 * is judged.
 */

import { GauntletError } from './errors.ts';

/** A value that survives `JSON.stringify` and back. */
export type JsonValue = string | number | boolean | null | readonly JsonValue[] | { readonly [key: string]: JsonValue };

/** A JSON object. */
export type JsonObject = { readonly [key: string]: JsonValue };

/** Levels of objects and lists; deeper values are cycles, or of no use to anyone. */
const MAX_LEVELS = 64;

/** Most levels of objects and lists a value may have. */
export interface JsonBounds {
  readonly jsonDepth: number;
}

interface JsonPlaces {
  readonly at?: string;
  readonly fragments?: readonly string[];
}

/**
 * Parse `text` and judge it.
 *
 * @param what Names the thing in messages, as in "the body".
 * @param at Path of the field whose value `text` is; empty for a whole body.
 * @param fragments Paths of values whose strings are pieces of longer ones: each may break off in a surrogate pair.
 * @throws {GauntletError} `invalid_request` with `details.reason` `not_json`, `too_deep`, `forbidden_key` or
 *   `lone_surrogate`, the last with `details.path`.
 */
export function parseSafeJson(
  text: string,
  what: string,
  bounds: JsonBounds,
  { at = '', fragments = [] }: JsonPlaces = {},
): JsonValue {
  const value = parse(text, what);
  const problem = unsafeJson(value, bounds);
  if (problem === 'too_deep') {
    throw refusal(problem, `Cannot read ${what}: it is nested deeper than ${bounds.jsonDepth} levels`);
  }
  if (problem === 'forbidden_key') {
    throw refusal(problem, `Cannot read ${what}: "__proto__" and "constructor.prototype" are not allowed as keys`);
  }
  const path = mayHoldLoneSurrogate(text) ? loneSurrogatePath(value, at, fragments) : undefined;
  if (path !== undefined) {
    const why = `"${path}" holds half of a surrogate pair, which is no character`;
    throw refusal('lone_surrogate', `Cannot read ${what}: ${why}`, undefined, path);
  }
  return value;
}

/** Text in UTF-8 can only spell one as an escape, so that most texts are not walked. */
function mayHoldLoneSurrogate(text: string): boolean {
  return text.includes('\\ud') || text.includes('\\uD') || !text.isWellFormed();
}

/**
 * The path of the first string or key that is not well-formed Unicode: it could not be written to a file, a
 * command line or UTF-8 as it was judged. The depth of `value` must be bounded.
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

/** What is wrong with a parsed value: nested too deep, or with a key that reaches a prototype. */
export function unsafeJson(value: unknown, bounds: JsonBounds): JsonProblem | undefined {
  return judge(value, bounds.jsonDepth, false);
}

/** Whether `value` is nested deeper than `depth` levels; a bare string or number has level 0. Keys are not judged. */
export function isDeeperThan(value: unknown, depth: number): boolean {
  return judge(value, depth, true) !== undefined;
}

type JsonProblem = 'too_deep' | 'forbidden_key';

/** Recursion ends at the limit, so that no value can overflow the stack. */
function judge(value: unknown, levelsLeft: number, mayHoldAnyKey: boolean): JsonProblem | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  if (levelsLeft === 0) return 'too_deep';
  if (Array.isArray(value)) {
    for (const item of value) {
      const problem = judge(item, levelsLeft - 1, mayHoldAnyKey);
      if (problem !== undefined) return problem;
    }
    return undefined;
  }
  for (const [key, member] of Object.entries(value)) {
    if (!mayHoldAnyKey && isForbidden(key, member)) return 'forbidden_key';
    const problem = judge(member, levelsLeft - 1, mayHoldAnyKey);
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

/** Whether JSON can hold a value: no cycle, no bigint. What JSON leaves out, such as functions, does no harm. */
export function isPlainData(value: unknown, levelsLeft = MAX_LEVELS): boolean {
  if (typeof value === 'bigint') return false;
  if (typeof value !== 'object' || value === null) return true;
  return levelsLeft > 0 && Object.values(value).every((member) => isPlainData(member, levelsLeft - 1));
}

/**
 * Copy a value as JSON holds it, so that nobody can change what is logged.
 *
 * @returns undefined for what JSON cannot hold.
 */
export function plainCopy(value: unknown): { readonly value: JsonValue } | undefined {
  try {
    return isPlainData(value) ? { value: JSON.parse(JSON.stringify(value ?? null)) as JsonValue } : undefined;
  } catch {
    // A plugin's own object threw while it was read.
    return undefined;
  }
}

/**
 * Freeze a value and all it holds, in place.
 *
 * @throws {TypeError} If JSON cannot hold it: it would not be the same after a restart.
 */
export function frozenJson<Value extends Readonly<Record<string, JsonValue>>>(value: Value): Value {
  freeze(value, MAX_LEVELS);
  return value;
}

function freeze(value: unknown, levelsLeft: number): void {
  if (typeof value === 'bigint' || typeof value === 'function' || typeof value === 'symbol')
    throw new TypeError(`JSON cannot hold a ${typeof value}`);
  if (typeof value !== 'object' || value === null) return;
  if (levelsLeft === 0) throw new TypeError(`it is nested deeper than ${MAX_LEVELS} levels`);
  if (!Array.isArray(value) && !isPlainObject(value)) throw new TypeError('JSON holds plain objects and lists alone');
  for (const member of Object.values(value)) freeze(member, levelsLeft - 1);
  Object.freeze(value);
}

function isPlainObject(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
