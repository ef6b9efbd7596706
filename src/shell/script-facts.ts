/**
 * What has to be known of a whole script before any of it is judged, and where its `cd`s may have led.
 */
import { forEachChild, type ParsedScript, type SyntaxNode } from 'unbash';
import { endlessScriptProblems } from './endless-script.ts';
import { programName } from './judge-command.ts';
import type { ScriptFacts } from './program-spec.ts';
import { findRecord } from './programs/index.ts';
import type { ShellWord } from './word.ts';

/** Folders that relative paths may start from, relative to the session's own; undefined: any. */
type Bases = readonly string[] | undefined;

/** Most folders a script may have moved to that are followed. */
const MAX_BASES = 16;

/**
 * Look through a script.
 *
 * Functions count only where they are defined before anything runs: a name that is called first, or is
 * defined in a branch that is not taken, is a program's.
 */
export function collectFacts(script: ParsedScript): ScriptFacts {
  const first = script.commands.findIndex(({ command, background }) => command.type !== 'Function' || background);
  const leading = first < 0 ? script.commands : script.commands.slice(0, first);
  const functions = new Set(
    leading.flatMap(({ command }) => (command.type === 'Function' ? [command.name.value] : [])),
  );
  return { changesDirectory: mayMove(script), functions, problems: endlessScriptProblems(script, functions) };
}

/** Whether a `cd`, `pushd` or `popd` stands anywhere below a node. */
export function mayMove(node: SyntaxNode): boolean {
  let moves = false;
  const visit = (child: SyntaxNode): void => {
    // A wrapper may stand before it: `builtin cd x`.
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

/** Where a command leaves the shell; `cd` that fails leaves it where it was, which is for `eitherOf`. */
export function movedBases(bases: Bases, words: readonly ShellWord[]): Bases {
  if (!words.some((word) => isDirectoryChanger(word.literal ?? ''))) return bases;
  // `cd` alone leads home, and `$HOME` is written out as `~`.
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

/** Where relative paths may start from after what may or may not have happened. */
export function eitherOf(left: Bases, right: Bases): Bases {
  if (!left || !right || left === right) return left && right;
  const all = [...new Set([...left, ...right])];
  return all.length > MAX_BASES ? undefined : all;
}
