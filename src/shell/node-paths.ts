/** The paths that one node of the syntax tree names, and what it does to them. */
import type { Command, SyntaxNode, Word } from 'unbash';
import type { PathUse } from '../tool/located-path.ts';
import { actingPaths } from './acting-paths.ts';
import { fedWords, foundNames, isBelowHere } from './fed-words.ts';
import { FILE_BINARY, FILE_UNARY, isGlob, lookedForByCommand, pathsOutside } from './looked-for.ts';
import { readPaths, resolveFrom } from './operand-paths.ts';
import type { CommandJudgement } from './program-spec.ts';
import type { Variables } from './variable-values.ts';
import { decodeWord, type ShellWord } from './word.ts';

type Bases = readonly string[] | undefined;

/** A command with what was found out about it. */
interface JudgedCommand {
  readonly node: Command;
  /** The program's first. */
  readonly words: readonly ShellWord[];
  readonly judged: CommandJudgement;
  /** Commands that are piped into it, first to last. */
  readonly producers: readonly SyntaxNode[];
}

/** Every path that a command names, or is given by those before it. */
export function commandPaths(command: JudgedCommand, variables: Variables, bases: Bases): readonly PathUse[] {
  const { node, words, judged, producers } = command;
  const fed = fedWords(node, words, producers, variables);
  if (judged.problem !== undefined) return actingPaths(words, judged, bases, fed);
  return [
    ...readPaths(judged, bases),
    ...lookedForByCommand(words, judged, bases),
    ...fed.filter(isBelowHere).flatMap((word) => resolveFrom(word, 'read', bases)),
  ];
}

/** Paths that find hands to the commands of a compound one: `find . -name .env | while read f`. */
export function foundPaths(producers: readonly SyntaxNode[], variables: Variables, bases: Bases): readonly PathUse[] {
  return foundNames(producers, variables).flatMap((word) => resolveFrom(word, 'read', bases));
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
