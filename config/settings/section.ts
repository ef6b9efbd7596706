/**
 * A section of the settings file: a strict object whose unknown keys are answered with the nearest known one.
 */
import leven from 'leven';
import * as z from 'zod';

/** A strict object schema; an unknown key is an issue whose message names it and suggests a known one. */
export function section<Shape extends z.ZodRawShape>(shape: Shape) {
  return z.strictObject(shape, {
    error: (issue) => (issue.code === 'unrecognized_keys' ? unknownKeys(issue.keys, Object.keys(shape)) : undefined),
  });
}

/**
 * The known key that `key` was probably meant to be.
 *
 * @returns One that begins with it, or whose words it ends with (`permission_mode`: `mode`), else the one with the fewest
 *   letters to change, at most a third of them; else undefined.
 */
export function nearestKey(key: string, known: readonly string[]): string | undefined {
  const begun = known.find((candidate) => key.length > 2 && candidate.startsWith(key));
  if (begun !== undefined) return begun;
  const ended = known.find((candidate) => key.endsWith(`_${candidate}`));
  if (ended !== undefined) return ended;
  const scored = known.map((candidate) => ({ candidate, distance: leven(plain(key), plain(candidate)) }));
  const best = scored.sort((left, right) => left.distance - right.distance)[0];
  return best && best.distance <= Math.max(1, Math.floor(key.length / 3)) ? best.candidate : undefined;
}

function unknownKeys(keys: readonly string[], known: readonly string[]): string {
  const [first = ''] = keys;
  const nearest = nearestKey(first, known);
  const fix = nearest === undefined ? `known here: ${known.join(', ')}` : `did you mean "${nearest}"?`;
  return `is not a setting; ${fix}`;
}

/** `default_mode` and `defaultMode` differ in nothing that matters here. */
function plain(key: string): string {
  return key.replace(/[_-]/g, '').toLowerCase();
}
