/**
 * Matching lines, cut out of ripgrep's output as it comes.
 *
 * Works on bytes and copies none it does not need: a search over many files prints megabytes. Each line
 * is `path NUL number : text`; the NUL becomes the separator in place, and what may not be shown is left out.
 */
import { showText } from '../../../src/base/hidden-characters.ts';

const NUL = 0x00;
const LINE_END = 0x0a;
const COLON = 0x3a;
const DASH = 0x2d;

/** What ripgrep says of a binary file instead of showing lines, or the rest of them; the file's name may hold line ends. */
const BINARY_NOTE =
  /^(.*?): (?:binary file matches|WARNING: stopped searching binary file after match) \(found "[^"\n]*" byte around offset \d+\)$/ms;

/** Which lines are wanted. */
export interface LineSelection {
  readonly hasLineNumbers: boolean;
  /** Lines left out at the beginning. */
  readonly offset: number;
  /** Lines shown; Infinity for all. */
  readonly limit: number;
  readonly maxBytes: number;
  /** Asked once a file, about the path as ripgrep prints it. */
  readonly isHidden: (path: string) => boolean;
}

/** What was selected. */
export interface SelectedLines {
  readonly text: string;
  readonly lineCount: number;
  /** Those left out at the beginning, and those selected. */
  readonly seenLines: number;
  /** Why there is more: enough lines, too many bytes, or undefined. */
  readonly stoppedBy: 'limit' | 'bytes' | undefined;
}

/** The file whose lines are passing. */
interface PassingFile {
  /** Its path as printed. */
  readonly path: Buffer;
  readonly isHidden: boolean;
  /** The path in characters that may be shown, where it holds others. */
  readonly shownAs: Buffer | undefined;
}

/** What is shown of a file that ripgrep calls `printed`. */
export type NameOf = (printed: string) => string;

const NO_FILE: PassingFile = { path: Buffer.alloc(0), isHidden: false, shownAs: undefined };

/** A selection in progress: chunks go in, lines come out at the end. */
export class MatchingLines {
  /** Files that lines came from, as they are named, in the order in which they came; hidden ones left out. */
  readonly files: string[] = [];
  readonly #selection: LineSelection;
  readonly #kept: Buffer[] = [];
  #keptBytes = 0;
  /** The beginning of a line whose end has not come. */
  #carried: Buffer | undefined;
  #seenLines = 0;
  #lineCount = 0;
  #stoppedBy: SelectedLines['stoppedBy'];
  #file = NO_FILE;
  #nameOf: NameOf = (printed) => printed;

  constructor(selection: LineSelection) {
    this.#selection = selection;
  }

  /** What is pushed from now on is another run's, which calls files by other names. */
  renamed(nameOf: NameOf): this {
    this.#nameOf = nameOf;
    this.#file = NO_FILE;
    return this;
  }

