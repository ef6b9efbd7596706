/** Paths that one node of the syntax tree uses, and how it accesses them. */
import type { Command, SyntaxNode, Word } from 'unbash';
import type { PathUse } from '../tool/located-path.ts';
import { sideEffectPaths } from './side-effect-paths.ts';
import { inputWords, namesForLoop, isBelowHere } from './input-words.ts';
import { FILE_BINARY, FILE_UNARY, isGlob, testedPathsOfCommand, pathsOutside } from './tested-paths.ts';
import { readPaths, resolveFrom } from './operand-paths.ts';
import type { CommandJudgement } from './program-spec.ts';
import type { Variables } from './variable-values.ts';
import { decodeWord, type ShellWord } from './word.ts';

type Bases = readonly string[] | undefined;

/** A command with its judgement. */
interface JudgedCommand {
  readonly node: Command;
  /** Program first. */
  readonly words: readonly ShellWord[];
  readonly judged: CommandJudgement;
  /** Commands piped into it, in order. */
  readonly producers: readonly SyntaxNode[];
}

/** List the paths that a command names, or receives from the commands before it. */
export function commandPaths(command: JudgedCommand, variables: Variables, bases: Bases): readonly PathUse[] {
  const { node, words, judged, producers } = command;
  const fed = inputWords(node, words, producers, variables);
  if (judged.problem !== undefined) return sideEffectPaths(words, judged, bases, fed);
  return [
    ...readPaths(judged, bases),
    ...testedPathsOfCommand(words, judged, bases),
    ...fed.filter(isBelowHere).flatMap((word) => resolveFrom(word, 'read', bases)),
  ];
}

/** List the paths that find passes to a compound command: `find . -name .env | while read f`. */
export function findOutputPaths(
  producers: readonly SyntaxNode[],
  variables: Variables,
  bases: Bases,
): readonly PathUse[] {
  return namesForLoop(producers, variables).flatMap((word) => resolveFrom(word, 'read', bases));
}

/** List the paths whose existence a node reveals: those of tests, and globs in loops and arrays. */
export function testedPathsOfNode(node: SyntaxNode, variables: Variables, bases: Bases): readonly PathUse[] {
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
