/**
 * The replacement itself: text in, text out; knows no file.
 */
import { isUtf8 } from 'node:buffer';

/** What came of a replacement, or why nothing did; the reason follows `Cannot edit "…": `. */
export type Replacement = { readonly text: string; readonly count: number } | { readonly refusal: string };

/** One replacement. */
export interface ReplaceRequest {
  readonly oldString: string;
  readonly newString: string;
  readonly isAll: boolean;
  /** Most UTF-16 units of the outcome. */
  readonly maxChars: number;
}

/** Replace exact text. In a file whose lines end in CR LF, `\n` of the request means that. */
export function replaceText(text: string, request: ReplaceRequest): Replacement {
  const asWritten = { old: request.oldString, new: request.newString };
  const asWindows = { old: toWindows(request.oldString), new: toWindows(request.newString) };
  const hasWindows = text.includes('\r\n');
  const isAllWindows = hasWindows && !/(?:^|[^\r])\n/.test(text);
  const isExact = !isAllWindows && text.includes(asWritten.old);
  const wanted = isExact || !hasWindows ? asWritten : asWindows;

  const count = countOccurrences(text, wanted.old);
  if (count === 0)
    return { refusal: `old_string was not found. Read the file again and copy the text exactly, blanks included` };
  if (count > 1 && !request.isAll) {
    return { refusal: `old_string occurs ${count} times. Give more context to make it unique, or set replace_all` };
  }
  const chars = text.length + count * (wanted.new.length - wanted.old.length);
  if (chars > request.maxChars)
    return { refusal: `the file would have ${chars} characters, more than ${request.maxChars}` };
  return { text: text.split(wanted.old).join(wanted.new), count };
}

/** A file's text and whether a byte order mark stands before it; undefined when it is not UTF-8. */
export function decodeText(bytes: Buffer): { readonly text: string; readonly hasMark: boolean } | undefined {
  if (!isUtf8(bytes) || bytes.includes(0)) return undefined;
  const hasMark = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
  return { text: bytes.toString('utf8', hasMark ? 3 : 0), hasMark };
}

/** Back to bytes. */
export function encodeText(text: string, hasMark: boolean): Buffer {
  return Buffer.from(hasMark ? `\ufeff${text}` : text);
}

function countOccurrences(text: string, part: string): number {
  let count = 0;
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + part.length)) count++;
  return count;
}

function toWindows(text: string): string {
  return text.replace(/\r?\n/g, '\r\n');
}
