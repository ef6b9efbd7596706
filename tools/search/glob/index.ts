/** Glob: finds files by name pattern. */
import { buildTool } from '../../../src/tool/build-tool.ts';
import { shownAbsolute } from '../../../src/files/spelling.ts';
import type { SearchToolServices } from '../services.ts';
import { globPrompt } from './prompt.ts';
import { globResult, renderGlob, renderGlobError, renderGlobRejected, renderGlobResult } from './render.ts';
import { type GlobOutput, globPaths, runGlob, validateGlob } from './run.ts';
import { GlobInput } from './schema.ts';

/** Make Glob. */
export function globTool(services: SearchToolServices) {
  const { limits } = services;
  return buildTool({
    name: 'Glob',
    searchHint: 'find files by name pattern',
    alwaysLoad: true,
    inputSchema: GlobInput,
    maxResultSizeChars: 100_000,
    prompt: () => globPrompt(limits),
    description: (input) => `Find files ${input.pattern}`,
    validateInput: (input) => validateGlob(input, limits.globAlternatives),
    isReadOnly: () => true,
    isConcurrencySafe: () => true,
    paths: (input) => globPaths(input, limits.globAlternatives),
    backfillObservableInput: shownAbsolute('path'),
    toAutoClassifierInput: (input) => `${input.pattern} in ${input.path ?? '.'}`,
    isSearchOrReadCommand: () => ({ isSearch: true, isRead: false }),
    interruptBehavior: () => 'cancel',
    call: (input, context) => runGlob(services, input, context),
    mapToolResultToToolResultBlockParam: globResult,
    isResultTruncated: (output: GlobOutput) => output.isIncomplete || output.total > output.paths.length,
    getToolUseSummary: (input) => input.pattern ?? '',
    getActivityDescription: (input) => `Finding ${input.pattern ?? 'files'}`,
    renderToolUseMessage: renderGlob,
    renderToolResultMessage: (output: GlobOutput, _progress, { style }) => renderGlobResult(output, style),
    renderToolUseRejectedMessage: renderGlobRejected,
    renderToolUseErrorMessage: renderGlobError,
  });
}
