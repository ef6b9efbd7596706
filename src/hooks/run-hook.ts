/**
 * Runs one hook: a command with the payload on its standard input, or a POST of the payload to an address.
 */
import type { HookSetting } from '../../config/settings/hooks.ts';
import { boundedText } from '../base/cut-text.ts';
import { errorMessage } from '../base/errors.ts';

/** `ended`: the hook finished, whatever its answer. `broken`: it did not, and its answer is unknown. */
export type HookEnd =
  | { readonly kind: 'ended'; readonly exitCode: number; readonly stdout: string; readonly stderr: string }
  /** `why` continues a sentence: `was still running after 60 s`. */
  | { readonly kind: 'broken'; readonly why: string };

/** Parameters of one run. */
export interface HookRun {
  /** JSON for the standard input or the request body. */
  readonly payload: string;
  /** Absolute path. */
  readonly cwd: string;
  /** Absolute path of the folder in which the session began. */
  readonly projectFolder: string;
  readonly timeoutMs: number;
  readonly outputBytes: number;
  readonly signal: AbortSignal;
}

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
    return broken(`could not be started: ${errorMessage(error)}`);
  }
}

/** Run an HTTP hook. Redirects are rejected, since only the configured address is trusted. Never rejects. */
export async function runHttpHook(
  { url, headers }: Extract<HookSetting, { type: 'http' }>,
  { payload, timeoutMs, outputBytes, signal }: HookRun,
): Promise<HookEnd> {
  const deadline = AbortSignal.timeout(Math.ceil(timeoutMs));
  try {
    const reply = await fetch(url, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: payload,
      redirect: 'manual',
      signal: AbortSignal.any([signal, deadline]),
    });
    const body = await boundedText(reply, outputBytes);
    if (body === undefined) return broken(`answered with more than ${outputBytes} bytes`);
    if (!reply.ok) return broken(`answered with status ${reply.status}`);
    return { kind: 'ended', exitCode: 0, stdout: body, stderr: '' };
  } catch {
    // The error may contain the address and secrets in it, so only the kind of failure is reported.
    if (signal.aborted) return broken('was stopped with its call');
    return broken(deadline.aborted ? `gave no answer within ${timeoutMs / 1_000} s` : 'could not be reached');
  }
}

function toHookEnd({ code, stdout, stderr, stoppedBy }: HookCommandEnd, { timeoutMs, outputBytes }: HookRun): HookEnd {
  if (stoppedBy === 'timeout') return broken(`was still running after ${timeoutMs / 1_000} s`);
  if (stoppedBy === 'output_limit') return broken(`printed more than ${outputBytes} bytes`);
  if (stoppedBy === 'signal') return broken('was stopped with its call');
  if (code === null || code > SIGNAL_BASE) return broken('was ended by a signal');
  if (NEVER_RAN.has(code)) return broken('was not found or could not be executed');
  return { kind: 'ended', exitCode: code, stdout, stderr };
}

function broken(why: string): HookEnd {
  return { kind: 'broken', why };
}
