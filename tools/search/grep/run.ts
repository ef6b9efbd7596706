/**
 * Grep: hand the pattern to ripgrep, take what may be shown, say what is missing.
 */
import type { ToolProgress, ToolResult, ToolUseContext } from '../../../src/tool/tool.ts';
import { judgedPath } from '../../../src/files/judged-path.ts';
import { createPace } from '../../../src/base/pace.ts';
import { unsettledPaths } from '../../../src/files/unsettled-paths.ts';
import { sessionPlace } from '../../../src/process/jail/session-place.ts';
import type { SearchToolServices } from '../services.ts';
import { searchEntries, searchLines } from './collect.ts';
import type { GrepOutput } from './output.ts';
import { descriptorArguments, outputMode, ripgrepArguments } from './rg-arguments.ts';
import { type RipgrepEnd, type RipgrepRun, runRipgrep } from './ripgrep.ts';
import type { GrepArguments } from './schema.ts';
import type { Search } from './search.ts';
import { absoluteIn, assertSearchable, hiddenInOutput, searchTarget } from './target.ts';

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
): Promise<ToolResult<GrepOutput>> {
  const { limits } = services;
  const begunMs = Date.now();
  const located = await judgedPath(services.locate, context, { path: input.path ?? '.', access: 'read' });
  assertSearchable(located, input.path ?? '.');
  const headLimit = input.head_limit ?? limits.grepResults;
  const { cwd } = context.session;
  const absolute = absoluteIn(cwd);
  const run = runs(services, context, { isInside: located.isInside || located.isSessionFile, onProgress });
  const search: Search = {
    input,
    limits,
    cwd,
    isHidden: hiddenInOutput(services, context, located),
    limit: headLimit === 0 ? Infinity : headLimit,
    offset: input.offset ?? 0,
    run: (onOutput) => run({ args: ripgrepArguments(input, searchTarget(located, cwd), limits), onOutput }),
    inDoubt(names) {
      const unsettled = new Set(
        unsettledPaths(names.map(absolute), begunMs - limits.kernelClockLagMs, limits.serverClockLagMs),
      );
      return unsettled.size === 0 ? [] : names.filter((name) => unsettled.has(absolute(name)));
    },
    runOver: (names, onOutput) =>
      run({ args: descriptorArguments(input, names.length, limits), files: names.map(absolute), onOutput }),
  };
  const mode = outputMode(input);
  return { data: mode === 'content' ? await searchLines(search) : await searchEntries(search, mode) };
}

/** Runs of ripgrep for one call: they share its time, and tell how far they are. */
function runs(
  { processHost, limits, jail }: SearchToolServices,
  context: ToolUseContext,
  { isInside, onProgress }: { readonly isInside: boolean; onProgress?: (progress: ToolProgress<GrepProgress>) => void },
) {
  const { session, signal } = context;
  /** What lies outside was allowed, and no jail opens it. */
  const held = (run: (held: Pick<RipgrepRun, 'jail'>) => Promise<RipgrepEnd>) =>
    isInside && jail ? jail.withProgram(sessionPlace(context), run) : run({});
  const isDue = createPace(limits.progressMs);
  const deadlineMs = performance.now() + limits.grepMs;
  let outputBytes = 0;
  const runOnce = ({ onOutput, ...run }: Pick<RipgrepRun, 'args' | 'files' | 'onOutput' | 'jail'>) =>
    runRipgrep({
      processHost,
      cwd: session.cwd,
      signal,
      timeoutMs: Math.max(0, deadlineMs - performance.now()),
      maxErrorBytes: limits.grepErrorBytes,
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
