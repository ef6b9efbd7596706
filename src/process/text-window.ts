/**
 * A text of any length in bounded memory: whole while it is short, then its head and its tail.
 */
import { splitsPair, type WindowedText } from '../base/cut-text.ts';

/** How much is kept, in UTF-16 units. */
export interface TextWindowSize {
  /** Up to this length the text is kept whole. At least `headChars + tailChars`. */
  readonly wholeChars: number;
  readonly headChars: number;
  readonly tailChars: number;
}

/** Takes a text piece by piece. */
export interface TextWindow {
  add(text: string): void;
  read(): WindowedText;
  /** Forget everything taken so far. */
  clear(): void;
}

/** Pieces gathered before they are joined: many tiny ones would each cost more than they hold. */
const GATHERED_PIECES = 1_024;

/** Make an empty window. */
export function createTextWindow({ wholeChars, headChars, tailChars }: TextWindowSize): TextWindow {
  let pieces: string[] = [];
  let gatheredChars = 0;
  /** The whole text, or once something was left out, its head. */
  let head = '';
  /** What follows `head`, cut to the last `tailChars`; unused while the text is whole. */
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
      tail = head.slice(wholeEnd(head, headChars));
      head = detached(head.slice(0, wholeEnd(head, headChars)));
    }
    tail = detached(tail.slice(wholeStart(tail, tail.length - tailChars)));
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

/** A copy of its own: a slice would keep the whole text it was cut from in memory. */
function detached(text: string): string {
  return Buffer.from(text, 'utf16le').toString('utf16le');
}

/** At or before `at`, where a cut leaves no pair in halves. */
function wholeEnd(text: string, at: number): number {
  return splitsPair(text, at) ? at - 1 : at;
}

/** At or after `at`, likewise. */
function wholeStart(text: string, at: number): number {
  if (at <= 0) return 0;
  return splitsPair(text, at) ? at + 1 : at;
}
