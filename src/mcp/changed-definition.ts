/**
 * Draws a tool's changed definition for the person who is asked: what was approved before against what it says now.
 */
import { diffHunks } from '../files/text-diff.ts';
import type { DisplayBlock } from '../wire/display.ts';
import { approvedText, type McpToolDefinition } from './tool-definition.ts';
import { visibleLine, visibleText } from './visible-text.ts';

/** Drawn text of one definition, in characters. */
const MAX_DRAWN_CHARS = 128 * 1_024;

const NAME_CHARS = 100;

/** Draw the change. @param earlier The approved definition, as `approvedText` wrote it; absent if it was not kept. */
export function drawChangedDefinition(
  definition: McpToolDefinition,
  earlier: string | undefined,
): readonly DisplayBlock[] {
  const now = drawnText(approvedText(definition));
  const before = earlier === undefined ? undefined : drawnText(earlier);
  const cut: DisplayBlock = { kind: 'text', text: 'The definition is too long to be shown: its end was cut off' };
  const notes = now.isCut || before?.isCut === true ? [cut] : [];
  if (before === undefined) {
    const text = 'The definition that was allowed before was not kept. The one of now:';
    return [{ kind: 'text', text }, { kind: 'code', text: now.text }, ...notes];
  }
  const path = `Definition of ${visibleLine(definition.name, NAME_CHARS)}`;
  return [{ kind: 'diff', path, hunks: [...diffHunks(before.text, now.text)] }, ...notes];
}

/** Write a definition in lines: a description is compared by its own. */
function drawnText(approved: string): { readonly text: string; readonly isCut: boolean } {
  const { description = '', ...rest } = JSON.parse(approved) as { readonly description?: string };
  const text = `${description}\n${JSON.stringify(rest, undefined, 1)}\n`;
  const drawn = visibleText(text, MAX_DRAWN_CHARS);
  return { text: drawn, isCut: text.length > MAX_DRAWN_CHARS || drawn.length >= MAX_DRAWN_CHARS };
}
