/**
 * Formats an output as one text for the model: complete, or head and tail with a note on the rest.
 */
import type { WindowedText } from '../base/cut-text.ts';
import type { SpoolEnd } from './spool-file.ts';

/**
 * Format an output.
 *
 * @param output If text was omitted, `path` or `failureCode` says what became of the whole.
 * @returns The text without its last line break.
 */
export function outputText(output: WindowedText & SpoolEnd): string {
  if (output.omittedChars === 0) return withoutLastLineEnd(output.head);
  const where =
    output.failureCode === undefined
      ? output.path === undefined
        ? 'they are gone'
        : `the whole output was saved to: ${output.path}`
      : `spill_failed: ${output.failureCode}: the disk refused the whole output`;
  const gap = `[${output.omittedChars} of ${output.totalChars} characters left out; ${where}]`;
  return `${output.head}\n${gap}\n${withoutLastLineEnd(output.tail)}`;
}

function withoutLastLineEnd(text: string): string {
  return text.endsWith('\n') ? text.slice(0, text.endsWith('\r\n') ? -2 : -1) : text;
}
