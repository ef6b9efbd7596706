/**
 * Grep: hand the pattern to ripgrep, take what may be shown, say what is missing.
 */
import type { ToolProgress, ToolResult, ToolUseContext } from '../../../src/contract/tool.ts';
import { judgedPath } from '../../../src/files/judged-path.ts';
import { createPace } from '../../../src/files/pace.ts';
import type { SearchToolServices } from '../services.ts';
import { type Search, searchEntries, searchLines } from './collect.ts';
import type { GrepOutput } from './output.ts';
import { outputMode, ripgrepArguments } from './rg-arguments.ts';
import { runRipgrep } from './ripgrep.ts';
import type { GrepArguments } from './schema.ts';
import { assertSearchable, hiddenInOutput, searchTarget } from './target.ts';

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
  const located = await judgedPath(services.locate, context, { path: input.path ?? '.', access: 'read' });
  assertSearchable(located, input.path ?? '.');
  const { limits } = services;
  const headLimit = input.head_limit ?? limits.grepResults;
  const { cwd } = context.session;
  const isDue = createPace(limits.progressMs);
  let outputBytes = 0;
  const search: Search = {
    input,
    limits,
    cwd,
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
          outputBytes += chunk.length;
          const message = `${outputBytes} bytes of matches so far`;
          if (onProgress && isDue()) onProgress({ data: { type: 'status', message } });
          return onOutput(chunk);
        },
      }),
  };
  const mode = outputMode(input);
  return { data: mode === 'content' ? await searchLines(search) : await searchEntries(search, mode) };
}
