/** Parses ripgrep's list of matching files. */
import type { Stats } from 'node:fs';
import { lstat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { showText } from '../../../src/base/hidden-characters.ts';
import { withCheckedFile } from '../../../src/files/open-checked.ts';
import type { IsHidden } from '../hidden-paths.ts';

/** One file, with its number of matches if requested. */
export interface Entry {
  readonly path: string;
  readonly count?: string;
}

/** Parse a sequence of `path NUL` or `path NUL count LF`; an incomplete last entry is dropped. */
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
  // A name may contain a line end, a count may not: the name is the text between the last count's line end and the NUL.
  return [...output.matchAll(/([^\0]*)\0(\d+)\n/g)].flatMap(([, path = '', count = '']) =>
    isHidden(path) ? [] : [{ path, count }],
  );
}

/** Format an entry for the model. */
export function showEntry(entry: Entry): string {
  return entry.count === undefined ? showText(entry.path) : `${showText(entry.path)}:${entry.count}`;
}

/**
 * Return modification times by file name; empty for many files, since reading them would take longer than the search.
 */
export async function modifiedTimes(
  entries: readonly Entry[],
  cwd: string,
  maxFiles: number,
): Promise<Map<string, number>> {
  if (entries.length > maxFiles) return new Map();
  return new Map(
    await Promise.all(entries.map(async ({ path }) => [path, await modifiedMs(resolve(cwd, path), lstat)] as const)),
  );
}

/** Correct the times of files whose names may have led elsewhere. */
export async function correctTimes(times: Map<string, number>, paths: readonly string[], cwd: string): Promise<void> {
  const statThere = (path: string) => withCheckedFile(path, path, ({ stats }) => Promise.resolve(stats));
  for (const path of paths) if (times.has(path)) times.set(path, await modifiedMs(resolve(cwd, path), statThere));
}

/** Sort by time, the newest first; by name if times are unknown. */
export function newestFirst(entries: readonly Entry[], times: ReadonlyMap<string, number>): readonly Entry[] {
  const timeOf = ({ path }: Entry) => times.get(path) ?? 0;
  return entries.toSorted((a, b) => timeOf(b) - timeOf(a) || (a.path < b.path ? -1 : 1));
}

async function modifiedMs(path: string, look: (path: string) => Promise<Stats>): Promise<number> {
  try {
    return (await look(path)).mtimeMs;
  } catch {
    // Removed after ripgrep found it: it did match, and counts as the oldest.
    return 0;
  }
}
