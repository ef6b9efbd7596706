/** Grep: searches file contents. */
import { buildTool } from '../../../src/tool/build-tool.ts';
import { shownAbsolute } from '../../../src/files/spelling.ts';
import type { SearchToolServices } from '../services.ts';
import { grepPrompt } from './prompt.ts';
import { grepResult, renderGrep, renderGrepError, renderGrepRejected, renderGrepResult } from './render.ts';
import type { GrepOutput } from './output.ts';
import { runGrep } from './run.ts';
import { GrepInput } from './schema.ts';

/** Make Grep. */
export function grepTool(services: SearchToolServices) {
  return buildTool({
    name: 'Grep',
    searchHint: 'search file contents by regular expression',
    alwaysLoad: true,
    inputSchema: GrepInput,
    maxResultSizeChars: 20_000,
    prompt: () => grepPrompt(services.limits),
    description: (input) => `Search for ${input.pattern}`,
    isReadOnly: () => true,
    isConcurrencySafe: () => true,
    paths: (input) => [{ path: input.path ?? '.', access: 'read' }],
    backfillObservableInput: shownAbsolute('path'),
    toAutoClassifierInput: (input) => `${input.pattern} in ${input.path ?? '.'}`,
    isSearchOrReadCommand: () => ({ isSearch: true, isRead: false }),
    interruptBehavior: () => 'cancel',
    call: (input, context, _canUseTool, _parentMessage, onProgress) => runGrep(services, input, context, onProgress),
    mapToolResultToToolResultBlockParam: grepResult,
    isResultTruncated: (output: GrepOutput) => output.isPartial,
    getToolUseSummary: (input) => input.pattern ?? '',
    getActivityDescription: (input) => `Searching for ${input.pattern ?? 'text'}`,
    renderToolUseMessage: renderGrep,
    renderToolResultMessage: (output: GrepOutput, _progress, { style }) =>
      renderGrepResult(output, style, services.limits),
    renderToolUseRejectedMessage: renderGrepRejected,
    renderToolUseErrorMessage: renderGrepError,
  });
}
