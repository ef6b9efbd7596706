/**
 * Where a pattern leads: the folders before its first wildcard are paths like any other, and judged as such.
 */
import { isAbsolute } from 'node:path';
import { type GlobPattern, parseGlob } from '../../../src/base/glob-pattern.ts';
import type { GlobArguments } from './schema.ts';

/** A folder to walk, and what to look for below it. */
export interface SearchRoot {
  /** As spelled: relative to the working directory, absolute, or below `~`. */
  readonly path: string;
  readonly patterns: readonly GlobPattern[];
}

/**
 * The folders a pattern names, each once, in a fixed order.
 *
 * @throws {RangeError} When the pattern stands for too many, or climbs after a wildcard.
 */
export function searchRoots(input: GlobArguments, maxAlternatives: number): readonly SearchRoot[] {
  const roots = new Map<string, GlobPattern[]>();
  for (const pattern of parseGlob(input.pattern, maxAlternatives)) {
    const path = rootPath(input.path ?? '.', pattern.base);
    roots.set(path, [...(roots.get(path) ?? []), pattern]);
  }
  return [...roots].map(([path, patterns]) => ({ path, patterns }));
}

function rootPath(path: string, base: string): string {
  if (base === '') return path;
  return isAbsolute(base) || /^~(?:\/|$)/.test(base) ? base : `${path}/${base}`;
}
