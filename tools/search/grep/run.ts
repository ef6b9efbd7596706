/** Implementation of Grep: runs ripgrep, filters the results, and reports what is missing. */
import { lstatSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import { isInsideFolder } from '../../../config/containment.ts';
import { GauntletError } from '../../../src/base/errors.ts';
import { createPace } from '../../../src/base/pace.ts';
import { judgedPath } from '../../../src/files/judged-path.ts';
import { unsettledPaths } from '../../../src/files/unsettled-paths.ts';
import { sessionPlace } from '../../../src/process/jail/session-place.ts';
import type { LocatedPath } from '../../../src/tool/located-path.ts';
import { PROGRESS_MS, type ToolProgress, type ToolResult, type ToolUseContext } from '../../../src/tool/tool.ts';
import { hiddenPaths, type IsHidden } from '../hidden-paths.ts';
import type { SearchToolServices } from '../services.ts';
import { searchEntries, searchLines } from './collect.ts';
import { descriptorArguments, outputMode, ripgrepArguments } from './rg-arguments.ts';
import { type RipgrepEnd, type RipgrepRun, runRipgrep } from './ripgrep.ts';
import type { GrepArguments } from './schema.ts';
import { GREP_BOUNDS, type GrepBounds, type GrepOutput, type Search } from './search.ts';

/** Progress of a long search. */
export interface GrepProgress {
  readonly type: 'status';
  readonly message: string;
}

/** Run Grep. */
export async function runGrep(
  services: SearchToolServices,
  input: GrepArguments,
  context: ToolUseContext,
  onProgress?: (progress: ToolProgress<GrepProgress>) => void,
  bounds: GrepBounds = GREP_BOUNDS,
): Promise<ToolResult<GrepOutput>> {
  const begunMs = Date.now();
  const located = await judgedPath(services.locate, context, { path: input.path ?? '.', access: 'read' });
  assertSearchable(located, input.path ?? '.');
  const headLimit = input.head_limit ?? bounds.results;
  const { cwd } = context.session;
  const absolute = absoluteIn(cwd);
  const run = runs(services, context, {
    timeMs: bounds.timeMs,
    isInside: located.isInside || located.isSessionFile,
    onProgress,
  });
  const search: Search = {
    input,
    bounds,
    cwd,
    isHidden: hiddenInOutput(services, context, located),
    limit: headLimit === 0 ? Infinity : headLimit,
    offset: input.offset ?? 0,
    run: (onOutput) => run({ args: ripgrepArguments(input, searchTarget(located, cwd)), onOutput }),
    possiblyMoved(names) {
      const unsettled = new Set(
        unsettledPaths(names.map(absolute), begunMs - bounds.kernelClockLagMs, bounds.serverClockLagMs),
      );
      return unsettled.size === 0 ? [] : names.filter((name) => unsettled.has(absolute(name)));
    },
    runOnFiles: (names, onOutput) =>
      run({ args: descriptorArguments(input, names.length), files: names.map(absolute), onOutput }),
  };
  const mode = outputMode(input);
  return { data: mode === 'content' ? await searchLines(search) : await searchEntries(search, mode) };
}

/** Create a function that runs ripgrep for one call; all runs share its time limit and progress. */
function runs(
  { processHost, jail }: SearchToolServices,
  context: ToolUseContext,
  {
    timeMs,
    isInside,
    onProgress,
  }: {
    readonly timeMs: number;
    readonly isInside: boolean;
    onProgress?: (progress: ToolProgress<GrepProgress>) => void;
  },
) {
  const { session, signal } = context;
  /** The jail gives no access outside the working directories, where a search was explicitly allowed. */
  const held = (run: (held: Pick<RipgrepRun, 'jail'>) => Promise<RipgrepEnd>) =>
    isInside && jail ? jail.withProgram(sessionPlace(context), run) : run({});
  const isDue = createPace(PROGRESS_MS);
  const deadlineMs = performance.now() + timeMs;
  let outputBytes = 0;
  const runOnce = ({ onOutput, ...run }: Pick<RipgrepRun, 'args' | 'files' | 'onOutput' | 'jail'>) =>
    runRipgrep({
      processHost,
      cwd: session.cwd,
      signal,
      timeoutMs: Math.max(0, deadlineMs - performance.now()),
      maxErrorBytes: GREP_BOUNDS.errorBytes,
      onOutput(chunk) {
        outputBytes += chunk.length;
        const message = `${outputBytes} bytes of matches so far`;
        if (onProgress && isDue()) onProgress({ data: { type: 'status', message } });
        return onOutput(chunk);
      },
      ...run,
    });
  return (run: Pick<RipgrepRun, 'args' | 'files' | 'onOutput'>) => held((jailed) => runOnce({ ...run, ...jailed }));
}

/** Create the filter for paths that ripgrep prints: relative to the working directory or absolute. */
function hiddenInOutput(services: SearchToolServices, context: ToolUseContext, located: LocatedPath): IsHidden {
  const isHidden = hiddenPaths(services, context);
  const isLinked = located.spelled !== located.real;
  const absolute = absoluteIn(context.session.cwd);
  return (printed) => {
    const path = absolute(printed);
    // Below a link, a rule may use either spelling.
    return isHidden(path) || (isLinked && isHidden(resolve(located.spelled, relative(located.real, path))));
  };
}

/**
 * Create a function that makes printed paths absolute. It is called for every matching file; these paths are already
 * normalised.
 */
function absoluteIn(cwd: string): (printed: string) => string {
  const folder = cwd.endsWith('/') ? cwd : `${cwd}/`;
  return (printed) => (printed.startsWith('/') ? printed : folder + printed);
}

/** Return the search target in the form ripgrep should print; undefined for the working directory itself. */
function searchTarget(located: LocatedPath, cwd: string): string | undefined {
  if (located.real === cwd) return undefined;
  return isInsideFolder(cwd, located.real) ? relative(cwd, located.real) : located.real;
}

/** Refuse a target that is neither a file nor a folder. @throws {GauntletError} `tool_failed` */
function assertSearchable(located: LocatedPath, spelled: string): void {
  const stats = lstatSync(located.real, { throwIfNoEntry: false });
  if (stats?.isFile() === true || stats?.isDirectory() === true) return;
  const why = stats ? 'it is neither a file nor a folder' : 'it does not exist';
  throw new GauntletError('tool_failed', `Cannot search "${spelled}": ${why}. Check the path, or leave it out`);
}
