/**
 * Files that may not be those their names say are searched once more, by descriptor; what was found in them by name is
 * forgotten.
 */
import { type Entry, visibleEntries } from './matching-entries.ts';
import type { MatchingLines, NameOf, SelectedLines } from './matching-lines.ts';
import { descriptorIndex } from './rg-arguments.ts';
import type { RipgrepEnd } from './ripgrep.ts';
import type { Search, TakeOutput } from './search.ts';

/** What stands instead of what was found by name. */
export interface FoundAgain<Found> {
  readonly found: Found;
  /** Files in which nothing was found any more. */
  readonly missing: number;
  /** How the second search ended, where that was not by itself. */
  readonly end?: RipgrepEnd;
}

/** The lines of all files anew, since pages are counted in lines. @param again Nothing selected yet. */
export async function linesAgain(
  search: Search,
  first: MatchingLines,
  again: MatchingLines,
): Promise<FoundAgain<SelectedLines>> {
  const end = await searchAgain(search, first.files, (nameOf) => {
    again.renamed(nameOf);
    return (chunk) => again.push(chunk);
  });
  const { stoppedBy, ...selected } = again.finish();
  const isWhole = stoppedBy === undefined && end === undefined;
  const missing = isWhole ? first.files.length - again.files.length : 0;
  return { found: { ...selected, stoppedBy: stoppedBy ?? first.finish().stoppedBy }, missing, end };
}

/** Entries, those in doubt replaced by what is found in them now. */
export async function entriesAgain(
  search: Search,
  entries: readonly Entry[],
  mode: 'files_with_matches' | 'count',
  inDoubt: readonly string[],
): Promise<FoundAgain<readonly Entry[]>> {
  const outputs: { readonly nameOf: NameOf; readonly chunks: Buffer[] }[] = [];
  const end = await searchAgain(search, inDoubt, (nameOf) => {
    const chunks: Buffer[] = [];
    outputs.push({ nameOf, chunks });
    return (chunk) => chunks.push(chunk) > 0;
  });
  const again = new Map<string, Entry | undefined>(inDoubt.map((name) => [name, undefined]));
  // What is hidden was left out by name.
  for (const { nameOf, chunks } of outputs) {
    for (const entry of visibleEntries(Buffer.concat(chunks).toString(), mode, () => false)) {
      const path = nameOf(entry.path);
      again.set(path, { ...entry, path });
    }
  }
  const found = entries.flatMap((entry) => (again.has(entry.path) ? (again.get(entry.path) ?? []) : entry));
  return { found, missing: end === undefined ? entries.length - found.length : 0, end };
}

/** As many files at once as a process may well hold. @returns How a run ended that did not end by itself. */
async function searchAgain(
  search: Search,
  names: readonly string[],
  begin: (nameOf: NameOf) => TakeOutput,
): Promise<RipgrepEnd | undefined> {
  const { grepFilesAgain } = search.limits;
  for (let at = 0; at < names.length; at += grepFilesAgain) {
    const some = names.slice(at, at + grepFilesAgain);
    const end = await search.runOver(
      some,
      begin((printed) => some[descriptorIndex(printed)] ?? printed),
    );
    if (end.outcome === 'stopped' || end.outcome === 'timeout') return end;
  }
  return undefined;
}
