/**
 * A hook that is a command: the payload on its standard input, its answer on its standard output.
 */
import type { HookSetting } from '../../config/settings/hooks.ts';
import { errorMessage } from '../base/errors.ts';
import type { HookEnd, HookRun } from './hook-end.ts';

/** A program to run to its end, as whoever owns the processes takes it. */
export interface HookCommand extends Pick<HookRun, 'cwd' | 'timeoutMs' | 'outputBytes' | 'signal'> {
  readonly file: string;
  readonly args: readonly string[];
  /** Added to the allow-listed environment. */
  readonly env: Readonly<Record<string, string>>;
  /** Written to its standard input, which is then closed. A program need not read it. */
  readonly input: string;
}

/** How a program ended. */
export interface HookCommandEnd {
  /** null when a signal ended it. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** Why it was stopped; absent when it ended by itself. */
  readonly stoppedBy?: 'timeout' | 'signal' | 'output_limit';
}

/** Runs a program in a group of its own and leaves nothing of it behind. Rejects when it cannot be started. */
export type RunHookCommand = (command: HookCommand) => Promise<HookCommandEnd>;

/** A shell says these of a program it did not find or could not execute: the hook itself never ran. */
const NEVER_RAN = new Set([126, 127]);
/** A shell says this and the signal's number of a program that a signal ended. */
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
    return judge(end, run);
  } catch (error) {
    return { kind: 'broken', why: `could not be started: ${errorMessage(error)}` };
  }
}

function judge({ code, stdout, stderr, stoppedBy }: HookCommandEnd, { timeoutMs, outputBytes }: HookRun): HookEnd {
  const broken = (why: string): HookEnd => ({ kind: 'broken', why });
  if (stoppedBy === 'timeout') return broken(`was still running after ${timeoutMs / 1_000} s`);
  if (stoppedBy === 'output_limit') return broken(`printed more than ${outputBytes} bytes`);
  if (stoppedBy === 'signal') return broken('was stopped with its call');
  if (code === null || code > SIGNAL_BASE) return broken('was ended by a signal');
  if (NEVER_RAN.has(code)) return broken('was not found or could not be executed');
  return { kind: 'ended', exitCode: code, stdout, stderr };
}
