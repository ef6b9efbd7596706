/** Decides whether a command failed, and formats the error. */
import { GauntletError } from '../../../src/base/errors.ts';
import { outputText } from '../../../src/process/output-text.ts';
import type { CommandEnd } from '../../../src/process/run-command.ts';
import { findRecord, subcommandOf } from '../../../src/shell/programs/index.ts';
import type { ShellVerdict } from '../../../src/shell/verdict.ts';
import type { SpilledText } from '../../../src/wire/blocks.ts';

/**
 * Judge the end of a command.
 *
 * @returns Meaning of a non-zero exit code that is not a failure.
 * @throws {GauntletError} `tool_failed`, `contained` if the jail is the likely cause, `timeout`, `output_limit` or
 * `cancelled`, with the output so far.
 */
export function judgeEnd(
  verdict: ShellVerdict,
  end: CommandEnd,
  { timeoutMs, isHeld }: { readonly timeoutMs: number; readonly isHeld: boolean },
): string | undefined {
  const fail = (code: 'tool_failed' | 'contained' | 'timeout' | 'output_limit' | 'cancelled', cause: string) => {
    const text = [cause, outputText(end.output)].filter(Boolean).join('\n');
    throw new GauntletError(code, text, { details: { spilled: wholeOutput(end) } });
  };
  switch (end.stoppedBy) {
    case 'timeout':
      return fail(
        'timeout',
        `The command was ended after ${timeoutMs} ms. Give it a longer timeout, or run it in the background`,
      );
    case 'output_limit':
      return fail(
        'output_limit',
        `The command was ended: it wrote more than ${end.output.totalChars} characters. Let it write less`,
      );
    case 'signal':
      return fail('cancelled', 'The command was cancelled');
    case undefined:
  }
  if (isHeld && end.code !== 0 && wasRefused(end) && !reportsDifference(verdict, end.code))
    return fail('contained', `${endOf(end)}. ${CONTAINED}`);
  if (end.code === null) return fail('tool_failed', `The command was ended by signal ${end.signal ?? 'unknown'}`);
  if (end.code === 0) return undefined;
  const answer = exitAnswer(verdict, end.code);
  return answer === undefined ? fail('tool_failed', `Exit code ${end.code}`) : `Exit code ${end.code}: ${answer}`;
}

const CONTAINED =
  'It ran unasked, in a jail that reads the working directories and writes only to $TMPDIR, without a network; that is ' +
  'the likely cause. Call again with "dangerouslyDisableSandbox" to have a person asked whether it may run outside';

/** Messages of the kernel and of programs about refused operations. */
const REFUSALS =
  /permission denied|operation not permitted|read-only file system|resource temporarily unavailable|cannot allocate memory|\b(?:EACCES|EPERM|EROFS|EAGAIN|ENOMEM)\b/i;

/** Signals for exceeding the processor time or the file size. */
const LIMIT_SIGNALS: ReadonlySet<string> = new Set(['SIGXCPU', 'SIGXFSZ']);

function wasRefused({ output, signal }: CommandEnd): boolean {
  return LIMIT_SIGNALS.has(signal ?? '') || REFUSALS.test(output.head) || REFUSALS.test(output.tail);
}

function endOf({ code, signal }: CommandEnd): string {
  return code === null ? `The command was ended by signal ${signal ?? 'unknown'}` : `Exit code ${code}`;
}

/** Return the file with the whole output if it was too long for memory. */
export function wholeOutput({ output }: CommandEnd): SpilledText | undefined {
  return output.path === undefined || output.omittedChars === 0
    ? undefined
    : { path: output.path, chars: output.totalChars };
}

/**
 * Return the meaning of a non-zero exit code that is an answer.
 *
 * @returns undefined for a failure. A command of several parts must be read-only: the exit code of a build that fails
 * before a grep must remain a failure.
 */
export function exitAnswer({ parts, isUnparsable }: ShellVerdict, code: number): string | undefined {
  const last = parts.at(-1);
  if (isUnparsable || last?.program === undefined) return undefined;
  if (parts.length > 1 && !parts.every(({ isReadOnly }) => isReadOnly)) return undefined;
  const subcommand = last.words.slice(1).find((word) => !word.startsWith('-')) ?? '';
  return (subcommandOf(last.program, subcommand) ?? findRecord(last.program))?.answers?.[code];
}

/**
 * Report whether an exit code means that files differ. The output is then their text, and says nothing about the
 * command.
 */
function reportsDifference(verdict: ShellVerdict, code: number | null): boolean {
  if (code === null) return false;
  const [only, ...more] = verdict.parts;
  const showsText = more.length === 0 && (only?.program === 'diff' || only?.program === 'git');
  return showsText && exitAnswer(verdict, code) !== undefined;
}
