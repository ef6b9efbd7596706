/** NotebookEdit: changes, adds or removes a cell of a Jupyter notebook. */
import { showText, showValue } from '../../../src/base/hidden-characters.ts';
import { shownAbsolute } from '../../../src/files/spelling.ts';
import { formatHunks } from '../../../src/files/text-diff.ts';
import { buildTool } from '../../../src/tool/build-tool.ts';
import type { ToolResultBlock } from '../../../src/wire/blocks.ts';
import type { Display, DisplayBlock } from '../../../src/wire/display.ts';
import { drawFailure } from '../../../src/tool/draw-failure.ts';
import { drawChange } from '../draw-change.ts';
import type { FileToolServices } from '../services.ts';
import { type NotebookEditOutput, runNotebookEdit, validateNotebookEdit } from './run.ts';
import { type NotebookEditArguments, NotebookEditInput } from './schema.ts';

const PROMPT = `Replaces, inserts or deletes one cell of a Jupyter notebook (.ipynb).

- Read the notebook with Read first, in this session: it shows each cell with its id. A notebook that was not read, or that changed since, is refused.
- "replace" puts new_source in place of the whole source of the cell. The outputs of a code cell are cleared, since they were those of the old source.
- "insert" adds a cell behind cell_id, or as the first one without it; cell_type is needed. "delete" removes the cell.
- In notebooks without ids a cell is named "cell-0", "cell-1" and so on by its place; places move when cells are inserted or deleted.
- All other cells stay byte for byte as they are. It runs nothing. For other files use Edit.`;

const DONE = { replace: 'Replaced', insert: 'Inserted', delete: 'Deleted' } as const;
const TITLES = { replace: 'Replace a cell of', insert: 'Insert a cell into', delete: 'Delete a cell of' } as const;

/** Make NotebookEdit. */
export function notebookEditTool(services: FileToolServices) {
  return buildTool({
    name: 'NotebookEdit',
    searchHint: 'change, insert or delete a Jupyter notebook cell',
    shouldDefer: true,
    isFileEdit: true,
    inputSchema: NotebookEditInput,
    maxResultSizeChars: 100_000,
    prompt: () => PROMPT,
    description: (input) => `Edit ${input.notebook_path}`,
    validateInput: (input, context) => validateNotebookEdit(services, input, context),
    paths: (input) => [{ path: input.notebook_path, access: 'write' }],
    backfillObservableInput: shownAbsolute('notebook_path'),
    toAutoClassifierInput: (input) => `${input.notebook_path}: ${input.new_source}`,
    call: (input, context) => runNotebookEdit(services, input, context),
    mapToolResultToToolResultBlockParam: (output: NotebookEditOutput, toolUseId) => resultOf(output, toolUseId),
    getToolUseSummary: (input) => input.notebook_path ?? '',
    getActivityDescription: (input) => `Editing ${input.notebook_path ?? 'a notebook'}`,
    renderToolUseMessage: renderNotebookEdit,
    renderToolResultMessage: (output: NotebookEditOutput, _progress, { style }): Display =>
      drawChange(`${DONE[output.mode]} cell ${showText(output.cellId)} of`, output, style),
    renderToolUseRejectedMessage: (input, message): Display => ({
      title: `Did not edit ${showValue(input.notebook_path, 'the notebook')}`,
      tone: 'warning',
      blocks: [{ kind: 'text', text: message }, ...sourceBlocks(input)],
    }),
    renderToolUseErrorMessage: (message, input) =>
      drawFailure(`Could not edit ${showValue(input.notebook_path, 'the notebook')}`, message),
    renderGroupedToolUse: () => ({ key: 'edit', title: 'Edit files' }),
  });
}

function resultOf({ path, mode, cellId, cellType, hunks }: NotebookEditOutput, toolUseId: string): ToolResultBlock {
  const first = `${DONE[mode]} ${cellType} cell "${cellId}" ${mode === 'insert' ? 'into' : 'of'} "${path}"`;
  const diff = mode === 'replace' && hunks.length > 0 ? `\n${formatHunks(hunks)}` : '';
  return { type: 'tool_result', tool_use_id: toolUseId, content: `${first}${diff}` };
}

function renderNotebookEdit(input: Partial<NotebookEditArguments>): Display {
  const title = TITLES[input.edit_mode ?? 'replace'] ?? TITLES.replace;
  return {
    title: `${title} ${showValue(input.notebook_path, '…')}`,
    ...(typeof input.cell_id === 'string' && { subtitle: showText(input.cell_id) }),
    tone: 'warning',
    blocks: sourceBlocks(input),
  };
}

function sourceBlocks(input: Partial<NotebookEditArguments>): readonly DisplayBlock[] {
  if (typeof input.new_source !== 'string' || input.edit_mode === 'delete') return [];
  const language = input.cell_type === 'markdown' ? { language: 'markdown' } : {};
  return [{ kind: 'code', text: input.new_source, ...language }];
}
