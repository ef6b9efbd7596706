/**
 * Names outside the working directories that a script only looks for: `[[ -f /etc/x ]]`, `echo /etc/*`.
 *
 * What lies below the working directory needs no leave for that; of a word that may be anything nothing is said.
 */
import type { SyntaxNode, Word } from 'unbash';
import type { PathUse } from '../../contract/located-path.ts';
import { resolveFrom } from './operand-paths.ts';
import type { CommandJudgement } from './program-spec.ts';
import type { Variables } from './variable-values.ts';
import { decodeWord, type ShellWord } from './word.ts';

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

/** Paths that a node of the syntax tree looks for by itself: tests, and the words of loops and lists. */
export function lookedForByNode(node: SyntaxNode, variables: Variables, bases: Bases): readonly PathUse[] {
  const decoded = (words: readonly Word[]) => words.flatMap((word) => decodeWord(word, variables));
  switch (node.type) {
    case 'TestUnary':
      return FILE_UNARY.test(node.operator) ? pathsOutside(decoded([node.operand]), bases) : [];
    case 'TestBinary':
      return FILE_BINARY.test(node.operator) ? pathsOutside(decoded([node.left, node.right]), bases) : [];
    case 'ArrayValue':
      return pathsOutside(decoded(node.elements).filter(isGlob), bases);
    case 'For':
    case 'Select':
      return pathsOutside(decoded(node.wordlist ?? []).filter(isGlob), bases);
    default:
      return [];
  }
}

/** Whether the shell looks for files of a word's name before anything gets it. */
function isGlob({ literal, isSplit, patterns, guesses }: ShellWord): boolean {
  return literal === undefined && isSplit && (patterns ?? guesses ?? []).some((text) => /[*?[]/.test(text));
}

function pathsOutside(words: readonly ShellWord[], bases: Bases): readonly PathUse[] {
  return words
    .map((word) => ({ ...word, patterns: word.patterns ?? word.guesses }))
    .filter(({ patterns, roots, prefix }) => (patterns ?? roots) !== undefined || /^[/~]/.test(prefix))
    .flatMap((word) => resolveFrom(word, 'read', bases))
    .filter(({ path }) => /^[/~]|(?:^|\/)\.\.(?:\/|$)/.test(path));
}
