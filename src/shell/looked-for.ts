/**
 * Names outside the working directories that a script only looks for: `[[ -f /etc/x ]]`, `echo /etc/*`.
 *
 * What lies below the working directory needs no leave for that; of a word that may be anything nothing is said.
 */
import type { PathUse } from '../tool/located-path.ts';
import { resolveFrom } from './operand-paths.ts';
import type { CommandJudgement } from './program-spec.ts';
import type { ShellWord } from './word.ts';

/** Operators of `test` and `[[` that look at a file. */
export const FILE_UNARY = /^-[a-hkprsuwxGLNOS]$/;
export const FILE_BINARY = /^-(?:nt|ot|ef)$/;

type Bases = readonly string[] | undefined;

/** Paths that a command looks for and does not read. @param words The program's first. */
export function lookedForByCommand(
  words: readonly ShellWord[],
  { reads, looksFor = [] }: CommandJudgement,
  bases: Bases,
): readonly PathUse[] {
  const found = words.filter((word) => isGlob(word) && !reads.includes(word));
  return found.length + looksFor.length === 0 ? [] : pathsOutside([...found, ...looksFor], bases);
}

/** Whether the shell looks for files of a word's name before anything gets it. */
export function isGlob({ literal, isSplit, patterns, guesses }: ShellWord): boolean {
  return literal === undefined && isSplit && (patterns ?? guesses ?? []).some((text) => /[*?[]/.test(text));
}

/** Where words lie outside the working directories. */
export function pathsOutside(words: readonly ShellWord[], bases: Bases): readonly PathUse[] {
  return words
    .map((word) => ({ ...word, patterns: word.patterns ?? word.guesses }))
    .filter(({ patterns, roots, prefix }) => (patterns ?? roots) !== undefined || /^[/~]/.test(prefix))
    .flatMap((word) => resolveFrom(word, 'read', bases))
    .filter(({ path }) => /^[/~]|(?:^|\/)\.\.(?:\/|$)/.test(path));
}
