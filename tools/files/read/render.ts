/** Read, drawn as data. */
import { extname } from 'node:path';
import type { Limits } from '../../../config/limits.ts';
import type { ToolResultBlock } from '../../../src/wire/blocks.ts';
import type { Display, DisplayBlock } from '../../../src/wire/display.ts';
import { showText, showValue } from '../../../src/base/hidden-characters.ts';
import { shownHead } from '../../../src/files/shown-head.ts';
import type { ReadOutput } from './output.ts';
import type { ReadArguments } from './schema.ts';

/** What will be read; the input may still be streaming in. */
export function renderRead(input: Partial<ReadArguments>): Display {
  return {
    title: `Read ${showValue(input.file_path, '…')}`,
    ...range(input),
    blocks: [],
    group: { key: 'read', title: 'Read files' },
  };
}

/** What was read, for people. */
export function renderReadResult(output: ReadOutput, style: 'condensed' | undefined, limits: Limits): Display {
  const title = output.type === 'text' ? textTitle(output) : `Read ${output.type}: ${output.summary}`;
  const subtitle = showText(output.path);
  return { title, subtitle, blocks: style === 'condensed' ? [] : resultBlocks(output, limits) };
}

/** A call that was not allowed. */
export function renderReadRejected(input: Partial<ReadArguments>, message: string): Display {
  return {
    title: `Did not read ${showValue(input.file_path, 'the file')}`,
    tone: 'warning',
    blocks: [{ kind: 'text', text: message }],
  };
}

/** A call that failed. */
export function renderReadError(message: string, input: Partial<ReadArguments>): Display {
  return {
    title: `Could not read ${showValue(input.file_path, 'the file')}`,
    tone: 'danger',
    blocks: [{ kind: 'text', text: message }],
  };
}

/** What the model is sent. */
export function readResult(output: ReadOutput, toolUseId: string): ToolResultBlock {
  const content = output.type === 'text' ? [output.text, output.notice].filter(Boolean).join('\n\n') : output.content;
  return { type: 'tool_result', tool_use_id: toolUseId, content };
}

function range(input: Partial<ReadArguments>): { subtitle?: string } {
  if (typeof input.pages === 'string') return { subtitle: `pages ${showText(input.pages)}` };
  if (typeof input.offset !== 'number' && typeof input.limit !== 'number') return {};
  const first = input.offset ?? 1;
  return { subtitle: input.limit === undefined ? `from ${first}` : `${first} to ${first + input.limit - 1}` };
}

function textTitle(output: Extract<ReadOutput, { type: 'text' }>): string {
  const lines = `Read ${output.lineCount} ${output.lineCount === 1 ? 'line' : 'lines'}`;
  return output.isPartial && output.totalLines !== undefined ? `${lines} of ${output.totalLines}` : lines;
}

function resultBlocks(output: ReadOutput, limits: Limits): readonly DisplayBlock[] {
  if (output.type === 'text') {
    const code: DisplayBlock = {
      kind: 'code',
      text: shownHead(output.text, limits.previewChars),
      language: extname(output.path).slice(1),
    };
    return output.notice === undefined ? [code] : [code, { kind: 'text', text: output.notice }];
  }
  return output.content.flatMap((block): DisplayBlock[] => {
    if (block.type === 'image')
      return [{ kind: 'image', media_type: block.source.media_type, data: block.source.data }];
    return block.type === 'text' ? [{ kind: 'text', text: shownHead(block.text, limits.previewChars) }] : [];
  });
}
