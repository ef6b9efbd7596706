/**
 * Formats frames for long HTTP replies: lines of JSON, or Server-Sent Events.
 */
import Negotiator from 'negotiator';
import type { LoggedFrame } from '../src/log/frame-log.ts';
import type { ControlFrame } from '../src/wire/control-frames.ts';

/** A format of frames. */
export interface FrameWriting {
  readonly contentType: string;
  readonly heartbeat?: string;
  write(page: readonly LoggedFrame[], epoch: string): string;
  /** Format a frame that is only for this reader. */
  writeControl(frame: ControlFrame): string;
}

const NDJSON: FrameWriting = {
  contentType: 'application/x-ndjson; charset=utf-8',
  heartbeat: '\n',
  write: (page) => page.map(({ text }) => `${text}\n`).join(''),
  writeControl: (frame) => `${JSON.stringify(frame)}\n`,
};

/** Browsers return the `id` as `Last-Event-ID`. */
const EVENTS: FrameWriting = {
  contentType: 'text/event-stream; charset=utf-8',
  heartbeat: ':\n\n',
  write: (page, epoch) => page.map(({ seq, text }) => `id: ${epoch}.${seq}\ndata: ${text}\n\n`).join(''),
  writeControl: (frame) => `data: ${JSON.stringify(frame)}\n\n`,
};

/** Offered first, so it wins if a client accepts several types equally: one JSON object. */
const JSON_TYPE = 'application/json; charset=utf-8';

const WRITINGS: ReadonlyMap<string, FrameWriting> = new Map(
  [NDJSON, EVENTS].map((writing) => [writing.contentType, writing]),
);
const OFFERED_TYPES = [JSON_TYPE, ...WRITINGS.keys()];

/** Content types of replies that stream frames, without parameters. */
export const FRAME_TYPES = [...WRITINGS.keys()].map((type) => type.replace(/;.*/, ''));

/**
 * Return the format that an `Accept` header prefers; `undefined` for one JSON object, also if nothing offered is
 * acceptable.
 */
export function writingFor(accept: string | undefined): FrameWriting | undefined {
  if (accept === undefined) return undefined;
  const preferred = new Negotiator({ headers: { accept } }).mediaType(OFFERED_TYPES);
  return preferred === undefined ? undefined : WRITINGS.get(preferred);
}

/** Format pages of frames as chunks of text. */
export async function* writeFrames(
  pages: AsyncIterable<readonly LoggedFrame[]>,
  writing: FrameWriting,
  epoch: string,
): AsyncGenerator<string> {
  for await (const page of pages) yield writing.write(page, epoch);
}
