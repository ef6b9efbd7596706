/**
 * Selects matching lines from ripgrep's output stream.
 *
 * Works on bytes and copies as little as possible, since a search over many files prints megabytes. Each line is
 * `path NUL number : text`; the NUL is replaced by the separator in place, and hidden files are left out.
 */
import { showText } from '../../../src/base/hidden-characters.ts';

const NUL = 0x00;
const LINE_END = 0x0a;
const COLON = 0x3a;
const DASH = 0x2d;

/**
 * ripgrep's note on a binary file in place of its lines, or of the remaining ones; the file's name may contain line
 * ends.
 */
const BINARY_NOTE =
  /^(.*?): (?:binary file matches|WARNING: stopped searching binary file after match) \(found "[^"\n]*" byte around offset \d+\)$/ms;

/** Selection of lines. */
export interface LineSelection {
  readonly hasLineNumbers: boolean;
  /** Number of lines skipped at the beginning. */
  readonly offset: number;
  /** Maximum number of lines shown; Infinity for all. */
  readonly limit: number;
  readonly maxBytes: number;
  /** Called once per file with the path that ripgrep prints. */
  readonly isHidden: (path: string) => boolean;
}

/** Result of a selection. */
export interface SelectedLines {
  readonly text: string;
  readonly lineCount: number;
  /** Number of skipped and selected lines. */
  readonly seenLines: number;
  /** Reason why there are more lines: the line limit, the byte limit, or undefined. */
  readonly stoppedBy: 'limit' | 'bytes' | undefined;
}

/** File of the current lines. */
interface PassingFile {
  /** Path as printed. */
  readonly path: Buffer;
  readonly isHidden: boolean;
  /** Path with hidden characters made visible; undefined if it has none. */
  readonly shownAs: Buffer | undefined;
}

/** Map a name printed by ripgrep to the name to show. */
export type NameOf = (printed: string) => string;

const NO_FILE: PassingFile = { path: Buffer.alloc(0), isHidden: false, shownAs: undefined };

/** A selection in progress: takes chunks of output and returns the lines at the end. */
export class MatchingLines {
  /** Visible files that lines came from, in order. */
  readonly files: string[] = [];
  readonly #selection: LineSelection;
  readonly #kept: Buffer[] = [];
  #keptBytes = 0;
  /** Start of an incomplete line. */
  #carried: Buffer | undefined;
  #seenLines = 0;
  #lineCount = 0;
  #stoppedBy: SelectedLines['stoppedBy'];
  #file = NO_FILE;
  #nameOf: NameOf = (printed) => printed;

  constructor(selection: LineSelection) {
    this.#selection = selection;
  }

  /** Begin the output of another run, which names files differently. */
  renamed(nameOf: NameOf): this {
    this.#nameOf = nameOf;
    this.#file = NO_FILE;
    return this;
  }

  /** Process a chunk of output, modifying it. @returns False once nothing more is needed. */
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

  /** Process complete lines; a run of unchanged lines is kept as one piece. @returns End of the last complete line. */
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

  /**
   * Find the end of a line's path, at a NUL or in a note.
   *
   * @returns `start` if the line has no path, `data.length` if the path is incomplete.
   */
  #pathEnd(data: Buffer, start: number): number {
    const { path } = this.#file;
    const end = start + path.length;
    if (data[end] === NUL && startsWith(data, start, path)) return end;
    const nul = data.indexOf(NUL, start);
    const lineEnd = data.indexOf(LINE_END, start);
    if (lineEnd >= 0 && (nul < 0 || lineEnd < nul)) {
      if (isBetweenGroups(data, start, lineEnd)) return start;
      // Latin-1 maps bytes to characters one to one, so the note's length is that of the path.
      const note = BINARY_NOTE.exec(data.toString('latin1', start, nul < 0 ? data.length : nul))?.[1];
      if (note !== undefined) return this.#enter(data, start, start + note.length);
    }
    return nul < 0 ? data.length : this.#enter(data, start, nul);
  }

  /** Start a new file, deciding once whether it is visible. @returns `end`. */
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

  /** Count one line. @returns True if it is shown. */
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

/** Report whether a line is ripgrep's group separator; any other line without a path is the start of a file name. */
function isBetweenGroups(data: Buffer, start: number, end: number): boolean {
  return end - start === 2 && data[start] === DASH && data[start + 1] === DASH;
}

function startsWith(data: Buffer, start: number, prefix: Buffer): boolean {
  // Backwards, since paths of neighbouring files differ at the end.
  for (let at = prefix.length - 1; at >= 0; at--) if (data[start + at] !== prefix[at]) return false;
  return prefix.length > 0;
}

/**
 * Return the separator after the path: a context line has a dash after its number, a match a colon. Without numbers
 * they cannot be distinguished.
 */
function separator(data: Buffer, nul: number, hasLineNumbers: boolean): number {
  if (!hasLineNumbers) return COLON;
  let at = nul + 1;
  while (isDigit(data[at] ?? 0)) at++;
  return data[at] === DASH ? DASH : COLON;
}

function isDigit(byte: number): boolean {
  return byte >= 0x30 && byte <= 0x39;
}
