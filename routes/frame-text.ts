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

/** How replies can be written, by content type; anything else is one JSON object. */
const WRITINGS: ReadonlyMap<string, FrameWriting> = new Map([
  ['application/x-ndjson', NDJSON],
  ['text/event-stream', EVENTS],
]);

/** The content types in which frames are written as they happen. */
export const FRAME_TYPES = [...WRITINGS.keys()];

/** The writing an `Accept` header likes best, of equals the first; undefined: one JSON object. */
export function writingFor(accept: string | undefined): FrameWriting | undefined {
  const wanted = accept?.toLowerCase() ?? '';
  if (!FRAME_TYPES.some((type) => wanted.includes(type))) return undefined;
  const choices = wanted.split(',').map(readChoice);
  const best = choices.reduce((best, choice) => (choice.weight > best.weight ? choice : best));
  return best.weight > 0 ? WRITINGS.get(best.type) : undefined;
}

/** `text/event-stream; q=0.5`. What is not a number weighs nothing. */
function readChoice(text: string): { readonly type: string; readonly weight: number } {
  const [type = '', ...parameters] = text.split(';').map((part) => part.trim());
  const quality = parameters.find((parameter) => parameter.startsWith('q='));
  return { type, weight: quality === undefined ? 1 : Number(quality.slice(2)) || 0 };
}

/** Pages of frames as chunks of text. */
export async function* writeFrames(
  pages: AsyncIterable<readonly LoggedFrame[]>,
  writing: FrameWriting,
  epoch: string,
): AsyncGenerator<string> {
  for await (const page of pages) yield writing.write(page, epoch);
}
