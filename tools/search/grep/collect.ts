/**
 * The two ways to search: for lines, which stops when enough were seen, and for files, which does not.
 */
import type { Limits } from '../../../config/limits.ts';
import { GauntletError } from '../../../src/contract/errors.ts';
import type { IsHidden } from '../hidden-paths.ts';
import { newestFirst, showEntry, visibleEntries } from './matching-entries.ts';
import { MatchingLines } from './matching-lines.ts';
import type { GrepOutput } from './output.ts';
import { hasLineNumbers } from './rg-arguments.ts';
import type { RipgrepEnd } from './ripgrep.ts';
import type { GrepArguments } from './schema.ts';

/** A search that is set up and not yet run. */
export interface Search {
  readonly input: GrepArguments;
  readonly limits: Limits;
  /** What printed paths are relative to. */
  readonly cwd: string;
  readonly isHidden: IsHidden;
  /** Lines or entries to show; Infinity for all. */
  readonly limit: number;
  readonly offset: number;
  /** Run ripgrep; `onOutput` answers false when enough was read. */
  run(onOutput: (chunk: Buffer) => boolean): Promise<RipgrepEnd>;
}

/** Search for lines: the run ends when enough were seen. */
export async function searchLines(search: Search): Promise<GrepOutput> {
  const { limit, offset, isHidden, limits, input } = search;
  const lines = new MatchingLines({
    hasLineNumbers: hasLineNumbers(input),
    offset,
    limit,
    maxBytes: limits.grepBytes,
    isHidden,
  });
  const end = await search.run((chunk) => lines.push(chunk));
  const { text, lineCount, seenLines, stoppedBy } = lines.finish();
  const notices = endNotices(end, lineCount > 0, limits);
  const last = offset + lineCount;
  if (stoppedBy === 'limit') {
    notices.push(`PARTIAL: lines ${offset + 1}-${last} are shown and there are more. Go on with offset ${last}`);
  }
  if (stoppedBy === 'bytes') notices.push(tooLong(limits));
  const isPastEnd = lineCount === 0 && seenLines > 0;
  if (isPastEnd) notices.push(pastEnd(offset, seenLines));
  const total = isPastEnd ? { total: seenLines } : {};
  return { mode: 'content', text, count: lineCount, ...total, notices, isPartial: notices.length > 0 };
}

/** Search for files: all are listed, so that the newest come first. */
export async function searchEntries(search: Search, mode: 'files_with_matches' | 'count'): Promise<GrepOutput> {
  const { limit, offset, limits } = search;
  const chunks: Buffer[] = [];
  let bytes = 0;
  const end = await search.run((chunk) => {
    chunks.push(chunk);
    bytes += chunk.length;
    return bytes <= limits.grepBytes;
  });
  const found = visibleEntries(Buffer.concat(chunks).toString(), mode, search.isHidden);
  const sorted = mode === 'count' ? found : await newestFirst(found, search.cwd, limits.grepSortedFiles);
  const shown = sorted.slice(offset, offset + limit);
  const notices = endNotices(end, found.length > 0, limits);
  if (bytes > limits.grepBytes) notices.push(tooLong(limits));
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

function pastEnd(offset: number, total: number): string {
  return `PARTIAL: there are ${total}, none after offset ${offset}. Use a smaller offset`;
}

function tooLong(limits: Limits): string {
  return `PARTIAL: there is more than ${limits.grepBytes} bytes. Narrow the pattern, path, glob or type`;
}

function endNotices(end: RipgrepEnd, hasMatches: boolean, limits: Limits): string[] {
  if (end.outcome === 'partial') return [`PARTIAL: ${end.unreadable} files or folders could not be read`];
  if (end.outcome !== 'timeout') return [];
  const what = `the search was ended after ${limits.grepMs} ms`;
  if (hasMatches) return [`PARTIAL: ${what}. Narrow the path, glob or type`];
  throw new GauntletError('timeout', `Cannot search further: ${what} without a match. Narrow the path, glob or type`);
}
