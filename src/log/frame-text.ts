/**
 * Conversion between a frame and its line of JSON.
 *
 * Each frame is serialised once, when it is appended; the same text is stored, kept in memory and sent. One row of the
 * log holds the lines of one append.
 */
import type { Frame, NewFrame, Seq } from '../wire/frames.ts';
import type { LoggedFrame } from './frame-log.ts';

/** Length of an ISO 8601 UTC time with milliseconds, as `Date.toISOString` writes it. */
const TIMESTAMP_CHARS = 24;

/** One append: its frames, and the text of its row with one line a frame. */
export interface WrittenRow {
  readonly frames: readonly LoggedFrame[];
  readonly text: string;
  /** Time of all of them, ISO 8601. */
  readonly ts: string;
}

/** Number the frames of one append from `first` on and serialise them. @throws {TypeError} If one is not JSON. */
export function writeRow(frames: readonly NewFrame[], first: Seq): WrittenRow {
  const ts = new Date().toISOString();
  // Concatenated as text: copying the frame only to serialise it would cost more than the line.
  const lines = frames.map((frame, index) => `{"seq":${first + index},"ts":"${ts}",${JSON.stringify(frame).slice(1)}`);
  const text = lines.join('\n');
  let end = -1;
  const written = frames.map((frame, index) => {
    const start = end + 1;
    end = start + (lines[index]?.length ?? 0);
    // Slices of the row share its text, so memory holds one string a row.
    return new FrameLine(first + index, frame.type, text.slice(start, end), frame);
  });
  return { frames: written, text, ts };
}

/** Split a stored row into its frames. @param first The `seq` of its first frame. */
export function framesOfRow(text: string, first: Seq): readonly LoggedFrame[] {
  return text.split('\n').map((line, index) => new FrameLine(first + index, typeOfLine(line, first + index), line));
}

/** Keeps the frame as it was appended, so that readers in memory never parse its text. */
class FrameLine implements LoggedFrame {
  readonly seq: Seq;
  readonly type: Frame['type'];
  readonly text: string;
  /** The appended frame; `undefined` when the line was read from disk. */
  readonly #source: NewFrame | undefined;
  #frame: Frame | undefined;

  constructor(seq: Seq, type: Frame['type'], text: string, source?: NewFrame) {
    this.seq = seq;
    this.type = type;
    this.text = text;
    this.#source = source;
  }

  get frame(): Frame {
    this.#frame ??= this.#source === undefined ? (JSON.parse(this.text) as Frame) : this.#numbered(this.#source);
    return this.#frame;
  }

  #numbered(source: NewFrame): Frame {
    return { ...source, seq: this.seq, ts: timestampOfLine(this.text, this.seq) };
  }
}

function timestampOfLine(line: string, seq: Seq): string {
  const start = `{"seq":${seq},"ts":"`.length;
  return line.slice(start, start + TIMESTAMP_CHARS);
}

/** Find the type without parsing: frames are serialised with `type` first. Any other line is parsed. */
function typeOfLine(line: string, seq: Seq): Frame['type'] {
  const key = '"type":"';
  const start = `{"seq":${seq},"ts":"`.length + TIMESTAMP_CHARS + '",'.length;
  if (!line.startsWith(key, start)) return (JSON.parse(line) as Frame).type;
  const typeStart = start + key.length;
  return line.slice(typeStart, line.indexOf('"', typeStart)) as Frame['type'];
}
