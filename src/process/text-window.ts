/**
 * Keeps a text of any length in bounded memory: the whole while it is short, then head and tail.
 */
import { splitsPair, type WindowedText } from '../base/cut-text.ts';

/** Size limits, in UTF-16 units. */
export interface TextWindowSize {
  /** Longest text that is kept whole. At least `headChars + tailChars`. */
  readonly wholeChars: number;
  readonly headChars: number;
  readonly tailChars: number;
}

/** Collects a text piece by piece. */
export interface TextWindow {
  add(text: string): void;
  read(): WindowedText;
  /** Drop everything collected. */
  clear(): void;
}

/** Pieces collected before they are joined: each of many tiny strings would cost more than it holds. */
const GATHERED_PIECES = 1_024;

/** Create an empty window. */
export function createTextWindow({ wholeChars, headChars, tailChars }: TextWindowSize): TextWindow {
  let pieces: string[] = [];
  let gatheredChars = 0;
  /** The whole text or, once it is too long, its head. */
  let head = '';
  /** The last `tailChars` of what follows `head`; unused while the text is whole. */
  let tail = '';
  let totalChars = 0;
  const isWhole = () => totalChars <= wholeChars;

  function gather(): void {
    const text = pieces.join('');
    pieces = [];
    gatheredChars = 0;
    if (head.length < wholeChars && tail === '') head += text;
    else tail += text;
    if (isWhole()) return;
    if (head.length > headChars) {
      tail = head.slice(cutAtOrBefore(head, headChars));
      head = copyText(head.slice(0, cutAtOrBefore(head, headChars)));
    }
    tail = copyText(tail.slice(cutAtOrAfter(tail, tail.length - tailChars)));
  }

  return {
    add(text) {
      if (text === '') return;
      pieces.push(text);
      gatheredChars += text.length;
      totalChars += text.length;
      if (pieces.length >= GATHERED_PIECES || gatheredChars >= tailChars) gather();
    },
    read() {
      gather();
      return { head, tail, omittedChars: totalChars - head.length - tail.length, totalChars };
    },
    clear() {
      pieces = [];
      head = '';
      tail = '';
      gatheredChars = 0;
      totalChars = 0;
    },
  };
}

/** Copy a string: a slice would keep the whole text it was cut from in memory. */
function copyText(text: string): string {
  return Buffer.from(text, 'utf16le').toString('utf16le');
}

/** Position at or before `at` that does not split a surrogate pair. */
function cutAtOrBefore(text: string, at: number): number {
  return splitsPair(text, at) ? at - 1 : at;
}

/** Position at or after `at` that does not split a surrogate pair. */
function cutAtOrAfter(text: string, at: number): number {
  if (at <= 0) return 0;
  return splitsPair(text, at) ? at + 1 : at;
}
