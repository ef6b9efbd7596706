/** Implementation of Glob: walks the folders of the pattern and returns visible matches, newest first. */
import { lstatSync } from 'node:fs';
import { isAbsolute, join, relative } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { GauntletError } from '../../../src/base/errors.ts';
import { type GlobPattern, parseGlob } from '../../../src/base/glob-pattern.ts';
import { judgedPath } from '../../../src/files/judged-path.ts';
import { type WalkEnd, walkFiles } from '../../../src/files/walk.ts';
import type { LocatedPath, PathUse } from '../../../src/tool/located-path.ts';
import type { ToolResult, ToolUseContext, ValidationResult } from '../../../src/tool/tool.ts';
import { hiddenPaths, type IsHidden, shownPath } from '../hidden-paths.ts';
import type { SearchToolServices } from '../services.ts';
import type { GlobArguments } from './schema.ts';

/** Output of Glob. */
export interface GlobOutput {
  /** Pattern as requested. */
  readonly pattern: string;
  /** Relative to the working directory if inside, else absolute; newest first. */
  readonly paths: readonly string[];
  /** Total number of matches found. */
  readonly total: number;
  /** True if the walk was given up, so there may be more matches. */
  readonly isIncomplete: boolean;
}

/** State shared by all walks of one call. */
interface Search {
  readonly maxNames: number;
  readonly isHidden: IsHidden;
  /** Aborts with the call, or after its time limit. */
  readonly signal: AbortSignal;
  /** Set by a walk that was given up. */
  readonly end: WalkEnd;
}

/** Files that are shown: a model that needs more narrows its pattern. */
export const MAX_RESULTS = 100;

/** Names looked at in one walk. */
export const MAX_NAMES = 500_000;

/** Matching files that are sorted by age; the walk ends with more. */
const MAX_MATCHES = 50_000;

/** Time for one walk; then the result is partial and a narrower pattern is suggested. */
const WALK_MS = 30_000;

/** Patterns that the braces of one pattern may expand to. */
const MAX_ALTERNATIVES = 1_000;

/** An ignore file larger than this is not read. */
const MAX_IGNORE_FILE_BYTES = 256 * 1_024;

/** Files looked at before other work gets its turn. */
const FILES_A_TURN = 500;

/** List the folders that a call reads. Never throws: validation refuses an invalid pattern first. */
export function globPaths(input: GlobArguments): readonly PathUse[] {
  try {
    return searchRoots(input).map(({ path }) => ({ path, access: 'read' }));
  } catch {
    // `validateGlob` reports the error; the path gate treats it as a search of its folder.
    return [{ path: input.path ?? '.', access: 'read' }];
  }
}

/** Refuse an invalid pattern. */
export function validateGlob(input: GlobArguments): ValidationResult {
  try {
    searchRoots(input);
    return { result: true };
  } catch (error) {
    return { result: false, message: unusable(input, error).message };
  }
}

/** Run Glob. */
export async function runGlob(
  services: SearchToolServices,
  input: GlobArguments,
  context: ToolUseContext,
  maxNames: number,
): Promise<ToolResult<GlobOutput>> {
  const isHidden = hiddenPaths(services, context);
  const deadline = AbortSignal.any([context.signal, AbortSignal.timeout(WALK_MS)]);
  const end: WalkEnd = { isIncomplete: false };
  const search: Search = { maxNames, isHidden, signal: deadline, end };
  const found = new Set<string>();
  for (const [index, root] of rootsOf(input).entries()) {
    const located = await judgedPath(services.locate, context, { path: root.path, access: 'read' }, index);
    const stats = lstatSync(located.real, { throwIfNoEntry: false });
    if (stats?.isDirectory() !== true) {
      // A missing folder that only the pattern names has no matches; an explicitly requested one is an error.
      if (root.path === input.path) throw notFolder(root.path, stats !== undefined);
      continue;
    }
    for await (const path of matchesBelow(root, located, search)) {
      if (found.size >= MAX_MATCHES) {
        end.isIncomplete = true;
        break;
      }
      found.add(path);
    }
  }
  context.signal.throwIfAborted();
  if (deadline.aborted) end.isIncomplete = true;
  const newest = await newestFirst([...found], context.signal);
  const shown = await stillReachable(newest, services, context);
  const { pattern } = input;
  return { data: { pattern, paths: shown, total: found.size, isIncomplete: end.isIncomplete } };
}

