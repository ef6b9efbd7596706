/**
 * JSON from outside becomes a value here, or is refused.
 *
 * Every door reads through this: bodies, WebSocket frames. What passes is no deeper than its limit
 * and holds no key that reaches a prototype. Of what other servers send, only the depth is judged.
 */
import { GauntletError } from './errors.ts';
import type { JsonValue } from './blocks.ts';

/** Most levels of objects and lists a value may have. */
export interface JsonBounds {
  readonly jsonDepth: number;
}

/**
 * Parse `text` and judge it.
 *
 * @param what Names the thing in messages, as in "the body".
 * @throws {GauntletError} `invalid_request` with `details.reason` `not_json`, `too_deep` or `forbidden_key`.
 */
export function parseSafeJson(text: string, what: string, bounds: JsonBounds): JsonValue {
  const value = parse(text, what);
  const problem = unsafeJson(value, bounds);
  if (problem === 'too_deep') {
    throw refusal(problem, `Cannot read ${what}: it is nested deeper than ${bounds.jsonDepth} levels`);
  }
  if (problem === 'forbidden_key') {
    throw refusal(problem, `Cannot read ${what}: "__proto__" and "constructor.prototype" are not allowed as keys`);
  }
  return value;
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

function refusal(reason: string, message: string, cause?: unknown): GauntletError {
  return new GauntletError('invalid_request', message, { details: { reason }, cause });
}
