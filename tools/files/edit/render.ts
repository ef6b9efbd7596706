/** Edit, drawn as data. */
import type { ToolResultBlock } from '../../../src/wire/blocks.ts';
import type { Display, DisplayBlock } from '../../../src/wire/display.ts';
import { showValue } from '../../../src/base/hidden-characters.ts';
import { diffHunks, formatHunks } from '../../../src/files/text-diff.ts';
import type { Limits } from '../../../config/limits.ts';
import { drawChange } from '../draw-change.ts';
import type { EditOutput } from './run.ts';
import type { EditArguments } from './schema.ts';

/** What will change, as far as the input has come; line numbers are those of the strings. */
export function renderEdit(input: Partial<EditArguments>, limits: Limits): Display {
  const title = `${input.old_string === '' ? 'Create' : 'Edit'} ${showValue(input.file_path, '…')}`;
  const subtitle = input.replace_all === true ? { subtitle: 'every occurrence' } : {};
  return {
    title,
    ...subtitle,
    tone: 'warning',
    blocks: intendedDiff(input, limits),
    group: { key: 'edit', title: 'Edit files' },
  };
}

/** What changed, for people. */
export function renderEditResult(output: EditOutput, style: 'condensed' | undefined): Display {
  return drawChange(output.isNew ? 'Created' : 'Edited', output, style);
}

/** A call that was not allowed. */
export function renderEditRejected(input: Partial<EditArguments>, message: string, limits: Limits): Display {
  return {
    title: `Did not edit ${showValue(input.file_path, 'the file')}`,
    tone: 'warning',
    blocks: [{ kind: 'text', text: message }, ...intendedDiff(input, limits)],
  };
}

/** A call that failed. */
export function renderEditError(message: string, input: Partial<EditArguments>): Display {
  return {
    title: `Could not edit ${showValue(input.file_path, 'the file')}`,
    tone: 'danger',
    blocks: [{ kind: 'text', text: message }],
  };
}

/** What the model is sent. */
export function editResult(output: EditOutput, toolUseId: string, limits: Limits): ToolResultBlock {
  const what = output.isNew ? 'Created' : 'Edited';
  const often = output.replacements > 1 ? ` (${output.replacements} replacements)` : '';
  const diff = output.isNew ? '' : `\n${formatHunks(output.hunks, limits.diffLines)}`;
  return { type: 'tool_result', tool_use_id: toolUseId, content: `${what} "${output.path}"${often}${diff}` };
}

function intendedDiff(input: Partial<EditArguments>, limits: Limits): readonly DisplayBlock[] {
  const { file_path, old_string, new_string } = input;
  if (typeof old_string !== 'string' || typeof new_string !== 'string') return [];
  const hunks = diffHunks(old_string, new_string, limits.diffMs);
  return hunks.length === 0 ? [] : [{ kind: 'diff', path: typeof file_path === 'string' ? file_path : '', hunks }];
}
