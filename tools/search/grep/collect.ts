/**
 * Two kinds of searches: for lines, which stops at a limit, and for files, which does not.
 *
 * ripgrep opens files by name. Before the results are shown, files whose names may have led elsewhere meanwhile are
 * searched again.
 */
import { GauntletError } from '../../../src/base/errors.ts';
import { correctTimes, type Entry, modifiedTimes, newestFirst, showEntry, visibleEntries } from './matching-entries.ts';
import { MatchingLines, type NameOf, type SelectedLines } from './matching-lines.ts';
import { descriptorIndex, hasLineNumbers } from './rg-arguments.ts';
import type { RipgrepEnd } from './ripgrep.ts';
import type { GrepBounds, GrepOutput, Search, TakeOutput } from './search.ts';

/** Search for lines, stopping when enough were found. */
export async function searchLines(search: Search): Promise<GrepOutput> {
  const { bounds, offset } = search;
  const lines = newLines(search);
  const end = await search.run((chunk) => lines.push(chunk));
  const isSettled = search.possiblyMoved(lines.files).length === 0;
  const again = isSettled ? undefined : await searchLinesAgain(search, lines, newLines(search));
  const { text, lineCount, seenLines, stoppedBy } = again?.found ?? lines.finish();
  const notices = [...endNotices(again?.end ?? end, lineCount > 0, bounds.timeMs), ...missingNotices(again?.missing)];
  const last = offset + lineCount;
  if (stoppedBy === 'limit') {
    notices.push(`PARTIAL: lines ${offset + 1}-${last} are shown and there are more. Go on with offset ${last}`);
  }
  if (stoppedBy === 'bytes') notices.push(tooLong(bounds));
  const isPastEnd = lineCount === 0 && seenLines > 0;
  if (isPastEnd) notices.push(pastEnd(offset, seenLines));
  const total = isPastEnd ? { total: seenLines } : {};
  return { mode: 'content', text, count: lineCount, ...total, notices, isPartial: notices.length > 0 };
}

/** Search for files: all are listed, so that the newest come first. */
export async function searchEntries(search: Search, mode: 'files_with_matches' | 'count'): Promise<GrepOutput> {
  const { limit, offset, bounds } = search;
  const chunks: Buffer[] = [];
  let bytes = 0;
  const end = await search.run((chunk) => {
    chunks.push(chunk);
    bytes += chunk.length;
    return bytes <= bounds.bytes;
  });
  const named = visibleEntries(Buffer.concat(chunks).toString(), mode, search.isHidden);
  const times = await modifiedTimes(mode === 'count' ? [] : named, search.cwd, bounds.sortedFiles);
  const uncertain = search.possiblyMoved(named.map(({ path }) => path));
  const { found, missing, end: secondEnd } = await searchEntriesAgain(search, named, mode, uncertain);
  await correctTimes(times, uncertain, search.cwd);
  const sorted = mode === 'count' ? found : newestFirst(found, times);
  const shown = sorted.slice(offset, offset + limit);
  const notices = [...endNotices(secondEnd ?? end, found.length > 0, bounds.timeMs), ...missingNotices(missing)];
  if (bytes > bounds.bytes) notices.push(tooLong(bounds));
  const last = offset + shown.length;
  if (shown.length === 0 && found.length > 0) notices.push(pastEnd(offset, found.length));
  else if (last < found.length) {
    notices.push(`PARTIAL: ${offset + 1}-${last} of ${found.length} are shown. Go on with offset ${last}`);
  }
  return {
    mode,
    text: shown.map(showEntry).join('\n'),
    count: shown.length,
    total: found.length,
    notices,
    isPartial: notices.length > 0,
  };
}

function newLines({ limit, offset, isHidden, bounds, input }: Search): MatchingLines {
  return new MatchingLines({
    hasLineNumbers: hasLineNumbers(input),
    offset,
    limit,
    maxBytes: bounds.bytes,
    isHidden,
  });
}

