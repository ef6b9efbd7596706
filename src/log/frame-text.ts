/**
 * A frame and its line of JSON.
 *
 * Each frame is serialised once, when it is appended; the same text is stored, kept in memory and
 * sent. One row of the log holds the lines of one append.
 */
import type { Frame, NewFrame, Seq } from '../contract/frames.ts';
import type { LoggedFrame } from './frame-log.ts';

/** ISO 8601 UTC with milliseconds, as `Date.toISOString` writes it. */
const TIMESTAMP_CHARS = 24;

/** Number the frames of one append from `first` on and write each as a line. @throws {TypeError} If one is not JSON. */
export function numberFrames(frames: readonly NewFrame[], first: Seq): readonly LoggedFrame[] {
  const ts = new Date().toISOString();
  return frames.map((frame, index) => {
    const seq = first + index;
    // Put together as text: a copy of the frame only to have it serialised would cost more than the line.
    const text = `{"seq":${seq},"ts":"${ts}",${JSON.stringify(frame).slice(1)}`;
    return new FrameLine(seq, frame.type, text, frame);
  });
}

/** The text of a row: its frames, a line each. */
export function rowText(frames: readonly LoggedFrame[]): string {
  const [only] = frames;
  if (frames.length === 1 && only !== undefined) return only.text;
  return frames.map((frame) => frame.text).join('\n');
}

/** The frames of a stored row whose first is `first`. */
export function framesOfRow(text: string, first: Seq): readonly LoggedFrame[] {
  return text.split('\n').map((line, index) => new FrameLine(first + index, typeOfLine(line, first + index), line));
}

/** Keeps what a frame was appended as, so that readers in memory never parse its text. */
class FrameLine implements LoggedFrame {
  readonly seq: Seq;
  readonly type: Frame['type'];
  readonly text: string;
  /** What was appended; undefined when the line came from the disk. */
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

/** Frames are written type first, so that their type is found without parsing; any other is parsed. */
function typeOfLine(line: string, seq: Seq): Frame['type'] {
  const key = '"type":"';
  const start = `{"seq":${seq},"ts":"`.length + TIMESTAMP_CHARS + '",'.length;
  if (!line.startsWith(key, start)) return (JSON.parse(line) as Frame).type;
  const typeStart = start + key.length;
  return line.slice(typeStart, line.indexOf('"', typeStart)) as Frame['type'];
}
