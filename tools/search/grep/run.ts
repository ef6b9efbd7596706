/**
 * Grep: hand the pattern to ripgrep, take what may be shown, say what is missing.
 */
import { lstat } from 'node:fs/promises';
import { relative, resolve } from 'node:path';
import { GauntletError } from '../../../src/contract/errors.ts';
import type { LocatedPath } from '../../../src/contract/located-path.ts';
import type { ToolProgress, ToolResult, ToolUseContext } from '../../../src/contract/tool.ts';
import { isInsideFolder } from '../../../src/files/containment.ts';
import { showText } from '../../../src/files/hidden-characters.ts';
import { judgedPath } from '../../../src/files/judged-path.ts';
import { hiddenPaths, type IsHidden } from '../hidden-paths.ts';
import type { SearchToolServices } from '../services.ts';
import { selectMatchingLines } from './matching-lines.ts';
import { hasLineNumbers, outputMode, ripgrepArguments } from './rg-arguments.ts';
import { type RipgrepEnd, runRipgrep } from './ripgrep.ts';
import type { GrepArguments } from './schema.ts';

/** What Grep hands back. */
export interface GrepOutput {
  readonly mode: 'content' | 'files_with_matches' | 'count';
  /** Lines or entries, one a line; empty when there are none. */
  readonly text: string;
  /** Lines or entries shown. */
  readonly count: number;
  /** Entries altogether, where all were seen. */
  readonly total?: number;
  /** What the reader must know beside: that there is more, that files could not be read. */
  readonly notices: readonly string[];
  readonly isPartial: boolean;
}

/** Progress of a long search. */
export interface GrepProgress {
  readonly type: 'status';
  readonly message: string;
}

interface Search {
  readonly services: SearchToolServices;
  readonly input: GrepArguments;
  readonly context: ToolUseContext;
  readonly isHidden: IsHidden;
  readonly limit: number;
  readonly offset: number;
  run(onOutput: (chunk: Buffer) => boolean): Promise<RipgrepEnd>;
}

/** Run Grep. */
export async function runGrep(
  services: SearchToolServices,
  input: GrepArguments,
  context: ToolUseContext,
  onProgress?: (progress: ToolProgress<GrepProgress>) => void,
): Promise<ToolResult<GrepOutput>> {
  const located = await judgedPath(services.locate, context, { path: input.path ?? '.', access: 'read' });
  await assertExists(located, input.path ?? '.');
  const { limits } = services;
  const headLimit = input.head_limit ?? limits.grepResults;
  const { cwd } = context.session;
  const report = statusReport(limits.progressMs, onProgress);
  const search: Search = {
    services,
    input,
    context,
    isHidden: hiddenInOutput(services, context, located),
    limit: headLimit === 0 ? Infinity : headLimit,
    offset: input.offset ?? 0,
    run: (onOutput) =>
      runRipgrep({
        processHost: services.processHost,
        args: ripgrepArguments(input, searchTarget(located, cwd), limits),
        cwd,
        signal: context.signal,
        timeoutMs: limits.grepMs,
        maxErrorBytes: limits.grepErrorBytes,
        onOutput: (chunk) => {
          report(chunk.length);
          return onOutput(chunk);
        },
      }),
  };
  const mode = outputMode(input);
  return { data: mode === 'content' ? await searchLines(search) : await searchEntries(search, mode) };
}

async function searchLines(search: Search): Promise<GrepOutput> {
  const { limit, offset, isHidden, services, input } = search;
  const lines = selectMatchingLines({
    hasLineNumbers: hasLineNumbers(input),
    offset,
    limit,
    maxBytes: services.limits.grepBytes,
    isHidden,
  });
  const end = await search.run((chunk) => lines.push(chunk));
  const { text, lineCount, stoppedBy } = lines.finish();
  const notices = endNotices(end, lineCount > 0, services);
  if (stoppedBy === 'limit') notices.push(`PARTIAL: lines ${offset + 1}-${offset + lineCount} are shown and there are more. Go on with offset ${offset + lineCount}`);
  if (stoppedBy === 'bytes') notices.push(`PARTIAL: there is more than ${services.limits.grepBytes} bytes. Narrow the pattern, path, glob or type`);
  return { mode: 'content', text, count: lineCount, notices, isPartial: notices.length > 0 };
}

