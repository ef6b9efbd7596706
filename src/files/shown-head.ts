/**
 * The start of a text that is too long to be drawn, for a person, who is told that it goes on.
 */
import { cutText } from '../base/cut-text.ts';

/** Whole lines from the start of `text`, as far as `mostChars` reach, and how much is left out. */
export function shownHead(text: string, mostChars: number): string {
  if (text.length <= mostChars) return text;
  const lineEnd = text.lastIndexOf('\n', mostChars);
  const head = cutText(text, lineEnd > 0 ? lineEnd : mostChars);
  return `${head}\n… ${text.length - head.length} more characters are not shown here`;
}
