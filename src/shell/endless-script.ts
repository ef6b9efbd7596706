/**
 * Detects scripts that never end: `while :; do :; done`, `for ((;;))`, functions that call themselves, background jobs
 * that accumulate.
 *
 * The condition of a loop may change if it reads a line, uses a variable that the loop changes, or examines outside
 * state while the loop sleeps.
 */
import { forEachChild, type ArithmeticFor, type Command, type ParsedScript, type SyntaxNode, type While } from 'unbash';
import { endlessInput } from './endless-command.ts';
import { isEndlessCalculation } from './endless-program.ts';
import { findRecord } from './programs/index.ts';
import { isShortTime } from './programs/system.ts';

/** Parameters that change independently of the loop. */
const CLOCKS = ['SECONDS', 'EPOCHSECONDS', 'EPOCHREALTIME', 'RANDOM', 'SRANDOM'];

/** Operators of `test` that examine a file. */
const FILE_TEST = /^-[a-hkprsuwxGLNOS]$|^-(?:nt|ot|ef)$/;

/**
 * List the reasons why a script may never end, or start unbounded work.
 *
 * @param functions Names of the functions it defines before anything runs.
 */
export function endlessScriptProblems(script: ParsedScript, functions: ReadonlySet<string>): readonly string[] {
  const problems: string[] = [];
  const defined = new Set<string>();
  let repeats = 0;
  const visit = (node: SyntaxNode): void => {
    const isRepeated = /^(?:While|For|Select|ArithmeticFor|Function)$/.test(node.type);
    if (node.type === 'While' || node.type === 'ArithmeticFor') problems.push(...endlessLoop(node));
    if (node.type === 'Statement' && node.background === true && repeats > 0)
      problems.push('jobs in the background may pile up');
    const isInput = node.type === 'Redirected' || (node.type === 'Command' && !node.name);
    if (isInput && endlessInput(node) !== undefined) problems.push('the input never ends');
    if (isEndlessCalculator(node)) problems.push('bc may never end');
    const called = node.type === 'Command' ? (node.name?.value ?? '') : '';
    // A function whose definition is complete cannot lead back to one that is not, unless it is defined again.
    if (functions.has(called) && !defined.has(called)) problems.push('a function may call itself');
    if (node.type === 'Function' && defined.has(node.name.value)) problems.push('a function is defined again');
    if (isRepeated) repeats++;
    forEachChild(node, visit);
    if (isRepeated) repeats--;
    if (node.type === 'Function') defined.add(node.name.value);
  };
  visit(script);
  return problems;
}

/** Report whether bc is given an endless calculation: `bc <<< 2^99999999`, `echo 'while (1) {}' | bc`. */
function isEndlessCalculator(node: SyntaxNode): boolean {
  if (node.type === 'Command') return isCalculator(node) && isEndlessCalculation(inputTexts(node).join('\n'));
  if (node.type !== 'Pipeline') return false;
  const at = node.commands.findIndex((command) => command.type === 'Command' && isCalculator(command));
  const producers = node.commands.slice(0, Math.max(at, 0)).flatMap((one) => (one.type === 'Command' ? one : []));
  const texts = producers.flatMap((one) => [argumentTexts(one).join(' '), ...inputTexts(one)]);
  // `printf '%s\\n'` and `echo -e` print line ends.
  return isEndlessCalculation(texts.join('\n').replaceAll('\\n', '\n'));
}

function isCalculator(node: Command): boolean {
  const name = node.name?.value ?? '';
  const texts = argumentTexts(node);
  if (/^(?:\/usr)?(?:\/bin\/)?bc$/.test(name)) return true;
  return (
    texts.some((text) => /^(?:\/usr)?(?:\/bin\/)?bc$/.test(text)) &&
    !(name === 'timeout' && isShortTime(texts[0] ?? ''))
  );
}

function argumentTexts({ args }: Command): readonly string[] {
  return args.flatMap((word) => (word.type === 'Word' ? [word.value] : []));
}

/** List the here-documents and here-strings of a command. */
function inputTexts({ redirects }: Command): readonly string[] {
  return redirects.flatMap((item) => {
    if (item.type === 'HereDoc') return [item.body.text];
    return item.type === 'HereString' && item.target ? [item.target.value] : [];
  });
}

function endlessLoop(node: While | ArithmeticFor): readonly string[] {
  const changed = new Set(CLOCKS);
  const collect = (child: SyntaxNode): void => changedNames(child).forEach((name) => changed.add(name));
  if (node.type === 'ArithmeticFor') {
    for (const part of [node.test, node.update, node.body]) if (part) visitAll(part, collect);
    const ends = node.test !== undefined && namesIn(node.test).some((name) => changed.has(name));
    return ends ? [] : ['the loop may never end'];
  }
  visitAll(node, collect);
  const ending: LoopEffects = { changed, sleeps: holdsCommand(node.body, /^(?:sleep|wait|read)$/) };
  return mayHaveResult(node.clause, node.kind === 'until', ending) ? [] : ['the loop may never end'];
}