async function searchEntries(search: Search, mode: 'files_with_matches' | 'count'): Promise<GrepOutput> {
  const { limit, offset, services } = search;
  const chunks: Buffer[] = [];
  let bytes = 0;
  const end = await search.run((chunk) => {
    chunks.push(chunk);
    bytes += chunk.length;
    return bytes <= services.limits.grepBytes;
  });
  const found = visibleEntries(Buffer.concat(chunks).toString(), mode, search.isHidden);
  const sorted = mode === 'count' ? found : await newestFirst(found, search.context.session.cwd, services.limits.grepSortedFiles);
  const shown = sorted.slice(offset, offset + limit);
  const notices = endNotices(end, found.length > 0, services);
  if (bytes > services.limits.grepBytes) notices.push(`PARTIAL: the list is longer than ${services.limits.grepBytes} bytes. Narrow the pattern, path, glob or type`);
  if (offset + shown.length < found.length) {
    notices.push(`PARTIAL: ${offset + 1}-${offset + shown.length} of ${found.length} are shown. Go on with offset ${offset + shown.length}`);
  }
  return { mode, text: shown.map(shownEntry).join('\n'), count: shown.length, total: found.length, notices, isPartial: notices.length > 0 };
}

/** One file, with how often it matches where that was asked. */
interface Entry {
  readonly path: string;
  readonly count?: string;
}

/** `path NUL` or `path NUL count LF`, again and again; a last one that was cut off is left out. */
function visibleEntries(output: string, mode: 'files_with_matches' | 'count', isHidden: IsHidden): readonly Entry[] {
  if (mode === 'files_with_matches') {
    return output.split('\0').slice(0, -1).filter((path) => !isHidden(path)).map((path) => ({ path }));
  }
  // A name may hold a line end, a count may not: what stands before a NUL, after the count's line end, is the name.
  return [...output.matchAll(/([^\0]*)\0(\d+)\n/g)].flatMap(([, path = '', count = '']) => (isHidden(path) ? [] : [{ path, count }]));
}

function shownEntry(entry: Entry): string {
  return entry.count === undefined ? showText(entry.path) : `${showText(entry.path)}:${entry.count}`;
}

/** A short list by age, newest first; a long one by name, since looking at every file would take longer than the search. */
async function newestFirst(entries: readonly Entry[], cwd: string, maxFiles: number): Promise<readonly Entry[]> {
  if (entries.length > maxFiles) return entries.toSorted((a, b) => (a.path < b.path ? -1 : 1));
  const aged = await Promise.all(entries.map(async (entry) => ({ entry, mtimeMs: await modifiedMs(resolve(cwd, entry.path)) })));
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

/** Ripgrep prints paths below what it was given, relative to the working directory or absolute. */
function hiddenInOutput(services: SearchToolServices, context: ToolUseContext, located: LocatedPath): IsHidden {
  const isHidden = hiddenPaths(services, context);
  const { cwd } = context.session;
  const isLinked = located.spelled !== located.real;
  return (printed) => {
    const path = resolve(cwd, printed);
    // Under a link, a rule may name either spelling.
    return isHidden(path) || (isLinked && isHidden(resolve(located.spelled, relative(located.real, path))));
  };
}

/** What to search, as ripgrep is to print it; nothing for the working directory itself. */
function searchTarget(located: LocatedPath, cwd: string): string | undefined {
  if (located.real === cwd) return undefined;
  return isInsideFolder(cwd, located.real) ? relative(cwd, located.real) : located.real;
}

async function assertExists(located: LocatedPath, spelled: string): Promise<void> {
  const stats = await lstat(located.real).catch(() => undefined);
  if (stats?.isFile() === true || stats?.isDirectory() === true) return;
  const why = stats ? 'it is neither a file nor a folder' : 'it does not exist';
  throw new GauntletError('tool_failed', `Cannot search "${spelled}": ${why}. Check the path, or leave it out to search the working directory`);
}

function endNotices(end: RipgrepEnd, hasMatches: boolean, services: SearchToolServices): string[] {
  if (end.outcome === 'partial') return [`PARTIAL: ${end.unreadable} files or folders could not be read`];
  if (end.outcome !== 'timeout') return [];
  if (hasMatches) return [`PARTIAL: the search was ended after ${services.limits.grepMs} ms. Narrow the path, glob or type`];
  throw new GauntletError('timeout', `The search was ended after ${services.limits.grepMs} ms without a match. Narrow the path, glob or type`);
}

function statusReport(everyMs: number, onProgress: ((progress: ToolProgress<GrepProgress>) => void) | undefined): (bytes: number) => void {
  let last = performance.now();
  let total = 0;
  return (bytes) => {
    total += bytes;
    if (!onProgress || performance.now() - last < everyMs) return;
    last = performance.now();
    onProgress({ data: { type: 'status', message: `${total} bytes of matches so far` } });
  };
}
