/**
 * One run of ripgrep: started, read until enough was read, ended with all it started.
 */
import { GauntletError } from '../../../src/base/errors.ts';
import type { ProcessHost } from '../../../src/process/process-host.ts';
import { ripgrepPath } from '../../../src/process/ripgrep.ts';

/** ripgrep's own advice names options of its command line, which nobody here can give. */
const OWN_ADVICE = /\n+Consider enabling [\s\S]*$/;

/** By what ripgrep says, the first that fits. */
const ADVICE: readonly (readonly [RegExp, string])[] = [
  [/unrecognized file type/, 'Leave type out and use glob, such as "*.tsx"'],
  [/error parsing glob/, 'Correct glob'],
  [/look-around|backreferences/, 'Search with a simpler pattern, and judge the lines it finds'],
  [/the literal .* is not allowed/, 'Set multiline to true for a pattern that spans lines'],
  [/regex parse error/, 'Correct pattern: characters such as ( [ { . * + ? are literal only behind a backslash'],
];

/** A glob that leaves nothing to search, or files that are gone before they are, is no error of the search. */
const NOTHING_SEARCHED = /^(?:rg: No files were searched|Running with --debug )/;

/** A run. */
export interface RipgrepRun {
  readonly processHost: ProcessHost;
  readonly args: readonly string[];
  /** Key of the jail it runs in; absent: none. */
  readonly jail?: string;
  /** Real paths: its descriptors from 5 on. */
  readonly files?: readonly string[];
  readonly cwd: string;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  readonly maxErrorBytes: number;
  /** @returns False when enough was read: the run is ended. */
  onOutput(chunk: Buffer): boolean;
}

/** How it ended. */
export interface RipgrepEnd {
  /** `matched`, `none` and `partial` as ripgrep reports them; `stopped` when enough was read. */
  readonly outcome: 'matched' | 'none' | 'partial' | 'stopped' | 'timeout';
  /** Files or folders that could not be read. */
  readonly unreadable: number;
}

/**
 * Run ripgrep.
 *
 * @throws {GauntletError} `tool_failed` with ripgrep's words when it could not search at all: a bad expression, an unknown type.
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
  // "rg: some/path: Permission denied (os error 13)": that file is missing from the search, the rest is not.
  const isOnlyUnreadable = lines.every((line) => /\(os error \d+\)$/.test(line));
  if (code === 2 && isOnlyUnreadable)
    return { outcome: lines.length > 0 ? 'partial' : 'none', unreadable: lines.length };
  throw searchError(errorText, code);
}

/** Why a search could not be made at all. @param text What ripgrep wrote to stderr. */
function searchError(text: string, exitCode: number | null): GauntletError {
  const words = text.replace(OWN_ADVICE, '').replace(/^rg: /, '').trim();
  const why = words === '' ? `ripgrep ended with code ${exitCode}. Try again` : words;
  const advice = ADVICE.find(([said]) => said.test(why))?.[1];
  return new GauntletError('tool_failed', `Cannot search: ${why}${advice === undefined ? '' : `\n${advice}`}`);
}
