/**
 * Runs one child from start to end, within limits of time and output, and leaves no process behind.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { GauntletError } from '../base/errors.ts';
import { type BoundedOutputOptions, createBoundedOutput, type OutputEnd } from './bounded-output.ts';
import type { HostedProcess, ProcessExit, ProcessHost, SpawnRequest } from './process-host.ts';

/** Options of one run. */
export interface CommandRun extends Pick<BoundedOutputOptions, 'onText' | 'isFileKept'> {
  readonly request: Omit<SpawnRequest, 'onOutput'>;
  /** `undefined`: no limit. */
  readonly timeoutMs?: number;
  readonly signal: AbortSignal;
  /** Absolute path of the file for an output that exceeds memory. */
  readonly outputPath: string;
}

/** Outcome of a run. */
export interface CommandEnd extends ProcessExit {
  readonly output: OutputEnd;
  /** Reason why it was stopped; absent if it ended by itself. */
  readonly stoppedBy?: 'timeout' | 'signal' | 'output_limit';
}

/** Time that a call waits, after its leader has ended, for the remaining processes to end. */
export const STRAGGLER_MS = 100;

/**
 * Run a child and end all it started.
 *
 * @returns Once the leader has ended. A stopped tree has ended too; processes that a finished command left behind are
 *   being ended, for which this waits at most `STRAGGLER_MS`.
 * @throws {GauntletError} As `HostedProcess.started` does, if it cannot be started; `cancelled` if the signal was
 *   already aborted.
 */
export async function runCommand(
  host: ProcessHost,
  limits: BoundedOutputOptions['limits'],
  run: CommandRun,
): Promise<CommandEnd> {
  let stoppedBy: CommandEnd['stoppedBy'];
  let child: HostedProcess | undefined;
  const stop = (why: NonNullable<CommandEnd['stoppedBy']>) => {
    stoppedBy ??= why;
    void child?.killTree();
  };
  const { outputPath: path, isFileKept, onText } = run;
  const output = createBoundedOutput({ limits, path, isFileKept, onText, onLimit: () => stop('output_limit') });
  const onAbort = () => stop('signal');
  const timer = run.timeoutMs === undefined ? undefined : setTimeout(() => stop('timeout'), run.timeoutMs);
  run.signal.addEventListener('abort', onAbort, { once: true });
  try {
    if (run.signal.aborted) throw new GauntletError('cancelled', 'Cancelled before it began');
    child = host.spawn({ ...run.request, onOutput: output.take });
    const exit = await child.exited;
    clearTimeout(timer);
    const ended = child.killTree();
    await (stoppedBy === undefined ? Promise.race([ended, delay(STRAGGLER_MS, undefined, { ref: false })]) : ended);
    return { ...exit, output: await output.finish(), ...(stoppedBy === undefined ? {} : { stoppedBy }) };
  } catch (error) {
    await output.finish();
    throw error;
  } finally {
    clearTimeout(timer);
    run.signal.removeEventListener('abort', onAbort);
  }
}
