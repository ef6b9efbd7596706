/**
 * Runs a small program to its end: text in, two texts out, with limits of time and output, and no process left behind.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { GauntletError } from '../base/errors.ts';
import type { HostedProcess, ProcessExit, ProcessHost, SpawnRequest } from './process-host.ts';
import { STRAGGLER_MS } from './run-command.ts';

/** Options of one run. */
export interface ProgramRun extends Required<Pick<SpawnRequest, 'file' | 'args' | 'cwd' | 'env'>> {
  /** Written to its standard input, which is then closed; the program need not read it. */
  readonly input: string;
  readonly timeoutMs: number;
  /** Limit of both pipes together; a program that writes more is ended. */
  readonly outputBytes: number;
  readonly signal: AbortSignal;
}

/** Outcome of a run. */
export interface ProgramEnd extends ProcessExit {
  readonly stdout: string;
  readonly stderr: string;
  /** Reason why it was stopped; absent if it ended by itself. */
  readonly stoppedBy?: 'timeout' | 'signal' | 'output_limit';
}

/**
 * Run a program and end all it started.
 *
 * @throws {GauntletError} As `HostedProcess.started` does, if it cannot be started; `cancelled` if the signal was
 *   already aborted.
 */
export async function runProgram(host: ProcessHost, run: ProgramRun): Promise<ProgramEnd> {
  if (run.signal.aborted) throw new GauntletError('cancelled', 'Cancelled before it began');
  const chunks = { stdout: [] as Buffer[], stderr: [] as Buffer[] };
  let bytes = 0;
  let stoppedBy: ProgramEnd['stoppedBy'];
  let child: HostedProcess | undefined;
  const stop = (why: NonNullable<ProgramEnd['stoppedBy']>) => {
    stoppedBy ??= why;
    void child?.killTree();
  };
  const onAbort = () => stop('signal');
  const timer = setTimeout(() => stop('timeout'), run.timeoutMs);
  run.signal.addEventListener('abort', onAbort, { once: true });
  try {
    const { file, args, cwd, env } = run;
    child = host.spawn({
      ...{ file, args, cwd, env },
      stdin: 'pipe',
      onOutput(stream, chunk) {
        bytes += chunk.length;
        if (bytes > run.outputBytes) stop('output_limit');
        else chunks[stream].push(Buffer.from(chunk));
      },
    });
    feed(child, run.input);
    const exit = await child.exited;
    clearTimeout(timer);
    const ended = child.killTree();
    await (stoppedBy === undefined ? Promise.race([ended, delay(STRAGGLER_MS, undefined, { ref: false })]) : ended);
    const text = (stream: keyof typeof chunks) => Buffer.concat(chunks[stream]).toString('utf8');
    return {
      ...exit,
      stdout: text('stdout'),
      stderr: text('stderr'),
      ...(stoppedBy === undefined ? {} : { stoppedBy }),
    };
  } finally {
    clearTimeout(timer);
    run.signal.removeEventListener('abort', onAbort);
  }
}

/** Write the input without waiting: a program that does not read it may still end, and its exit reports the outcome. */
function feed(child: HostedProcess, input: string): void {
  const written = child.write(input).then(() => child.end());
  // Unread input is not a failure of the program.
  written.catch(() => undefined);
}
