/** Edit: replaces exact text in a file that was read. */
import { showValue } from '../../../src/base/hidden-characters.ts';
import { shownAbsolute } from '../../../src/files/spelling.ts';
import { diffHunks, formatHunks } from '../../../src/files/text-diff.ts';
import { TOOL_ALIASES } from '../../../src/permissions/rule-names.ts';
import { buildTool } from '../../../src/tool/build-tool.ts';
import type { ToolResultBlock } from '../../../src/wire/blocks.ts';
import type { Display, DisplayBlock } from '../../../src/wire/display.ts';
import { drawChange } from '../draw-change.ts';
import type { FileToolServices } from '../services.ts';
import { type EditOutput, runEdit, validateEdit } from './run.ts';
import { type EditArguments, EditInput } from './schema.ts';

/** Prompt of Edit. */
const EDIT_PROMPT = `Replaces exact text in a file.

- Read the file with Read first, in this session; an edit of a file that was not read, or that changed since, is refused.
- \`old_string\` must match the file exactly, blanks and indentation included. Read shows each line as its number, a tab, its text: copy only what follows the tab, never the number or the tab.
- \`old_string\` must occur exactly once; if it does not, the edit is refused and says how often it occurs. Give more of the surrounding lines to make it unique, or set \`replace_all\` to change every occurrence, as when renaming.
- \`new_string\` must differ from \`old_string\`. An empty \`new_string\` deletes.
- An empty \`old_string\` creates a new file with \`new_string\` as its content; the file must not exist.
- Byte order mark, line ends and mode of the file are kept: write \\n, also for files with Windows line ends.
- Prefer editing existing files to writing new ones.
- The answer shows what changed as a diff.`;

/** Create Edit. */
export function editTool(services: FileToolServices) {
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
    mapToolResultToToolResultBlockParam: editResult,
    toHookResponse: ({ path, ...output }: EditOutput) => ({ filePath: path, success: true, ...output }),
    getToolUseSummary: (input) => input.file_path ?? '',
    getActivityDescription: (input) => `Editing ${input.file_path ?? 'a file'}`,
    renderToolUseMessage: renderEdit,
    renderToolResultMessage: (output: EditOutput, _progress, { style }) => renderEditResult(output, style),
    renderToolUseRejectedMessage: renderEditRejected,
    renderToolUseErrorMessage: renderEditError,
  });
}

/** Display the request as far as the input has arrived; line numbers are relative to the strings. */
function renderEdit(input: Partial<EditArguments>): Display {
  const title = `${input.old_string === '' ? 'Create' : 'Edit'} ${showValue(input.file_path, '…')}`;
  const subtitle = input.replace_all === true ? { subtitle: 'every occurrence' } : {};
  return {
    title,
    ...subtitle,
    tone: 'warning',
    blocks: intendedDiff(input),
    group: { key: 'edit', title: 'Edit files' },
  };
}

/** Display the result. */
function renderEditResult(output: EditOutput, style: 'condensed' | undefined): Display {
  return drawChange(output.isNew ? 'Created' : 'Edited', output, style);
}

/** Display a call that was denied. */
function renderEditRejected(input: Partial<EditArguments>, message: string): Display {
  return {
    title: `Did not edit ${showValue(input.file_path, 'the file')}`,
    tone: 'warning',
    blocks: [{ kind: 'text', text: message }, ...intendedDiff(input)],
  };
}

/** Display a call that failed. */
function renderEditError(message: string, input: Partial<EditArguments>): Display {
  return {
    title: `Could not edit ${showValue(input.file_path, 'the file')}`,
    tone: 'danger',
    blocks: [{ kind: 'text', text: message }],
  };
}

/** Format the result for the model. */
function editResult(output: EditOutput, toolUseId: string): ToolResultBlock {
  const what = output.isNew ? 'Created' : 'Edited';
  const often = output.replacements > 1 ? ` (${output.replacements} replacements)` : '';
  const diff = output.isNew ? '' : `\n${formatHunks(output.hunks)}`;
  return { type: 'tool_result', tool_use_id: toolUseId, content: `${what} "${output.path}"${often}${diff}` };
}

/** A part of a line is drawn as a line: that no line feed follows it says nothing of the file. */
function wholeLines(part: string): string {
  return part === '' || part.endsWith('\n') ? part : `${part}\n`;
}

function intendedDiff(input: Partial<EditArguments>): readonly DisplayBlock[] {
  const { file_path, old_string, new_string } = input;
  if (typeof old_string !== 'string' || typeof new_string !== 'string') return [];
  const hunks = diffHunks(wholeLines(old_string), wholeLines(new_string));
  return hunks.length === 0 ? [] : [{ kind: 'diff', path: typeof file_path === 'string' ? file_path : '', hunks }];
}
