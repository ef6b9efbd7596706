/** Write: creates a file, or overwrites one that was read. */
import { buildTool } from '../../../src/tool/build-tool.ts';
import { shownAbsolute } from '../../../src/files/spelling.ts';
import { TOOL_ALIASES } from '../../../src/permissions/rule-names.ts';
import type { FileToolServices } from '../services.ts';
import { WRITE_PROMPT } from './prompt.ts';
import { renderWrite, renderWriteError, renderWriteRejected, renderWriteResult, writeResult } from './render.ts';
import { runWrite, validateWrite, type WriteOutput } from './run.ts';
import { WriteInput } from './schema.ts';

/** Make Write. */
export function writeTool(services: FileToolServices) {
  const { limits } = services;
  return buildTool({
    name: 'Write',
    aliases: TOOL_ALIASES.Write,
    searchHint: 'create a file or overwrite it whole',
    alwaysLoad: true,
    isFileEdit: true,
    inputSchema: WriteInput,
    maxResultSizeChars: 100_000,
    prompt: () => WRITE_PROMPT,
    description: (input) => `Write ${input.file_path}`,
    validateInput: (input, context) => validateWrite(services, input, context),
    paths: (input) => [{ path: input.file_path, access: 'write' }],
    backfillObservableInput: shownAbsolute('file_path'),
    toAutoClassifierInput: (input) => `${input.file_path}: ${input.content}`,
    call: (input, context) => runWrite(services, input, context),
    mapToolResultToToolResultBlockParam: (output: WriteOutput, toolUseId) => writeResult(output, toolUseId, limits),
    toHookResponse: ({ path, ...output }: WriteOutput) => ({ filePath: path, success: true, ...output }),
    getToolUseSummary: (input) => input.file_path ?? '',
    getActivityDescription: (input) => `Writing ${input.file_path ?? 'a file'}`,
    renderToolUseMessage: (input) => renderWrite(input, limits),
    renderToolResultMessage: (output: WriteOutput, _progress, { style }) => renderWriteResult(output, style),
    renderToolUseRejectedMessage: (input, message) => renderWriteRejected(input, message, limits),
    renderToolUseErrorMessage: renderWriteError,
  });
}
