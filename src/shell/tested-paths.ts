/**
 * Paths outside the working directories whose existence a script tests: `[[ -f /etc/x ]]`, `echo /etc/*`.
 *
 * Tests below the working directory need no permission; words of unknown value are left out.
 */
import type { PathUse } from '../tool/located-path.ts';
import { resolveFrom } from './operand-paths.ts';
import type { CommandJudgement } from './program-spec.ts';
import type { ShellWord } from './word.ts';

/** Operators of `test` and `[[` that examine a file. */
export const FILE_UNARY = /^-[a-hkprsuwxGLNOS]$/;
export const FILE_BINARY = /^-(?:nt|ot|ef)$/;

type Bases = readonly string[] | undefined;

/** List the outside paths that a command tests but does not read. @param words Program first. */
export function testedPathsOfCommand(
  words: readonly ShellWord[],
  { reads, testedPaths = [] }: CommandJudgement,
  bases: Bases,
): readonly PathUse[] {
  const found = words.filter((word) => isGlob(word) && !reads.includes(word));
  return found.length + testedPaths.length === 0 ? [] : pathsOutside([...found, ...testedPaths], bases);
}

/** Report whether the shell expands a word as a file glob. */
export function isGlob({ literal, isSplit, patterns, guesses }: ShellWord): boolean {
  return literal === undefined && isSplit && (patterns ?? guesses ?? []).some((text) => /[*?[]/.test(text));
}

/** List the paths of words that lie outside the working directories. */
export function pathsOutside(words: readonly ShellWord[], bases: Bases): readonly PathUse[] {
  return words
    .map((word) => ({ ...word, patterns: word.patterns ?? word.guesses }))
    .filter(({ patterns, roots, prefix }) => (patterns ?? roots) !== undefined || /^[/~]/.test(prefix))
    .flatMap((word) => resolveFrom(word, 'read', bases))
    .filter(({ path }) => /^[/~]|(?:^|\/)\.\.(?:\/|$)/.test(path));
}
