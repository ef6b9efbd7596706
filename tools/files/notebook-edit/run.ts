/** NotebookEdit: plan on what is there, write it whole, remember it as seen. As Edit, the plan is made twice. */
import { isUtf8 } from 'node:buffer';
import { GauntletError } from '../../../src/base/errors.ts';
import { judgedPath } from '../../../src/files/judged-path.ts';
import { diffHunks } from '../../../src/files/text-diff.ts';
import type { LocatedPath } from '../../../src/tool/located-path.ts';
import type { ToolResult, ToolUseContext, ValidationResult } from '../../../src/tool/tool.ts';
import type { DiffHunk } from '../../../src/wire/display.ts';
import { type KnownFile, openKnownFile, validateUnasked, writeKnownFile } from '../known-file.ts';
import type { FileToolServices } from '../services.ts';
import { editCells, type EditedCells } from './cells.ts';
import type { NotebookEditArguments } from './schema.ts';

/** A notebook that is changed: finding its cells blocks the event loop for 60 ms a MiB, for one full of numbers 190. */
const MAX_NOTEBOOK_BYTES = 4 * 1_024 * 1_024;

/** Output of NotebookEdit. */
export interface NotebookEditOutput {
  /** Absolute. */
  readonly path: string;
  readonly mode: 'replace' | 'insert' | 'delete';
  readonly cellId: string;
  readonly cellType: string;
  /** Diff of the cell's source. */
  readonly hunks: readonly DiffHunk[];
}

interface NotebookPlan {
  readonly known: KnownFile;
  readonly edited: Extract<EditedCells, { readonly kind: 'edited' }>;
}

const ACTION = 'Cannot edit';

/** Refuse, before anybody is asked, an edit that cannot be made. */
export function validateNotebookEdit(
  services: FileToolServices,
  input: NotebookEditArguments,
  context: ToolUseContext,
): Promise<ValidationResult> {
  return validateUnasked(services, input.notebook_path, context, (located) =>
    planEdit(services, input, located, context),
  );
}

/** Run NotebookEdit. */
export async function runNotebookEdit(
  services: FileToolServices,
  input: NotebookEditArguments,
  context: ToolUseContext,
): Promise<ToolResult<NotebookEditOutput>> {
  const located = await judgedPath(services.locate, context, { path: input.notebook_path, access: 'write' });
  const { known, edited } = await planEdit(services, input, located, context);
  context.signal.throwIfAborted();
  const contextModifier = await writeKnownFile(
    services,
    { located, spelled: input.notebook_path, action: ACTION },
    { known, content: Buffer.from(edited.text), toolName: 'NotebookEdit' },
    context,
  );
  const { cellId, cellType, before, after } = edited;
  const hunks = diffHunks(before, after);
  return {
    data: { path: located.spelled, mode: input.edit_mode ?? 'replace', cellId, cellType, hunks },
    contextModifier,
  };
}

async function planEdit(
  services: FileToolServices,
  input: NotebookEditArguments,
  located: LocatedPath,
  context: ToolUseContext,
): Promise<NotebookPlan> {
  const file = { located, spelled: input.notebook_path, action: ACTION };
  const known = await openKnownFile(services, file, context);
  if (!known) throw refuse(input, 'it does not exist. Create it with Write');
  const { content } = known;
  const most = MAX_NOTEBOOK_BYTES;
  if (content.length > most)
    throw refuse(input, `it has ${content.length} bytes, at most ${most} can be changed here. Clear its outputs first`);
  if (!isUtf8(content)) throw refuse(input, 'it is not UTF-8 text, as a notebook must be');
  const edited = editCells(content.toString('utf8'), {
    mode: input.edit_mode ?? 'replace',
    cellId: input.cell_id,
    cellType: input.cell_type,
    source: input.new_source,
  });
  if (edited.kind === 'problem') throw refuse(input, edited.message);
  return { known, edited };
}

function refuse(input: NotebookEditArguments, why: string): GauntletError {
  return new GauntletError('tool_failed', `${ACTION} "${input.notebook_path}": ${why}`);
}
