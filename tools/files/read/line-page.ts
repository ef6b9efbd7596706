/**
 * A page of numbered lines, built from text as it comes.
 *
 * Holds the page and the line it is in, never the file: a line longer than the cap is counted, not kept.
 */
import { cutText } from '../../../src/base/cut-text.ts';

/** Bounds of a page. */
export interface LinePageOptions {
  /** Number of the first line that will be pushed. */
  readonly firstLine: number;
  readonly maxLines: number;
  readonly maxLineChars: number;
  readonly maxBytes: number;
}

/** A page under construction. */
export interface LinePage {
  /** Take more of the text, from line `firstLine` on. @returns False when the page is full; then push no more. */
  push(text: string): boolean;
  /** Whoever stops before the text ends asks for what is there; `isEnd` says that the text did end. */
  finish(isEnd: boolean): FinishedPage;
}

/** A page, done. */
export interface FinishedPage {
  readonly text: string;
  readonly lineCount: number;
  /** Why lines are missing after the last one: too many lines, too many bytes, or nothing is missing. */
  readonly stoppedBy: 'lines' | 'bytes' | undefined;
  /** The end of a line is missing. */
  readonly hasCutLines: boolean;
}

/** A UTF-16 unit is at most this many bytes of UTF-8, so most pages need no counting. */
const MAX_UNIT_BYTES = 3;

/** Begin a page. */
export function createLinePage(options: LinePageOptions): LinePage {
  const lines: string[] = [];
  /** At most so many bytes, and exactly how many the first `countedLines` have. */
  let mostBytes = 0;
  let countedBytes = 0;
  let countedLines = 0;
  let stoppedBy: FinishedPage['stoppedBy'];
  let hasCutLines = false;
  // The line that has begun and not ended: what is kept of it, and how long it is by now.
  let open = '';
  let openChars = 0;

  function add(line: string): void {
    const isFirst = lines.length === 0;
    const numbered = `${String(options.firstLine + lines.length).padStart(6)}\t${line}`;
    mostBytes += MAX_UNIT_BYTES * numbered.length + 1;
    // One line always fits, or a page could never get past it.
    if (!isFirst && mostBytes > options.maxBytes && bytesWith(numbered) > options.maxBytes) {
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
        // One more than the cap is kept: it may be the carriage return of the line's end.
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