function rootsOf(input: GlobArguments): readonly SearchRoot[] {
  try {
    return searchRoots(input);
  } catch (error) {
    throw unusable(input, error);
  }
}

async function* matchesBelow(
  root: SearchRoot,
  located: LocatedPath,
  { maxNames, isHidden, signal, end }: Search,
): AsyncGenerator<string> {
  const walk = {
    depth: Math.max(...root.patterns.map((pattern) => pattern.depth)),
    maxNames,
    maxIgnoreFileBytes: MAX_IGNORE_FILE_BYTES,
    signal,
    isHidden,
  };
  for await (const path of walkFiles(located.real, walk, end)) {
    const names = path.split('/');
    if (!root.patterns.some((pattern) => pattern.matches(names))) continue;
    const real = join(located.real, path);
    // Below a link, a rule may use either spelling.
    if (!isHidden(real) && (located.real === located.spelled || !isHidden(join(located.spelled, path)))) yield real;
  }
}

async function newestFirst(paths: readonly string[], signal: AbortSignal): Promise<readonly string[]> {
  const aged: { readonly path: string; readonly mtimeMs: number }[] = [];
  for (const [index, path] of paths.entries()) {
    if (index % FILES_A_TURN === FILES_A_TURN - 1) {
      await nextTurn();
      signal.throwIfAborted();
    }
    aged.push({ path, mtimeMs: lstatSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0 });
  }
  return aged.sort((a, b) => b.mtimeMs - a.mtimeMs || (a.path < b.path ? -1 : 1)).map(({ path }) => path);
}

/** Keep only shown paths that still lead to the same place: a folder may have become a link meanwhile. */
async function stillReachable(
  newest: readonly string[],
  services: SearchToolServices,
  context: ToolUseContext,
): Promise<readonly string[]> {
  const shown: string[] = [];
  for (const path of newest.slice(0, MAX_RESULTS)) {
    const located = await services.locate({ path, access: 'read' }, context);
    if (located.refusal === undefined && relative(located.real, path) === '')
      shown.push(shownPath(path, context.session.cwd));
  }
  return shown;
}

function notFolder(path: string, isThere: boolean): GauntletError {
  const why = isThere ? 'it is not a folder' : 'it does not exist';
  return new GauntletError(
    'tool_failed',
    `Cannot search "${path}": ${why}. Leave path out to search the working directory`,
  );
}

function unusable(input: GlobArguments, error: unknown): GauntletError {
  const why = error instanceof Error ? error.message : 'it cannot be read';
  return new GauntletError('tool_failed', `Cannot search for "${input.pattern}": ${why}. Use a simpler pattern`);
}

/** A folder to walk, with the patterns to match below it. */
interface SearchRoot {
  /** As spelled: relative to the working directory, absolute, or below `~`. */
  readonly path: string;
  readonly patterns: readonly GlobPattern[];
}

/**
 * List the folders that a pattern names, each once, in a fixed order.
 *
 * @throws {RangeError} If the pattern has too many alternatives, or climbs after a wildcard.
 */
function searchRoots(input: GlobArguments): readonly SearchRoot[] {
  const roots = new Map<string, GlobPattern[]>();
  for (const pattern of parseGlob(input.pattern, MAX_ALTERNATIVES)) {
    const path = rootPath(input.path ?? '.', pattern.base);
    roots.set(path, [...(roots.get(path) ?? []), pattern]);
  }
  return [...roots].map(([path, patterns]) => ({ path, patterns }));
}

function rootPath(path: string, base: string): string {
  if (base === '') return path;
  return isAbsolute(base) || /^~(?:\/|$)/.test(base) ? base : `${path}/${base}`;
}
