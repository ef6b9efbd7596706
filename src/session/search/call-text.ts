/**
 * The text by which calls are found, and the part of it that is shown.
 */
import type { ToolUseBlock } from '../../wire/blocks.ts';

/** Characters shown on each side of a match. */
const SNIPPET_CHARS = 60;

/** Return the searchable text of a call: its tool and the strings of its input, without JSON syntax. */
export function askedText({ name, input }: Pick<ToolUseBlock, 'name' | 'input'>): string {
  return [name, ...textsIn(input)].join(' ');
}

/** Cut the text around a match. */
export function snippetAt(text: string, place: number, length: number): string {
  const start = Math.max(0, place - SNIPPET_CHARS);
  const end = Math.min(text.length, place + length + SNIPPET_CHARS);
  return `${start > 0 ? '…' : ''}${text.slice(start, end)}${end < text.length ? '…' : ''}`;
}

function textsIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return value === null ? [] : [String(value)];
  return Object.values(value).flatMap(textsIn);
}
