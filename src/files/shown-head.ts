/** Shortens a text that is too long to be displayed to a person. */
import { cutText } from '../base/cut-text.ts';

/** Return whole lines from the start of `text`, up to `maxChars`, and a note on the number of characters left out. */
export function shownHead(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const lineEnd = text.lastIndexOf('\n', maxChars);
  const head = cutText(text, lineEnd > 0 ? lineEnd : maxChars);
  return `${head}\n… ${text.length - head.length} more characters are not shown here`;
}
