/**
 * Runs a command hook: the payload on its standard input, its answer on its standard output.
 */
import type { HookSetting } from '../../config/settings/hooks.ts';
import { errorMessage } from '../base/errors.ts';
import type { HookEnd, HookRun } from './hook-end.ts';

/** A program to run to its end, for `RunHookCommand`. */
export interface HookCommand extends Pick<HookRun, 'cwd' | 'timeoutMs' | 'outputBytes' | 'signal'> {
  readonly file: string;
  readonly args: readonly string[];
  /** Added to the allow-listed environment of children. */
  readonly env: Readonly<Record<string, string>>;
  /** Written to its standard input, which is then closed. The program need not read it. */
  readonly input: string;
}

/** Outcome of a program. */
export interface HookCommandEnd {
  /** `null` if a signal ended it. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** Reason why it was stopped; absent if it ended by itself. */
  readonly stoppedBy?: 'timeout' | 'signal' | 'output_limit';
}

/** Runs a program in its own process group and leaves no process behind. Rejects if it cannot be started. */
export type RunHookCommand = (command: HookCommand) => Promise<HookCommandEnd>;

/** Exit codes of a shell whose program was not found or could not be executed: the hook itself never ran. */
const NEVER_RAN = new Set([126, 127]);
/** A shell exits with this plus the signal's number if a signal ended its program. */
const SIGNAL_BASE = 128;

/** Run a command hook. Never rejects. */
export async function runCommandHook(
  { command, args }: Extract<HookSetting, { type: 'command' }>,
  run: HookRun,
  runCommand: RunHookCommand,
): Promise<HookEnd> {
  const { payload, projectFolder, ...bounds } = run;
  const program = args ? { file: command, args } : { file: 'bash', args: ['-c', command] };
  try {
    const end = await runCommand({ ...bounds, ...program, input: payload, env: { CLAUDE_PROJECT_DIR: projectFolder } });
    return toHookEnd(end, run);
  } catch (error) {
    return { kind: 'broken', why: `could not be started: ${errorMessage(error)}` };
  }
}

function toHookEnd({ code, stdout, stderr, stoppedBy }: HookCommandEnd, { timeoutMs, outputBytes }: HookRun): HookEnd {
  const broken = (why: string): HookEnd => ({ kind: 'broken', why });
  if (stoppedBy === 'timeout') return broken(`was still running after ${timeoutMs / 1_000} s`);
  if (stoppedBy === 'output_limit') return broken(`printed more than ${outputBytes} bytes`);
  if (stoppedBy === 'signal') return broken('was stopped with its call');
  if (code === null || code > SIGNAL_BASE) return broken('was ended by a signal');
  if (NEVER_RAN.has(code)) return broken('was not found or could not be executed');
  return { kind: 'ended', exitCode: code, stdout, stderr };
}
