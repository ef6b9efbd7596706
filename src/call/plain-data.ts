/**
 * What a tool hands over for the log must be data that JSON can hold: one value that cannot be written
 * would take the whole row it stands in with it.
 */
import type { JsonValue } from '../contract/blocks.ts';

/** Levels of objects and lists; deeper values are cycles, or of no use to anyone. */
const MAX_LEVELS = 64;

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
