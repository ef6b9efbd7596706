/**
 * Follows the log of a session while somebody needs it, and goes on where it was after a cut.
 */
import { GauntletError } from './errors.ts';
import { type Http, pause } from './http.ts';
import type { Frame } from './wire.ts';

/** The server sends something at least twice in this time; a connection without a byte is dead. */
const SILENCE_MS = 90_000;
const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 5_000;
/** Longest frame that is read, in characters. */
const MAX_LINE_CHARS = 64 * 1024 * 1024;

/** The log of one session. */
export interface Events {
  /** Read frames until the function that is returned is called. */
  hold(): () => void;
  close(): void;
}

/**
 * Create the follower; it opens nothing before it is held.
 *
 * @param fromSeq The frames after this one are read.
 * @param onFrame Gets each frame once, in order.
 */
export function followEvents(http: Http, sessionId: string, fromSeq: number, onFrame: (frame: Frame) => void): Events {
  let seen = fromSeq;
  let holders = 0;
  let reading: AbortController | undefined;

  async function follow(signal: AbortSignal): Promise<void> {
    let pauseMs = FIRST_PAUSE_MS;
    while (!signal.aborted) {
      try {
        const path = `/sessions/${encodeURIComponent(sessionId)}/events?from_seq=${seen}`;
        await readFrames(http, path, signal, (frame) => {
          pauseMs = FIRST_PAUSE_MS;
          if (signal.aborted || frame.seq <= seen) return;
          seen = frame.seq;
          onFrame(frame);
        });
      } catch (error) {
        // The session is gone or not ours: the request that needs it is told so.
        if (error instanceof GauntletError && error.status >= 400 && error.status < 429) return;
      }
      // Rejects only when nobody needs frames any more.
      await pause(pauseMs, signal).catch(() => undefined);
      pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS);
    }
  }

  return {
    hold() {
      holders += 1;
      if (reading === undefined) {
        reading = new AbortController();
        void follow(reading.signal);
      }
      let isHeld = true;
      return () => {
        if (!isHeld) return;
        isHeld = false;
        holders -= 1;
        if (holders > 0) return;
        reading?.abort();
        reading = undefined;
      };
    },
    close() {
      reading?.abort();
    },
  };
}

/** Read one connection to its end. */
async function readFrames(
  http: Http,
  path: string,
  signal: AbortSignal,
  onFrame: (frame: Frame) => void,
): Promise<void> {
  const silence = new AbortController();
  const end = () => silence.abort();
  signal.addEventListener('abort', end, { once: true });
  let timer = setTimeout(end, SILENCE_MS);
  try {
    const reader = (await http.events(path, silence.signal)).getReader();
    const decoder = new TextDecoder();
    let rest = '';
    for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
      clearTimeout(timer);
      timer = setTimeout(end, SILENCE_MS);
      const lines = (rest + decoder.decode(piece.value, { stream: true })).split('\n');
      rest = lines.pop() ?? '';
      if (rest.length > MAX_LINE_CHARS) throw new GauntletError('invalid_reply', 'A frame is too long');
      for (const line of lines) {
        if (!line.startsWith('data:')) continue;
        const frame = JSON.parse(line.slice('data:'.length)) as Frame | { readonly seq?: undefined };
        // Control frames, such as a gap, have no number.
        if (frame.seq !== undefined) onFrame(frame);
      }
    }
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', end);
    // Ends the connection where a frame could not be read.
    silence.abort();
  }
}
