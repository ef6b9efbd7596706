/** Grep, drawn as data. */
import type { Limits } from '../../../config/limits.ts';
import type { ToolResultBlock } from '../../../src/wire/blocks.ts';
import type { Display } from '../../../src/wire/display.ts';
import { showText, showValue } from '../../../src/base/hidden-characters.ts';
import { shownHead } from '../../../src/files/shown-head.ts';
import type { GrepOutput } from './output.ts';
import type { GrepArguments } from './schema.ts';

/** What will be searched for; the input may still be streaming in. */
export function renderGrep(input: Partial<GrepArguments>): Display {
  const where = [input.path, input.glob, input.type].filter((part) => typeof part === 'string').map(showText);
  return {
    title: `Search for ${showValue(input.pattern, '…')}`,
    ...(where.length === 0 ? {} : { subtitle: `in ${where.join(', ')}` }),
    blocks: [],
    group: { key: 'grep', title: 'Search files' },
  };
}

/** What was found, for people. */
export function renderGrepResult(output: GrepOutput, style: 'condensed' | undefined, limits: Limits): Display {
  const title = `Found ${counted(output.total ?? output.count, output.mode === 'content' ? 'line' : 'file')}`;
  if (style === 'condensed') return { title, blocks: [] };
  const notices = output.notices.map((text) => ({ kind: 'text' as const, text }));
  return { title, blocks: [{ kind: 'code', text: shownHead(output.text, limits.previewChars) }, ...notices] };
}

/** A call that was not allowed. */
export function renderGrepRejected(input: Partial<GrepArguments>, message: string): Display {
  return {
    title: `Did not search for ${showValue(input.pattern, 'anything')}`,
    tone: 'warning',
    blocks: [{ kind: 'text', text: message }],
  };
}

/** A call that failed. */
export function renderGrepError(message: string, input: Partial<GrepArguments>): Display {
  return {
    title: `Could not search for ${showValue(input.pattern, 'anything')}`,
    tone: 'danger',
    blocks: [{ kind: 'text', text: message }],
  };
}

/** What the model is sent. */
export function grepResult(output: GrepOutput, toolUseId: string): ToolResultBlock {
  const content = [headline(output), output.text, ...output.notices].filter((part) => part !== '').join('\n');
  return { type: 'tool_result', tool_use_id: toolUseId, content };
}

function headline(output: GrepOutput): string {
  const isNothing = (output.total ?? output.count) === 0;
  if (output.mode === 'content') return isNothing ? 'No matches found' : '';
  if (isNothing) return 'No files found';
  return output.mode === 'files_with_matches' ? `Found ${counted(output.total ?? output.count, 'file')}` : '';
}

function counted(count: number, noun: string): string {
  return `${count} ${count === 1 ? noun : `${noun}s`}`;
}
