/**
 * What a command line does, as far as its syntax tells: parsed, its variables and functions known, walked once.
 */
import { forEachChild, parse, type SyntaxNode } from 'unbash';
import { findHiddenCharacter } from './hidden-characters.ts';
import { collectFacts } from './script-facts.ts';
import { type ShellAnalysis, ScriptWalk } from './script-walk.ts';
import { collectVariables } from './variables.ts';

/** Longest command line that is looked at; a longer one is nobody's one-liner. */
const MOST_CHARS = 10_000;

/** Most expansions in a command: the parser looks at what is nested again at every level. */
const MOST_EXPANSIONS = 256;

/** Most nodes of a syntax tree that are walked: some six hundred commands, or two thousand words. */
const MOST_NODES = 2_000;

/** Bash joins the lines before it expands, the parser does not: it reads `$` and text. */
const CUT_EXPANSION = '$\\\n';

/** Analyse a command line. Never throws. */
export function analyse(command: string): ShellAnalysis {
  const hidden = findHiddenCharacter(command);
  const disguise = hidden === undefined ? cutExpansion(command) : `a hidden character ${hidden}`;
  if (command.length > MOST_CHARS) return unparsable('the command is too long to be judged');
  if (command.split(/[$<>][({]|`/, MOST_EXPANSIONS + 2).length > MOST_EXPANSIONS + 1)
    return unparsable('the command has too many parts to be judged');
  try {
    const script = parse(command);
    if (hasMoreNodes(script, MOST_NODES)) return unparsable('the command has too many parts to be judged');
    const walk = new ScriptWalk(command, collectVariables(script), collectFacts(script));
    walk.visit(script);
    const found = walk.result();
    return disguise === undefined ? found : { ...found, problems: [disguise, ...found.problems], isUnparsable: true };
  } catch (error) {
    // The parser overflows on absurd nesting; what it cannot read is not run unasked.
    if (error instanceof RangeError || error instanceof TypeError) return unparsable('the command cannot be parsed');
    throw error;
  }
}

function hasMoreNodes(root: SyntaxNode, most: number): boolean {
  let left = most;
  const count = (node: SyntaxNode): void => {
    if (--left >= 0) forEachChild(node, count);
  };
  count(root);
  return left < 0;
}

function cutExpansion(command: string): string | undefined {
  return command.includes(CUT_EXPANSION) ? 'a line end stands between "$" and what it expands' : undefined;
}

function unparsable(problem: string): ShellAnalysis {
  return { commands: [], problems: [problem], paths: [], isUnparsable: true, changesDirectory: true };
}
