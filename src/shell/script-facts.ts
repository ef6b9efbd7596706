/**
 * Facts about a whole script that are collected before any command is judged, and the working directories that its
 * `cd`s may lead to.
 */
import { forEachChild, type ParsedScript, type SyntaxNode } from 'unbash';
import { endlessScriptProblems } from './endless-script.ts';
import { programName } from './judge-command.ts';
import type { ScriptFacts } from './program-spec.ts';
import { findRecord } from './programs/index.ts';
import type { ShellWord } from './word.ts';

/** Possible working directories, relative to the session's own; undefined if any. */
type Bases = readonly string[] | undefined;

/** Upper bound of the working directories that are followed. */
const MAX_BASES = 16;

/**
 * Collect the facts of a script.
 *
 * Functions count only if they are defined before anything runs: a name that is called earlier, or defined in a branch
 * that is not taken, is a program's.
 */
export function collectFacts(script: ParsedScript): ScriptFacts {
  const first = script.commands.findIndex(({ command, background }) => command.type !== 'Function' || background);
  const leading = first < 0 ? script.commands : script.commands.slice(0, first);
  const functions = new Set(
    leading.flatMap(({ command }) => (command.type === 'Function' ? [command.name.value] : [])),
  );
  return { changesDirectory: mayMove(script), functions, problems: endlessScriptProblems(script, functions) };
}

/** Report whether a node contains a `cd`, `pushd` or `popd`. */
export function mayMove(node: SyntaxNode): boolean {
  let moves = false;
  const visit = (child: SyntaxNode): void => {
    // A wrapper may precede it: `builtin cd x`.
    if (child.type === 'Command') {
      moves ||= [child.name, ...child.args].some((word) => word?.type === 'Word' && isDirectoryChanger(word.value));
    }
    forEachChild(child, visit);
  };
  visit(node);
  return moves;
}

function isDirectoryChanger(name: string): boolean {
  return findRecord(name)?.isDirectoryChanger === true;
}

/**
 * Return the working directories after a command that succeeds. The caller merges the case of a failed `cd` with
 * `eitherOf`.
 */
export function basesAfter(bases: Bases, words: readonly ShellWord[]): Bases {
  if (!words.some((word) => isDirectoryChanger(word.literal ?? ''))) return bases;
  // `cd` alone goes to the home folder; `$HOME` is decoded as `~`.
  const [only, ...more] = words.length === 1 ? ['~'] : (words[1]?.patterns ?? []);
  const target = more.length > 0 || /[*?[]/.test(only ?? '') ? undefined : only;
  const isPlain =
    (programName(words[0]) === 'cd' || (programName(words[0]) === 'pushd' && words.length === 2)) &&
    words.length <= 2 &&
    target !== undefined &&
    !/^[-+]/.test(target);
  if (!isPlain) return undefined;
  return bases?.map((base) => `${(/^[/~]/.test(target) ? target : `${base}${target}`).replace(/\/$/, '')}/`);
}

/** Merge the working directories of two possible paths through a script. */
export function mergeBases(left: Bases, right: Bases): Bases {
  if (!left || !right || left === right) return left && right;
  const all = [...new Set([...left, ...right])];
  return all.length > MAX_BASES ? undefined : all;
}
