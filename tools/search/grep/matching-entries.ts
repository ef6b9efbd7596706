/**
 * Files that match, read from ripgrep's list of them.
 */
import { lstat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { showText } from '../../../src/files/hidden-characters.ts';
import type { IsHidden } from '../hidden-paths.ts';

/** One file, with how often it matches where that was asked. */
export interface Entry {
  readonly path: string;
  readonly count?: string;
}

/** `path NUL` or `path NUL count LF`, again and again; a last one that was cut off is left out. */
export function visibleEntries(
  output: string,
  mode: 'files_with_matches' | 'count',
  isHidden: IsHidden,
): readonly Entry[] {
  if (mode === 'files_with_matches') {
    return output
      .split('\0')
      .slice(0, -1)
      .filter((path) => !isHidden(path))
      .map((path) => ({ path }));
  }
  // A name may hold a line end, a count may not: what stands before a NUL, after the count's line end, is the name.
  return [...output.matchAll(/([^\0]*)\0(\d+)\n/g)].flatMap(([, path = '', count = '']) =>
    isHidden(path) ? [] : [{ path, count }],
  );
}

/** An entry as the model sees it. */
export function showEntry(entry: Entry): string {
  return entry.count === undefined ? showText(entry.path) : `${showText(entry.path)}:${entry.count}`;
}

/** A short list by age, newest first; a long one by name, since looking at every file would take longer than the search. */
export async function newestFirst(entries: readonly Entry[], cwd: string, maxFiles: number): Promise<readonly Entry[]> {
  if (entries.length > maxFiles) return entries.toSorted((a, b) => (a.path < b.path ? -1 : 1));
  const aged = await Promise.all(
    entries.map(async (entry) => ({ entry, mtimeMs: await modifiedMs(resolve(cwd, entry.path)) })),
  );
  return aged.sort((a, b) => b.mtimeMs - a.mtimeMs || (a.entry.path < b.entry.path ? -1 : 1)).map(({ entry }) => entry);
}

async function modifiedMs(path: string): Promise<number> {
  try {
    return (await lstat(path)).mtimeMs;
  } catch {
    // Gone since ripgrep saw it: it did match, and counts as the oldest.
    return 0;
  }
}
