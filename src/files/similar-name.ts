/** Suggests an existing file for a misspelled name ("Did you mean"). */
import leven from 'leven';
import { opendirSync } from 'node:fs';
import { basename, dirname, extname, join } from 'node:path';
import { foldName } from './sensitive-targets.ts';

/** Names of a folder that are looked at. */
const MAX_NAMES = 2_000;

/**
 * Find an existing file with a name similar to a missing one.
 *
 * @param missing Absolute path of nothing.
 * @param isHidden Names never to be told.
 * @returns Absolute path, or undefined when nothing is close.
 */
export function similarPath(missing: string, isHidden: (path: string) => boolean): string | undefined {
  const folder = dirname(missing);
  const wanted = foldName(basename(missing));
  let best: { readonly name: string; readonly distance: number } | undefined;
  for (const name of namesIn(folder)) {
    const distance = nameDistance(wanted, foldName(name));
    if (distance > Math.max(1, wanted.length / 4) || (best && best.distance <= distance)) continue;
    if (!isHidden(join(folder, name))) best = { name, distance };
  }
  return best && join(folder, best.name);
}

function namesIn(folder: string): readonly string[] {
  const names: string[] = [];
  let opened;
  try {
    opened = opendirSync(folder);
  } catch {
    // The folder is missing or unreadable: nothing to suggest, and the caller already has its error.
    return names;
  }
  try {
    for (let entry = opened.readSync(); entry && names.length < MAX_NAMES; entry = opened.readSync()) {
      if (entry.isFile()) names.push(entry.name);
    }
  } finally {
    opened.closeSync();
  }
  return names;
}

/** Return 0 for the same stem with another extension, else the edit distance. */
function nameDistance(a: string, b: string): number {
  return stem(a) === stem(b) ? 0 : leven(a, b);
}

function stem(name: string): string {
  return name.slice(0, name.length - extname(name).length);
}