  /** Take a chunk of output; it is changed. @returns False when nothing more is wanted. */
  push(chunk: Buffer): boolean {
    if (this.#stoppedBy !== undefined) return false;
    const data = this.#carried ? Buffer.concat([this.#carried, chunk]) : chunk;
    const end = this.#walk(data);
    this.#carried = end < data.length ? data.subarray(end) : undefined;
    if ((this.#carried?.length ?? 0) > this.#selection.maxBytes) this.#stoppedBy = 'bytes';
    return this.#stoppedBy === undefined;
  }

  finish(): SelectedLines {
    const all = Buffer.concat(this.#kept);
    const text = all.toString('utf8', 0, all.at(-1) === LINE_END ? all.length - 1 : all.length);
    return { text, lineCount: this.#lineCount, seenLines: this.#seenLines, stoppedBy: this.#stoppedBy };
  }

  /** Walk whole lines; runs of lines that stay as they are stay one piece. @returns Where the last line ended. */
  #walk(data: Buffer): number {
    let start = 0;
    let runStart = 0;
    while (start < data.length && this.#stoppedBy === undefined) {
      const pathEnd = this.#pathEnd(data, start);
      const end = data.indexOf(LINE_END, pathEnd);
      if (end < 0) break;
      const isWanted = this.#wants(data, pathEnd);
      const { shownAs } = this.#file;
      if (!isWanted || (shownAs && pathEnd > start)) {
        this.#keep(data.subarray(runStart, start));
        if (isWanted && shownAs) this.#keep(Buffer.concat([shownAs, data.subarray(pathEnd, end + 1)]));
        runStart = end + 1;
      }
      start = end + 1;
    }
    this.#keep(data.subarray(runStart, start));
    return start;
  }

  /** Where the path of a line ends, at a NUL or in a note; at `start` where it has none, `data.length` if it is not all there. */
  #pathEnd(data: Buffer, start: number): number {
    const { path } = this.#file;
    const end = start + path.length;
    if (data[end] === NUL && startsWith(data, start, path)) return end;
    const nul = data.indexOf(NUL, start);
    const lineEnd = data.indexOf(LINE_END, start);
    if (lineEnd >= 0 && (nul < 0 || lineEnd < nul)) {
      if (isBetweenGroups(data, start, lineEnd)) return start;
      // Byte for byte, so that its length is the path's.
      const note = BINARY_NOTE.exec(data.toString('latin1', start, nul < 0 ? data.length : nul))?.[1];
      if (note !== undefined) return this.#enter(data, start, start + note.length);
    }
    return nul < 0 ? data.length : this.#enter(data, start, nul);
  }

  /** What is decided about a file once. @returns `end`. */
  #enter(data: Buffer, start: number, end: number): number {
    const path = data.subarray(start, end);
    if (path.equals(this.#file.path)) return end;
    const printed = path.toString();
    const name = this.#nameOf(printed);
    const shown = showText(name);
    const isHidden = this.#selection.isHidden(name);
    if (!isHidden) this.files.push(name);
    const shownAs = shown === printed ? undefined : Buffer.from(shown);
    this.#file = { path: Buffer.from(path), isHidden, shownAs };
    return end;
  }

  /** Judge one line. @returns Whether it is shown. */
  #wants(data: Buffer, pathEnd: number): boolean {
    const { limit, offset, hasLineNumbers } = this.#selection;
    if (this.#file.isHidden) return false;
    if (this.#lineCount >= limit) {
      this.#stoppedBy = 'limit';
      return false;
    }
    if (data[pathEnd] === NUL) data[pathEnd] = separator(data, pathEnd, hasLineNumbers);
    if (this.#seenLines++ < offset) return false;
    this.#lineCount++;
    return true;
  }

  #keep(data: Buffer): void {
    if (data.length === 0) return;
    this.#kept.push(data);
    this.#keptBytes += data.length;
    if (this.#keptBytes > this.#selection.maxBytes) this.#stoppedBy = 'bytes';
  }
}

/** Whether a line is ripgrep's own; any other without a path is the beginning of a file's name. */
function isBetweenGroups(data: Buffer, start: number, end: number): boolean {
  return end - start === 2 && data[start] === DASH && data[start + 1] === DASH;
}

function startsWith(data: Buffer, start: number, prefix: Buffer): boolean {
  // Backwards: neighbouring files differ in their last letters.
  for (let at = prefix.length - 1; at >= 0; at--) if (data[start + at] !== prefix[at]) return false;
  return prefix.length > 0;
}

/** A line of context has a dash after its number, a match a colon; without numbers nobody can tell. */
function separator(data: Buffer, nul: number, hasLineNumbers: boolean): number {
  if (!hasLineNumbers) return COLON;
  let at = nul + 1;
  while (isDigit(data[at] ?? 0)) at++;
  return data[at] === DASH ? DASH : COLON;
}

function isDigit(byte: number): boolean {
  return byte >= 0x30 && byte <= 0x39;
}
