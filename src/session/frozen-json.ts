/**
 * JSON that nobody can change any more: what a session keeps for its tools.
 */
import type { JsonValue } from '../contract/blocks.ts';

/** Levels of objects and lists; deeper values are cycles, or of no use to anyone. */
const MAX_LEVELS = 64;

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
