/** Write, drawn as data. */
import { extname } from 'node:path';
import type { Limits } from '../../../config/limits.ts';
import type { ToolResultBlock } from '../../../src/wire/blocks.ts';
import type { Display, DisplayBlock } from '../../../src/wire/display.ts';
import { showValue } from '../../../src/base/hidden-characters.ts';
import { shownHead } from '../../../src/files/shown-head.ts';
import { formatHunks } from '../../../src/files/text-diff.ts';
import { drawChange } from '../draw-change.ts';
import type { WriteOutput } from './run.ts';
import type { WriteArguments } from './schema.ts';

/** What will be written, as far as the input has come. */
export function renderWrite(input: Partial<WriteArguments>, limits: Limits): Display {
  return {
    title: `Write ${showValue(input.file_path, '…')}`,
    tone: 'warning',
    blocks: contentBlocks(input, limits),
    group: { key: 'write', title: 'Write files' },
  };
}

/** What was written, for people. */
export function renderWriteResult(output: WriteOutput, style: 'condensed' | undefined): Display {
  return drawChange(output.isNew ? 'Created' : 'Wrote', output, style);
}

/** A call that was not allowed. */
export function renderWriteRejected(input: Partial<WriteArguments>, message: string, limits: Limits): Display {
  return {
    title: `Did not write ${showValue(input.file_path, 'the file')}`,
    tone: 'warning',
    blocks: [{ kind: 'text', text: message }, ...contentBlocks(input, limits)],
  };
}

/** A call that failed. */
export function renderWriteError(message: string, input: Partial<WriteArguments>): Display {
  return {
    title: `Could not write ${showValue(input.file_path, 'the file')}`,
    tone: 'danger',
    blocks: [{ kind: 'text', text: message }],
  };
}

/** What the model is sent. */
export function writeResult(output: WriteOutput, toolUseId: string, limits: Limits): ToolResultBlock {
  const what = output.isNew ? `Created "${output.path}"` : `Wrote "${output.path}"`;
  const diff = output.isNew
    ? ''
    : `\n${output.hunks.length === 0 ? 'The content is what it was' : formatHunks(output.hunks, limits.diffLines)}`;
  return { type: 'tool_result', tool_use_id: toolUseId, content: `${what} (${output.sizeBytes} bytes)${diff}` };
}

function contentBlocks(input: Partial<WriteArguments>, limits: Limits): readonly DisplayBlock[] {
  if (typeof input.content !== 'string') return [];
  const language = typeof input.file_path === 'string' ? extname(input.file_path).slice(1) : '';
  return [{ kind: 'code', text: shownHead(input.content, limits.fileDisplayChars), language }];
}
