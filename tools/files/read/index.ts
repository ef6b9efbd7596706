/** Read: shows a file to the model. */
import { buildTool } from '../../../src/tool/build-tool.ts';
import { shownAbsolute } from '../../../src/files/spelling.ts';
import { TOOL_ALIASES } from '../../../src/permissions/rule-names.ts';
import type { FileToolServices } from '../services.ts';
import type { ReadOutput } from './output.ts';
import { readPrompt } from './prompt.ts';
import { readResult, renderRead, renderReadError, renderReadRejected, renderReadResult } from './render.ts';
import { runRead } from './run.ts';
import { ReadInput } from './schema.ts';

/** Make Read. */
export function readTool(services: FileToolServices) {
  return buildTool({
    name: 'Read',
    aliases: TOOL_ALIASES.Read,
    searchHint: 'show a file: text, image, PDF, notebook',
    alwaysLoad: true,
    inputSchema: ReadInput,
    maxResultSizeChars: Infinity,
    prompt: () => readPrompt(services.limits),
    description: (input) => `Read ${input.file_path}`,
    isReadOnly: () => true,
    isConcurrencySafe: () => true,
    paths: (input) => [{ path: input.file_path, access: 'read' }],
    backfillObservableInput: shownAbsolute('file_path'),
    toAutoClassifierInput: (input) => input.file_path,
    isSearchOrReadCommand: () => ({ isSearch: false, isRead: true }),
    interruptBehavior: () => 'cancel',
    call: (input, context, _canUseTool, _parentMessage, onProgress) => runRead(services, input, context, onProgress),
    mapToolResultToToolResultBlockParam: readResult,
    isResultTruncated: (output: ReadOutput) => output.isPartial,
    getToolUseSummary: (input) => input.file_path ?? '',
    getActivityDescription: (input) => `Reading ${input.file_path ?? 'a file'}`,
    renderToolUseMessage: renderRead,
    renderToolResultMessage: (output: ReadOutput, _progress, { style }) =>
      renderReadResult(output, style, services.limits),
    renderToolUseRejectedMessage: renderReadRejected,
    renderToolUseErrorMessage: renderReadError,
  });
}
