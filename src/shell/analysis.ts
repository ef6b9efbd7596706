/**
 * What a command line does, as far as its syntax tells: parsed, its variables and functions known, walked once.
 */
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

/** Longest command line that is looked at; a longer one is nobody's one-liner. */
const MAX_CHARS = 10_000;

/** Most expansions in a command: the parser looks at what is nested again at every level. */
const MAX_EXPANSIONS = 256;

/** Most nodes of a syntax tree that are walked: some six hundred commands, or two thousand words. */
const MAX_NODES = 2_000;

/** Deepest syntax tree that is walked, so that no walk overflows the stack: some twenty substitutions in each other. */
const MAX_DEPTH = 100;

/** Steps that a node costs: it is walked several times, once for each kind of fact. */
const NODE_STEPS = 16;

/** Steps for each character that is parsed again. */
const REPARSED_STEPS = 4;

/** Nodes whose text is parsed when they are looked at. */
const REPARSED: ReadonlySet<SyntaxNode['type']> = new Set<SyntaxNode['type']>([
  'CommandExpansion',
  'ProcessSubstitution',
  'ParameterExpansion',
  'ArithmeticCommandExpansion',
]);

const TOO_MANY_PARTS = 'the command has too many parts to be judged';

/** Bash joins the lines before it expands, the parser does not: it reads `$` and text. */
const CUT_EXPANSION = '$\\\n';

/**
 * Analyse a command line. Never throws.
 *
 * @param budget What the line may cost; for a script in a line, what is left of that.
 */
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
    // The parser overflows on absurd nesting; what it cannot read is not run unasked.
    if (error instanceof RangeError || error instanceof TypeError) return unparsable('the command cannot be parsed');
    throw error;
  }
}

/** Look at a tree level by level, and draw what walking it will cost. */
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

/** The parser reads the text of a substitution again at every level. */
function stepsOf(nodes: readonly SyntaxNode[]): number {
  return nodes.reduce(
    (sum, { type, pos, end }) => sum + NODE_STEPS + (REPARSED.has(type) ? REPARSED_STEPS * (end - pos) : 0),
    0,
  );
}

function cutExpansion(command: string): string | undefined {
  return command.includes(CUT_EXPANSION) ? 'a line end stands between "$" and what it expands' : undefined;
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

/** The first such character as `U+00A0`, or undefined. */
function findHiddenCharacter(command: string): string | undefined {
  const found = HIDDEN.exec(command)?.[0].codePointAt(0);
  return found === undefined ? undefined : `U+${found.toString(16).toUpperCase().padStart(4, '0')}`;
}
