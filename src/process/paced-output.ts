/**
 * Turns output into progress: the first piece at once, then the new text at most once an interval.
 *
 * The order within a stream is kept. Text beyond the display limit is dropped, and the number of dropped characters is
 * shown.
 */
import { MAX_PROGRESS_CHARS, PROGRESS_MS } from '../tool/tool.ts';
import type { OutputStream } from './process-host.ts';

/** Collects text for progress. */
export interface PacedOutput {
  add(stream: OutputStream, text: string): void;
  /** Show the pending text, and stop. */
  finish(): void;
}

/** Pending text of one stream. */
interface Waiting {
  text: string;
  omittedChars: number;
}

/**
 * Create the pacing of an output.
 *
 * @param show Called with what is new, never twice within the interval but at the end.
 * @param intervalMs Asked after each piece.
 */
export function paceOutput(
  show: (stream: OutputStream, text: string) => void,
  intervalMs = () => PROGRESS_MS,
): PacedOutput {
  /** In the order in which they became pending. */
  const waiting = new Map<OutputStream, Waiting>();
  let timer: NodeJS.Timeout | undefined;

  function showNext(): void {
    timer = undefined;
    const [next] = waiting;
    if (next === undefined) return;
    const [stream, { text, omittedChars }] = next;
    waiting.delete(stream);
    timer = setTimeout(showNext, intervalMs());
    show(stream, omittedChars === 0 ? text : `[${omittedChars} characters not shown]\n${text}`);
  }

  return {
    add(stream, text) {
      const entry = waiting.get(stream) ?? { text: '', omittedChars: 0 };
      const joined = entry.text + text;
      entry.text = latest(joined, MAX_PROGRESS_CHARS);
      entry.omittedChars += joined.length - entry.text.length;
      waiting.set(stream, entry);
      if (timer === undefined) showNext();
    },
    finish() {
      while (waiting.size > 0) {
        clearTimeout(timer);
        showNext();
      }
      clearTimeout(timer);
    },
  };
}

/** The last `chars` of a text, without a leading half of a surrogate pair. */
function latest(text: string, chars: number): string {
  if (text.length <= chars) return text;
  const kept = text.slice(-chars);
  const code = kept.charCodeAt(0);
  return code >= 0xdc00 && code <= 0xdfff ? kept.slice(1) : kept;
}
