/** Edit: replaces exact text in a file that was read. */
import { buildTool } from '../../../src/tool/build-tool.ts';
import { shownAbsolute } from '../../../src/files/spelling.ts';
import { TOOL_ALIASES } from '../../../src/permissions/rule-names.ts';
import type { FileToolServices } from '../services.ts';
import { EDIT_PROMPT } from './prompt.ts';
import { editResult, renderEdit, renderEditError, renderEditRejected, renderEditResult } from './render.ts';
import { type EditOutput, runEdit, validateEdit } from './run.ts';
import { EditInput } from './schema.ts';

/** Make Edit. */
export function editTool(services: FileToolServices) {
  const { limits } = services;
  return buildTool({
    name: 'Edit',
    aliases: TOOL_ALIASES.Edit,
    searchHint: 'change a file by replacing exact text',
    alwaysLoad: true,
    isFileEdit: true,
    inputSchema: EditInput,
    maxResultSizeChars: 100_000,
    prompt: () => EDIT_PROMPT,
    description: (input) => `Edit ${input.file_path}`,
    validateInput: (input, context) => validateEdit(services, input, context),
    paths: (input) => [{ path: input.file_path, access: 'write' }],
    backfillObservableInput: shownAbsolute('file_path'),
    toAutoClassifierInput: (input) => `${input.file_path}: ${input.new_string}`,
    call: (input, context) => runEdit(services, input, context),
    mapToolResultToToolResultBlockParam: (output: EditOutput, toolUseId) => editResult(output, toolUseId, limits),
    toHookResponse: ({ path, ...output }: EditOutput) => ({ filePath: path, success: true, ...output }),
    getToolUseSummary: (input) => input.file_path ?? '',
    getActivityDescription: (input) => `Editing ${input.file_path ?? 'a file'}`,
    renderToolUseMessage: (input) => renderEdit(input, limits),
    renderToolResultMessage: (output: EditOutput, _progress, { style }) => renderEditResult(output, style),
    renderToolUseRejectedMessage: (input, message) => renderEditRejected(input, message, limits),
    renderToolUseErrorMessage: renderEditError,
  });
}