/** Changes between two evaluations of a loop condition. */
interface LoopEffects {
  readonly changed: ReadonlySet<string>;
  /** True if the body waits before the condition is evaluated again. */
  readonly sleeps: boolean;
}

/**
 * Report whether a condition may eventually have the wanted result.
 *
 * @param wanted True for success, false for failure.
 */
function mayHaveResult(node: SyntaxNode, wanted: boolean, ending: LoopEffects): boolean {
  switch (node.type) {
    case 'CompoundList': {
      const last = node.commands.at(-1);
      return last !== undefined && mayHaveResult(last, wanted, ending);
    }
    case 'Statement':
      return node.background !== true && mayHaveResult(node.command, wanted, ending);
    case 'BraceGroup':
      return mayHaveResult(node.body, wanted, ending);
    case 'AndOr': {
      const come = (result: boolean) => node.commands.map((command) => mayHaveResult(command, result, ending));
      // `a && b` fails if either does, and succeeds if both do.
      return node.operators.every((operator) => (operator === '&&') === wanted)
        ? come(wanted).every(Boolean)
        : node.operators.every((operator) => (operator === '&&') !== wanted) && come(wanted).some(Boolean);
    }
    case 'Pipeline': {
      const isNegated = node.prefixes.filter(({ type }) => type === 'Negation').length % 2 === 1;
      const [only, ...more] = node.commands;
      return only !== undefined && more.length === 0
        ? mayHaveResult(only, wanted !== isNegated, ending)
        : mayChange(node, ending);
    }
    case 'Command':
      return commandMayHaveResult(node, wanted, ending);
    default:
      return mayChange(node, ending);
  }
}

function commandMayHaveResult(node: Command, wanted: boolean, ending: LoopEffects): boolean {
  const name = node.name?.value ?? '';
  if (name === 'true' || name === ':') return wanted;
  if (name === 'false') return !wanted;
  // With its own input redirection it reads the same line each time.
  if (name === 'read')
    return !wanted && node.redirects.every(({ operator }) => !operator.startsWith('<') || operator === '<&');
  return mayChange(node, ending);
}

function mayChange(node: SyntaxNode, { changed, sleeps }: LoopEffects): boolean {
  return namesIn(node).some((name) => changed.has(name)) || (sleeps && examinesOutside(node));
}

/** Report whether a condition runs a program or examines a file. */
function examinesOutside(root: SyntaxNode): boolean {
  let asks = false;
  visitAll(root, (node) => {
    if (node.type === 'TestUnary' || node.type === 'TestBinary') asks ||= FILE_TEST.test(node.operator);
    if (node.type !== 'Command' || !node.name) return;
    const isTest = node.name.value === 'test' || node.name.value === '[';
    asks ||= isTest
      ? node.args.some((word) => word.type === 'Word' && FILE_TEST.test(word.value))
      : findRecord(node.name.value)?.isConstant !== true && node.name.value !== 'read';
  });
  return asks;
}

function holdsCommand(root: SyntaxNode, names: RegExp): boolean {
  let holds = false;
  visitAll(root, (node) => {
    holds ||= node.type === 'Command' && names.test(node.name?.value ?? '');
  });
  return holds;
}

/** List the variables that a condition uses. */
function namesIn(root: SyntaxNode): readonly string[] {
  const names: string[] = [];
  visitAll(root, (node) => {
    if (node.type === 'SimpleExpansion') names.push(node.text.slice(1));
    if (node.type === 'ParameterExpansion') names.push(node.parameter);
    if (node.type === 'ArithmeticWord') names.push(...(node.value.match(/[A-Za-z_]\w*/g) ?? []));
  });
  return names;
}

function changedNames(node: SyntaxNode): readonly string[] {
  switch (node.type) {
    case 'Assignment':
      return [node.name];
    case 'For':
    case 'Select':
      return [node.name.value];
    case 'ArithmeticBinary':
      return /^(?:[-+*/%&|^]|<<|>>)?=$/.test(node.operator) ? namesIn(node.left) : [];
    case 'ArithmeticUnary':
      return /^(?:\+\+|--)$/.test(node.operator) ? namesIn(node.operand) : [];
    case 'Command': {
      const name = node.name?.value ?? '';
      if (name === 'shift') return ['#', '@', '*', '1'];
      return /^(?:read|mapfile|readarray|printf)$/.test(name)
        ? node.args.flatMap((word) => (word.type === 'Word' ? [word.value] : []))
        : [];
    }
    default:
      return [];
  }
}

function visitAll(root: SyntaxNode, see: (node: SyntaxNode) => void): void {
  const visit = (node: SyntaxNode): void => {
    see(node);
    forEachChild(node, visit);
  };
  visit(root);
}
