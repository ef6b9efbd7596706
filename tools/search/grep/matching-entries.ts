/**
 * Files that match, read from ripgrep's list of them.
 */
import type { Stats } from 'node:fs';
import { lstat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { showText } from '../../../src/base/hidden-characters.ts';
import { withCheckedFile } from '../../../src/files/open-checked.ts';
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

/** When files were last modified, by their names; nothing for many, since looking at each would outlast the search. */
export async function modifiedTimes(
  entries: readonly Entry[],
  cwd: string,
  mostFiles: number,
): Promise<Map<string, number>> {
  if (entries.length > mostFiles) return new Map();
  return new Map(
    await Promise.all(entries.map(async ({ path }) => [path, await modifiedMs(resolve(cwd, path), lstat)] as const)),
  );
}

/** The same for files that may not be those their names say. */
export async function correctTimes(times: Map<string, number>, paths: readonly string[], cwd: string): Promise<void> {
  const statThere = (path: string) => withCheckedFile(path, path, ({ stats }) => Promise.resolve(stats));
  for (const path of paths) if (times.has(path)) times.set(path, await modifiedMs(resolve(cwd, path), statThere));
}

/** The newest first; by name where no times are known. */
export function newestFirst(entries: readonly Entry[], times: ReadonlyMap<string, number>): readonly Entry[] {
  const timeOf = ({ path }: Entry) => times.get(path) ?? 0;
  return entries.toSorted((a, b) => timeOf(b) - timeOf(a) || (a.path < b.path ? -1 : 1));
}

async function modifiedMs(path: string, look: (path: string) => Promise<Stats>): Promise<number> {
  try {
    return (await look(path)).mtimeMs;
  } catch {
    // Gone since ripgrep saw it: it did match, and counts as the oldest.
    return 0;
  }
}
