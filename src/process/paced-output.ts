/**
 * Output as progress: the first piece at once, then what is new since, at most once an interval.
 *
 * Order within a stream is kept. What comes faster than it may be shown is left out, and says so.
 */
import type { Limits } from '../../config/limits.ts';
import type { OutputStream } from './process-host.ts';

/** Takes text as it comes. */
export interface PacedOutput {
  add(stream: OutputStream, text: string): void;
  /** Show what still waits, and stop. */
  finish(): void;
}

/** What waits of one stream. */
interface Waiting {
  text: string;
  omittedChars: number;
}

/**
 * Pace an output.
 *
 * @param show Called with what is new, never twice within the interval but at the end.
 * @param intervalMs Asked after each piece; `limits.progressMs` where it is not given.
 */
export function paceOutput(
  limits: Pick<Limits, 'progressMs' | 'progressChars'>,
  show: (stream: OutputStream, text: string) => void,
  intervalMs = () => limits.progressMs,
): PacedOutput {
  /** In the order in which they began to wait. */
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
      entry.text = latest(joined, limits.progressChars);
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

/** The last `chars` of a text, not beginning with half a character. */
function latest(text: string, chars: number): string {
  if (text.length <= chars) return text;
  const kept = text.slice(-chars);
  const code = kept.charCodeAt(0);
  return code >= 0xdc00 && code <= 0xdfff ? kept.slice(1) : kept;
}
