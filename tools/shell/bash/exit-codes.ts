/** Exit codes that are answers and not failures. */
import type { ShellVerdict } from '../../../src/permissions/shell/verdict.ts';

/** By program: the codes that answer a question, and what they say. */
const ANSWERS: Readonly<Record<string, Readonly<Record<number, string>>>> = {
  grep: { 1: 'no matches found' },
  egrep: { 1: 'no matches found' },
  fgrep: { 1: 'no matches found' },
  zgrep: { 1: 'no matches found' },
  rg: { 1: 'no matches found' },
  ag: { 1: 'no matches found' },
  pgrep: { 1: 'no process matched' },
  find: { 1: 'some folders could not be read' },
  diff: { 1: 'the files differ' },
  cmp: { 1: 'the files differ' },
  comm: { 1: 'the files differ' },
  test: { 1: 'the condition is false' },
  '[': { 1: 'the condition is false' },
  '[[': { 1: 'the condition is false' },
  which: { 1: 'not found' },
  type: { 1: 'not found' },
};
const GIT_ANSWERS: Readonly<Record<string, string>> = { diff: 'the files differ', grep: 'no matches found' };

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
  if (last.program === 'git' && code === 1)
    return GIT_ANSWERS[last.words.slice(1).find((word) => !word.startsWith('-')) ?? ''];
  return Object.hasOwn(ANSWERS, last.program) ? ANSWERS[last.program]?.[code] : undefined;
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