function pastEnd(offset: number, total: number): string {
  return `PARTIAL: there are ${total}, none after offset ${offset}. Use a smaller offset`;
}

function tooLong(bounds: GrepBounds): string {
  return `PARTIAL: there is more than ${bounds.bytes} bytes. Narrow the pattern, path, glob or type`;
}

function missingNotices(files = 0): string[] {
  if (files === 0) return [];
  return [`PARTIAL: ${files} files or their folders changed during the search and are left out. Search again`];
}

function endNotices(end: RipgrepEnd, hasMatches: boolean, timeoutMs: number): string[] {
  if (end.outcome === 'partial') return [`PARTIAL: ${end.unreadable} files or folders could not be read`];
  if (end.outcome !== 'timeout') return [];
  const what = `the search was ended after ${timeoutMs} ms`;
  if (hasMatches) return [`PARTIAL: ${what}. Narrow the path, glob or type`];
  throw new GauntletError('timeout', `Cannot search further: ${what} without a match. Narrow the path, glob or type`);
}

/** Results of a second search, which replace those found by name. */
interface SecondSearch<Found> {
  readonly found: Found;
  /** Number of files in which nothing was found any more. */
  readonly missing: number;
  /** End of the second search, if it was stopped. */
  readonly end?: RipgrepEnd;
}

/** Search the lines of all files again, since pages are counted in lines. @param again Empty selection. */
async function searchLinesAgain(
  search: Search,
  first: MatchingLines,
  again: MatchingLines,
): Promise<SecondSearch<SelectedLines>> {
  const end = await searchAgain(search, first.files, (nameOf) => {
    again.renamed(nameOf);
    return (chunk) => again.push(chunk);
  });
  const { stoppedBy, ...selected } = again.finish();
  const isWhole = stoppedBy === undefined && end === undefined;
  const missing = isWhole ? first.files.length - again.files.length : 0;
  return { found: { ...selected, stoppedBy: stoppedBy ?? first.finish().stoppedBy }, missing, end };
}

/** Replace uncertain entries by the results of a second search. */
async function searchEntriesAgain(
  search: Search,
  entries: readonly Entry[],
  mode: 'files_with_matches' | 'count',
  uncertain: readonly string[],
): Promise<SecondSearch<readonly Entry[]>> {
  const outputs: { readonly nameOf: NameOf; readonly chunks: Buffer[] }[] = [];
  const end = await searchAgain(search, uncertain, (nameOf) => {
    const chunks: Buffer[] = [];
    outputs.push({ nameOf, chunks });
    return (chunk) => chunks.push(chunk) > 0;
  });
  const again = new Map<string, Entry | undefined>(uncertain.map((name) => [name, undefined]));
  // Hidden files were already excluded by name.
  for (const { nameOf, chunks } of outputs) {
    for (const entry of visibleEntries(Buffer.concat(chunks).toString(), mode, () => false)) {
      const path = nameOf(entry.path);
      again.set(path, { ...entry, path });
    }
  }
  const found = entries.flatMap((entry) => (again.has(entry.path) ? (again.get(entry.path) ?? []) : entry));
  return { found, missing: end === undefined ? entries.length - found.length : 0, end };
}

/** Search open files in batches that a process can hold open. @returns End of a run that was stopped. */
async function searchAgain(
  search: Search,
  names: readonly string[],
  begin: (nameOf: NameOf) => TakeOutput,
): Promise<RipgrepEnd | undefined> {
  const { openFiles } = search.bounds;
  for (let at = 0; at < names.length; at += openFiles) {
    const some = names.slice(at, at + openFiles);
    const end = await search.runOnFiles(
      some,
      begin((printed) => some[descriptorIndex(printed)] ?? printed),
    );
    if (end.outcome === 'stopped' || end.outcome === 'timeout') return end;
  }
  return undefined;
}
