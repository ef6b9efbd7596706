/** Exit codes that are answers and not failures. */
import { findRecord, subcommandOf } from '../../../src/shell/programs/index.ts';
import type { ShellVerdict } from '../../../src/shell/verdict.ts';

/**
 * What a non-zero exit code says, where it is an answer.
 *
 * @returns undefined for a failure. In a command of several parts only when all of them read: the code
 *   of a build that failed before the grep must stay a failure.
 */
export function exitAnswer({ parts, isUnparsable }: ShellVerdict, code: number): string | undefined {
  const last = parts.at(-1);
  if (isUnparsable || last?.program === undefined) return undefined;
  if (parts.length > 1 && !parts.every(({ isReadOnly }) => isReadOnly)) return undefined;
  const subcommand = last.words.slice(1).find((word) => !word.startsWith('-')) ?? '';
  return (subcommandOf(last.program, subcommand) ?? findRecord(last.program))?.answers?.[code];
}

/**
 * Whether an exit code says that files differ. What was printed is their text then, and tells nothing about the command.
 */
export function tellsDifference(verdict: ShellVerdict, code: number | null): boolean {
  if (code === null) return false;
  const [only, ...more] = verdict.parts;
  const showsText = more.length === 0 && (only?.program === 'diff' || only?.program === 'git');
  return showsText && exitAnswer(verdict, code) !== undefined;
}
