/** Turns the lines of a command into notices, at a bounded rate. */
import { cutText } from '../../src/base/cut-text.ts';
import { GauntletError } from '../../src/base/errors.ts';
import { showText } from '../../src/base/hidden-characters.ts';
import type { OutputFollower } from './bash/run.ts';

/** Lines that come within this time are one notice. */
const NOTICE_MS = 500;

/** Notices after which that time doubles, again and again: one that watches for days does not fill the log. */
const NOTICES_PER_PACE = 100;

const MAX_NOTICE_MS = 60_000;

/** Lines of one notice; of more, the last are shown. */
const NOTICE_LINES = 20;

/** Characters of a line that are shown. */
const LINE_CHARS = 500;

/** A command that writes more than these within the time is no watcher, and is ended. */
const FLOOD_MS = 10_000;
const FLOOD_LINES = 5_000;
const FLOOD_CHARS = 1_048_576;

/**
 * Follow the lines of a command's standard output.
 *
 * @param tell Called with the text of each notice.
 */
export function followLines(tell: (text: string) => void): OutputFollower {
  const flood = new AbortController();
  const isFlood = createFloodTest();
  const notices = paceNotices(tell);
  let partial = '';
  return {
    signal: flood.signal,
    take(stream, text) {
      if (stream !== 'stdout' || flood.signal.aborted) return;
      const lines = text.split('\n');
      // What a notice would not show of a line is not kept.
      lines[0] = partial.length > LINE_CHARS ? partial : partial + (lines[0] ?? '');
      partial = lines.pop() ?? '';
      for (const line of lines) notices.add(line);
      if (isFlood(lines.length, text.length)) flood.abort(new GauntletError('output_limit', FLOODED));
    },
    finish() {
      notices.add(partial);
      notices.finish();
    },
  };
}

const FLOODED =
  `It wrote more than ${FLOOD_LINES} lines or ${FLOOD_CHARS} characters in ${FLOOD_MS / 1_000} s. ` +
  'Let it write only what matters, as with grep --line-buffered';

/** Create the test that counts lines and characters, and is true once there are too many. */
function createFloodTest(): (lines: number, chars: number) => boolean {
  let recent = { sinceMs: performance.now(), lines: 0, chars: 0 };
  return (lines, chars) => {
    const now = performance.now();
    if (now - recent.sinceMs > FLOOD_MS) recent = { sinceMs: now, lines: 0, chars: 0 };
    recent = { ...recent, lines: recent.lines + lines, chars: recent.chars + chars };
    return recent.lines > FLOOD_LINES || recent.chars > FLOOD_CHARS;
  };
}

/** Collect lines, and tell of them at most once an interval. */
function paceNotices(tell: (text: string) => void) {
  let lines: string[] = [];
  let folded = 0;
  let count = 0;
  let timer: NodeJS.Timeout | undefined;

  function flush(): void {
    timer = undefined;
    if (lines.length === 0) return;
    const more = folded === 0 ? [] : [`(${folded} more lines before these)`];
    tell([...more, ...lines].join('\n'));
    [lines, folded] = [[], 0];
    count += 1;
  }

  return {
    add(line: string): void {
      if (line.trim() === '') return;
      lines.push(showText(line.length > LINE_CHARS ? `${cutText(line, LINE_CHARS)}…` : line));
      if (lines.length > NOTICE_LINES) {
        lines.shift();
        folded += 1;
      }
      const pace = 2 ** Math.floor(count / NOTICES_PER_PACE);
      timer ??= setTimeout(flush, Math.min(NOTICE_MS * pace, MAX_NOTICE_MS));
    },
    finish(): void {
      clearTimeout(timer);
      flush();
    },
  };
}
