/** Runs ripgrep once: starts it, reads until enough was read, and ends it with its children. */
import { GauntletError } from '../../../src/base/errors.ts';
import type { ProcessHost } from '../../../src/process/process-host.ts';
import { ripgrepPath } from '../../../src/process/ripgrep.ts';

/** ripgrep's own advice names command line options, which callers cannot set. */
const OWN_ADVICE = /\n+Consider enabling [\s\S]*$/;

/** Advice by error message; the first match applies. */
const ADVICE: readonly (readonly [RegExp, string])[] = [
  [/unrecognized file type/, 'Leave type out and use glob, such as "*.tsx"'],
  [/error parsing glob/, 'Correct glob'],
  [/look-around|backreferences/, 'Search with a simpler pattern, and judge the lines it finds'],
  [/the literal .* is not allowed/, 'Set multiline to true for a pattern that spans lines'],
  [/regex parse error/, 'Correct pattern: characters such as ( [ { . * + ? are literal only behind a backslash'],
];

/** No error: a glob excluded all files, or files were removed before they were searched. */
const NOTHING_SEARCHED = /^(?:rg: No files were searched|Running with --debug )/;

/** A run. */
export interface RipgrepRun {
  readonly processHost: ProcessHost;
  readonly args: readonly string[];
  /** Key of the jail it runs in; absent if none. */
  readonly jail?: string;
  /** Real paths, opened as its descriptors from 5 on. */
  readonly files?: readonly string[];
  readonly cwd: string;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  readonly maxErrorBytes: number;
  /** @returns False if enough was read; the run is then ended. */
  onOutput(chunk: Buffer): boolean;
}

/** End of a run. */
export interface RipgrepEnd {
  /** `matched`, `none` and `partial` as reported by ripgrep; `stopped` if enough was read. */
  readonly outcome: 'matched' | 'none' | 'partial' | 'stopped' | 'timeout';
  /** Number of files or folders that could not be read. */
  readonly unreadable: number;
}

/**
 * Run ripgrep.
 *
 * @throws {GauntletError} `tool_failed` with ripgrep's message if it could not search at all: an invalid expression, an
 * unknown type.
 */
export async function runRipgrep(run: RipgrepRun): Promise<RipgrepEnd> {
  run.signal.throwIfAborted();
  const errors: Buffer[] = [];
  let errorBytes = 0;
  let isEnough = false;
  let isLate = false;
  let stop: () => void = () => undefined;
  const stopped = new Promise<'stopped'>((resolve) => (stop = () => resolve('stopped')));
  const child = run.processHost.spawn({
    file: ripgrepPath,
    args: run.args,
    files: run.files,
    jail: run.jail,
    cwd: run.cwd,
    onOutput: (stream, chunk) => {
      if (stream === 'stderr') {
        if (errorBytes < run.maxErrorBytes) errors.push(chunk);
        errorBytes += chunk.length;
      } else if (!isEnough && !run.onOutput(chunk)) {
        isEnough = true;
        stop();
      }
    },
  });
  const timer = setTimeout(() => {
    isLate = true;
    stop();
  }, run.timeoutMs);
  run.signal.addEventListener('abort', stop, { once: true });
  try {
    await child.started;
    const ended = await Promise.race([child.exited, stopped]);
    run.signal.throwIfAborted();
    if (ended === 'stopped') return { outcome: isLate ? 'timeout' : 'stopped', unreadable: 0 };
    if (isEnough) return { outcome: 'stopped', unreadable: 0 };
    return judgeExit(ended.code, Buffer.concat(errors).toString());
  } finally {
    clearTimeout(timer);
    run.signal.removeEventListener('abort', stop);
    if (isEnough || isLate || run.signal.aborted) await child.killTree();
  }
}

function judgeExit(code: number | null, errorText: string): RipgrepEnd {
  if (code === 0) return { outcome: 'matched', unreadable: 0 };
  if (code === 1) return { outcome: 'none', unreadable: 0 };
  const lines = errorText.split('\n').filter((line) => line !== '' && !NOTHING_SEARCHED.test(line));
  // "rg: some/path: Permission denied (os error 13)": only that file is missing from the results.
  const isOnlyUnreadable = lines.every((line) => /\(os error \d+\)$/.test(line));
  if (code === 2 && isOnlyUnreadable)
    return { outcome: lines.length > 0 ? 'partial' : 'none', unreadable: lines.length };
  throw searchError(errorText, code);
}

/** Create the error of a search that failed completely. @param text Output on stderr. */
function searchError(text: string, exitCode: number | null): GauntletError {
  const words = text.replace(OWN_ADVICE, '').replace(/^rg: /, '').trim();
  const why = words === '' ? `ripgrep ended with code ${exitCode}. Try again` : words;
  const advice = ADVICE.find(([said]) => said.test(why))?.[1];
  return new GauntletError('tool_failed', `Cannot search: ${why}${advice === undefined ? '' : `\n${advice}`}`);
}
