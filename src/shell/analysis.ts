/** Analyses the syntax of a command line: parses it, collects variables and functions, and walks the tree once. */
import { forEachChild, parse, type SyntaxNode } from 'unbash';
import { type Budget, createBudget } from './budget.ts';
import { collectFacts } from './script-facts.ts';
import { ScriptWalk } from './script-walk.ts';
import type { ShellAnalysis } from './shell-analysis.ts';
import { collectVariables } from './variables.ts';

/**
 * C0 (line feed and tab excepted), DEL, C1, soft hyphen, bidirectional and zero-width marks, line
 * separators, spaces beyond ASCII, tags, and lone surrogates.
 */
const HIDDEN =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u00a0\u00ad\u061c\u1680\u180e\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\ufe00-\ufe0f\ufeff\ufff9-\ufffb\u{e0000}-\u{e0fff}]|\p{Cs}/u;

/** Longest command line that is analysed, in characters. */
const MAX_CHARS = 10_000;

/** Upper bound of the expansions in a command: the parser reads nested text again at every level. */
const MAX_EXPANSIONS = 256;

/** Upper bound of the nodes that are walked: some six hundred commands, or two thousand words. */
const MAX_NODES = 2_000;

/** Deepest syntax tree that is walked without overflowing the stack: some twenty nested substitutions. */
const MAX_DEPTH = 100;

/** Steps for each node, which is walked several times, once for each kind of fact. */
const NODE_STEPS = 16;

/** Steps for each character that is parsed again. */
const REPARSED_STEPS = 4;

/** Nodes whose text is parsed lazily, on access. */
const REPARSED: ReadonlySet<SyntaxNode['type']> = new Set<SyntaxNode['type']>([
  'CommandExpansion',
  'ProcessSubstitution',
  'ParameterExpansion',
  'ArithmeticCommandExpansion',
]);

const TOO_MANY_PARTS = 'the command has too many parts to be judged';

/** A line continuation inside an expansion: bash joins the lines first, the parser reads `$` and text. */
const CUT_EXPANSION = '$\\\n';

/** Analyse a command line. Never throws. @param budget Allowance of the line; for a nested script, the rest of it. */
export function analyse(command: string, budget: Budget = createBudget()): ShellAnalysis {
  const hidden = findHiddenCharacter(command);
  const disguise = hidden === undefined ? cutExpansion(command) : `a hidden character ${hidden}`;
  if (command.length > MAX_CHARS) return unparsable('the command is too long to be judged');
  if (command.split(/[$<>][({]|`/, MAX_EXPANSIONS + 2).length > MAX_EXPANSIONS + 1) return unparsable(TOO_MANY_PARTS);
  if (!budget.spend(command.length)) return unparsable(TOO_MANY_PARTS);
  try {
    const script = parse(command);
    if (!mayWalk(script, budget)) return unparsable(TOO_MANY_PARTS);
    const walk = new ScriptWalk(command, collectVariables(script), collectFacts(script), budget);
    walk.visit(script);
    const found = walk.result();
    return disguise === undefined ? found : { ...found, problems: [disguise, ...found.problems], isUnparsable: true };
  } catch (error) {
    // The parser overflows on extreme nesting; text that it cannot read is not understood.
    if (error instanceof RangeError || error instanceof TypeError) return unparsable('the command cannot be parsed');
    throw error;
  }
}

/** Measure a tree level by level, drawing the cost of the walk. */
function mayWalk(root: SyntaxNode, budget: Budget): boolean {
  let count = 0;
  let level: SyntaxNode[] = [root];
  for (let depth = 0; level.length > 0; depth++) {
    count += level.length;
    if (count > MAX_NODES || depth > MAX_DEPTH || !budget.spend(stepsOf(level))) return false;
    const next: SyntaxNode[] = [];
    const add = (child: SyntaxNode): void => {
      next.push(child);
    };
    for (const node of level) forEachChild(node, add);
    level = next;
  }
  return true;
}

/** Count the steps of nodes. The parser reads the text of a substitution again at every level. */
function stepsOf(nodes: readonly SyntaxNode[]): number {
  return nodes.reduce(
    (sum, { type, pos, end }) => sum + NODE_STEPS + (REPARSED.has(type) ? REPARSED_STEPS * (end - pos) : 0),
    0,
  );
}

function cutExpansion(command: string): string | undefined {
  return command.includes(CUT_EXPANSION) ? 'a line end separates "$" from its expansion' : undefined;
}

function unparsable(problem: string): ShellAnalysis {
  return {
    commands: [],
    problems: [problem],
    evaluations: [],
    assigned: [],
    paths: [],
    isUnparsable: true,
    changesDirectory: true,
  };
}

/** Return the first hidden character as `U+00A0`, or undefined. */
function findHiddenCharacter(command: string): string | undefined {
  const found = HIDDEN.exec(command)?.[0].codePointAt(0);
  return found === undefined ? undefined : `U+${found.toString(16).toUpperCase().padStart(4, '0')}`;
}
