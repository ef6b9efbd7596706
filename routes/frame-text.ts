/**
 * Frames as text for long HTTP replies: lines of JSON, or Server-Sent Events.
 */
import type { LoggedFrame } from '../src/log/frame-log.ts';

/** A way to write frames. */
export interface FrameWriting {
  readonly contentType: string;
  readonly heartbeat?: string;
  write(page: readonly LoggedFrame[], epoch: string): string;
  /** A frame that belongs to this reader alone. */
  writeControl(frame: object): string;
}

const NDJSON: FrameWriting = {
  contentType: 'application/x-ndjson; charset=utf-8',
  write: (page) => page.map(({ text }) => `${text}\n`).join(''),
  writeControl: (frame) => `${JSON.stringify(frame)}\n`,
};

/** `id` is what a browser sends back as `Last-Event-ID`. */
const EVENTS: FrameWriting = {
  contentType: 'text/event-stream; charset=utf-8',
  heartbeat: ':\n\n',
  write: (page, epoch) => page.map(({ seq, text }) => `id: ${epoch}.${seq}\ndata: ${text}\n\n`).join(''),
  writeControl: (frame) => `data: ${JSON.stringify(frame)}\n\n`,
};

/** The writing an `Accept` header asks for; undefined: one JSON object. */
export function writingFor(accept: string | undefined): FrameWriting | undefined {
  if (accept === undefined) return undefined;
  if (accept.includes('text/event-stream')) return EVENTS;
  return accept.includes('application/x-ndjson') ? NDJSON : undefined;
}

/** Pages of frames as chunks of text. */
export async function* writeFrames(
  pages: AsyncIterable<readonly LoggedFrame[]>,
  writing: FrameWriting,
  epoch: string,
): AsyncGenerator<string> {
  for await (const page of pages) yield writing.write(page, epoch);
}
