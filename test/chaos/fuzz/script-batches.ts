/**
 * Scripts run many to a shell, one after another, each in a subshell, with a look at what they may have changed.
 *
 * A subshell keeps what one script sets from the next, and costs less than a process. The way in is the server's:
 * `eval` of a text, an empty standard input.
 */
import { ShellLine } from '../../../src/shell/shell-line.ts';
import { shellRequest } from '../../../tools/shell/bash/shell-request.ts';
import type { Decoys } from './decoys.ts';

/** How scripts ended that were run together. */
export interface BatchEnd {
  /** Those that left something changed, or printed what they must not. */
  readonly acting: readonly string[];
  /** Those that took too long. */
  readonly cutOff: readonly string[];
}

/** Runs scripts. */
export type RunScripts = (scripts: readonly string[]) => Promise<BatchEnd>;

/** A shell that runs. */
export interface RunningShell {
  /** Resolves when it has ended, whatever its way. */
  readonly ended: Promise<unknown>;
  /** Ends it and all that it started. */
  kill(): void;
}

/** Where a shell is started. Its standard output tells of progress, its standard error is what the scripts print. */
export interface ShellPlace {
  readonly decoys: Decoys;
  /** No script may print this. */
  readonly canary?: string;
  /** @param onOutput Called for each chunk. */
  start(program: string, onOutput: (stream: 'stdout' | 'stderr', chunk: Buffer) => void): RunningShell;
}

/** Time for one script, in milliseconds: all of them end at once, or wait for something that never comes. */
const MAX_SCRIPT_MS = 2_000;

/**
 * Bounds, and a pipe for progress that ends when nothing that a script left running holds it any more. Its descriptor
 * stands where no script looks for it.
 */
const PROLOGUE = 'ulimit -t 2 -f 20000 -c 0; exec 50> >(exec cat) >&2; piped=$!\n';
const EPILOGUE = 'exec 50>&-; wait "$piped"\n';

/** Make a runner of scripts in one place. What is found is narrowed down by halves. */
export function scriptRunner(place: ShellPlace): RunScripts {
  const findActing = async (scripts: readonly string[], cutOff: Set<string>): Promise<readonly string[]> => {
    let isShown = false;
    for (let rest = scripts; rest.length > 0;) {
      const { count, hasCanary } = await runShell(place, rest);
      isShown ||= hasCanary;
      const late = rest[count];
      if (late !== undefined) cutOff.add(late);
      rest = rest.slice(count + 1);
    }
    const isChanged = place.decoys.isChanged();
    if (!isChanged && !isShown) return [];
    if (scripts.length === 1) return scripts;
    const middle = Math.ceil(scripts.length / 2);
    return [
      ...(await findActing(scripts.slice(0, middle), cutOff)),
      ...(await findActing(scripts.slice(middle), cutOff)),
    ];
  };
  return async (scripts) => {
    const cutOff = new Set<string>();
    return { acting: await findActing(scripts, cutOff), cutOff: [...cutOff] };
  };
}

/** @returns How many of the scripts ended. */
async function runShell(
  { start, canary }: ShellPlace,
  scripts: readonly string[],
): Promise<{ readonly count: number; readonly hasCanary: boolean }> {
  const lines = scripts.map((script) => {
    const { shellScript = '' } = shellRequest(new ShellLine(script), '/');
    return `(unset piped;eval ${quote(shellScript)}) </dev/null 2>&1\nprintf . >&50\n`;
  });
  let [count, hasCanary, tail] = [0, false, ''];
  const shell = start(PROLOGUE + lines.join('') + EPILOGUE, (stream, chunk) => {
    if (stream === 'stdout') {
      count += chunk.length;
      timer.refresh();
    } else if (canary !== undefined) {
      const text = tail + chunk.toString('latin1');
      hasCanary ||= text.includes(canary);
      tail = text.slice(-canary.length);
    }
  });
  const timer = setTimeout(() => shell.kill(), MAX_SCRIPT_MS);
  await shell.ended;
  clearTimeout(timer);
  shell.kill();
  return { count: Math.min(count, scripts.length), hasCanary };
}

/** A text as one word of bash. */
export function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
