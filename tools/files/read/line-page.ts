/**
 * Builds a page of numbered lines from a stream of text.
 *
 * Holds the page and the current line, never the file; of a line longer than the limit the rest is only counted.
 */
import { cutText } from '../../../src/base/cut-text.ts';

/** Bounds of a page. */
export interface LinePageOptions {
  /** Number of the first pushed line. */
  readonly firstLine: number;
  readonly maxLines: number;
  readonly maxLineChars: number;
  readonly maxBytes: number;
}

/** A page under construction. */
export interface LinePage {
  /** Add text, from line `firstLine` on. @returns False once the page is full; then nothing more may be pushed. */
  push(text: string): boolean;
  /** Complete the page. @param isEnd True if the text has ended; false if the caller stops earlier. */
  finish(isEnd: boolean): FinishedPage;
}

/** A complete page. */
export interface FinishedPage {
  readonly text: string;
  readonly lineCount: number;
  /** Reason why lines are missing at the end: the line limit, the byte limit, or undefined if none are missing. */
  readonly stoppedBy: 'lines' | 'bytes' | undefined;
  /** True if the end of a line is missing. */
  readonly hasCutLines: boolean;
}

/** Upper bound of UTF-8 bytes per UTF-16 unit, so that most pages need no exact count. */
const MAX_UNIT_BYTES = 3;

/** Create an empty page. */
export function createLinePage(options: LinePageOptions): LinePage {
  const lines: string[] = [];
  /** Upper bound of the page's bytes, and the exact number for the first `countedLines`. */
  let upperBoundBytes = 0;
  let countedBytes = 0;
  let countedLines = 0;
  let stoppedBy: FinishedPage['stoppedBy'];
  let hasCutLines = false;
  // Current line without its end: the part that is kept, and its length so far.
  let open = '';
  let openChars = 0;

  function add(line: string): void {
    const isFirst = lines.length === 0;
    const numbered = `${String(options.firstLine + lines.length).padStart(6)}\t${line}`;
    upperBoundBytes += MAX_UNIT_BYTES * numbered.length + 1;
    // The first line is always added; otherwise no page could get past it.
    if (!isFirst && upperBoundBytes > options.maxBytes && bytesWith(numbered) > options.maxBytes) {
      stoppedBy = 'bytes';
      return;
    }
    lines.push(numbered);
  }

  function bytesWith(line: string): number {
    for (; countedLines < lines.length; countedLines++)
      countedBytes += Buffer.byteLength(lines[countedLines] ?? '') + 1;
    return countedBytes + Buffer.byteLength(line) + 1;
  }

  function closeLine(): void {
    const isCut = isTooLong(open, openChars, options.maxLineChars);
    hasCutLines ||= isCut;
    add(isCut ? cutLine(open, openChars, options.maxLineChars) : withoutCarriageReturn(open));
    open = '';
    openChars = 0;
  }

  return {
    push(text) {
      let from = 0;
      while (from < text.length && stoppedBy === undefined) {
        if (lines.length === options.maxLines) {
          stoppedBy = 'lines';
          break;
        }
        const lineEnd = text.indexOf('\n', from);
        const to = lineEnd < 0 ? text.length : lineEnd;
        // One character more than the limit is kept: it may be the carriage return of the line end.
        open += text.slice(from, Math.min(to, from + options.maxLineChars + 1 - open.length));
        openChars += to - from;
        if (lineEnd >= 0) closeLine();
        from = to + 1;
      }
      return stoppedBy === undefined;
    },
    finish(isEnd) {
      const mayAdd = stoppedBy === undefined && openChars > 0 && lines.length < options.maxLines;
      if (mayAdd) closeLine();
      if (!isEnd) stoppedBy ??= 'bytes';
      return { text: lines.join('\n'), lineCount: lines.length, stoppedBy, hasCutLines };
    },
  };
}

function isTooLong(kept: string, chars: number, maxChars: number): boolean {
  return chars > maxChars + 1 || (chars === maxChars + 1 && !kept.endsWith('\r'));
}

function cutLine(kept: string, chars: number, maxChars: number): string {
  const head = cutText(kept, maxChars);
  return `${head} [cut: ${chars - head.length} more characters in this line]`;
}

function withoutCarriageReturn(line: string): string {
  return line.endsWith('\r') ? line.slice(0, -1) : line;
}
