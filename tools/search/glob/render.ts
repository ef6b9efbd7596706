/** Glob, drawn as data. */
import type { ToolResultBlock } from '../../../src/wire/blocks.ts';
import type { Display } from '../../../src/wire/display.ts';
import { showText, showValue } from '../../../src/base/hidden-characters.ts';
import { emptyHint } from './empty-hint.ts';
import type { GlobOutput } from './run.ts';
import type { GlobArguments } from './schema.ts';

/** What will be searched for; the input may still be streaming in. */
export function renderGlob(input: Partial<GlobArguments>): Display {
  return {
    title: `Find files ${showValue(input.pattern, '…')}`,
    ...(typeof input.path === 'string' ? { subtitle: `in ${showText(input.path)}` } : {}),
    blocks: [],
    group: { key: 'glob', title: 'Find files' },
  };
}

/** What was found, for people. */
export function renderGlobResult(output: GlobOutput, style: 'condensed' | undefined): Display {
  const title = `Found ${output.total} ${output.total === 1 ? 'file' : 'files'}`;
  const blocks = style === 'condensed' ? [] : [{ kind: 'list' as const, items: output.paths.map(showText) }];
  return { title, ...(output.isIncomplete ? { subtitle: 'search not complete' } : {}), blocks };
}

/** A call that was not allowed. */
export function renderGlobRejected(input: Partial<GlobArguments>, message: string): Display {
  return {
    title: `Did not look for ${showValue(input.pattern, 'files')}`,
    tone: 'warning',
    blocks: [{ kind: 'text', text: message }],
  };
}

/** A call that failed. */
export function renderGlobError(message: string, input: Partial<GlobArguments>): Display {
  return {
    title: `Could not look for ${showValue(input.pattern, 'files')}`,
    tone: 'danger',
    blocks: [{ kind: 'text', text: message }],
  };
}

/** What the model is sent. */
export function globResult(output: GlobOutput, toolUseId: string): ToolResultBlock {
  const lines = output.paths.length === 0 ? ['No files found'] : output.paths.map(showText);
  const hint = output.total === 0 ? emptyHint(output.pattern) : undefined;
  if (hint !== undefined) lines.push(`(${hint})`);
  const more = output.total - output.paths.length;
  if (more > 0) lines.push(`(PARTIAL: ${more} more files match. Use a narrower pattern or path)`);
  if (output.isIncomplete)
    lines.push('(PARTIAL: the search was given up before its end. Use a narrower pattern or path)');
  return { type: 'tool_result', tool_use_id: toolUseId, content: lines.join('\n') };
}
