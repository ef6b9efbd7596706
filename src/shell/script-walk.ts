/**
 * One pass over the syntax tree of a command line: collects every simple command, nested ones included, and every
 * construct that does more than read.
 *
 * The walk is total: an unknown node makes the line not read-only, and so does a parse error in any nested script.
 */
import {
  forEachChild,
  type AndOr,
  type Command,
  type ParsedScript,
  type Pipeline,
  type Redirect,
  type SyntaxNode,
} from 'unbash';
import { assignmentProblem, evaluatesSubscript } from './variables.ts';
import type { Budget } from './budget.ts';
import { writtenInput } from './input-words.ts';
import { type CommandFacts, isOwnFunctionName, judgeCommand, judgeRedirect } from './judge-command.ts';
import { endlessInput, isEndedByFollower } from './endless-command.ts';
import { evaluatesUnseen, HARMLESS_NODES, nodeProblem } from './node-problem.ts';
import { type Place, ambiguousSyntax, ambiguousText } from './ambiguous-syntax.ts';
import { commandPaths, findOutputPaths, testedPathsOfNode } from './node-paths.ts';
import { suppliedWords } from './supplied-words.ts';
import type { AnalysedCommand, AssignedVariable, ShellAnalysis } from './shell-analysis.ts';
import { mergeBases, basesAfter, mayMove } from './script-facts.ts';
import type { Variables } from './variable-values.ts';
import { producerSteps, wordSteps } from './walk-steps.ts';
import { assignedText, decodeWord, type ShellWord } from './word.ts';

/** State of one pass. */
export class ScriptWalk {
  readonly #commands: AnalysedCommand[] = [];
  readonly #problems: string[] = [];
  readonly #evaluations: string[] = [];
  readonly #assigned: AssignedVariable[] = [];
  readonly #paths: ShellAnalysis['paths'][number][] = [];
  readonly #variables: Variables;
  readonly #facts: CommandFacts;
  readonly #budget: Budget;
  readonly #visitChild = (child: SyntaxNode): void => this.visit(child);
  /** Possible working directories, relative to the session's cwd; undefined if any. */
  #bases: readonly string[] | undefined = [''];
  /** Text that the positions of the current nodes refer to. */
  #source: string;
  #place: Place = { isPattern: false, isNested: false };
  #isUnparsable = false;
  /** True after the first statement other than a function definition: later definitions may come too late. */
  #hasRun = false;

  constructor(source: string, variables: Variables, facts: CommandFacts, budget: Budget) {
    this.#source = source;
    this.#variables = variables;
    this.#facts = facts;
    this.#budget = budget;
    this.#problems.push(...(facts.problems ?? []));
    // A function moves its caller, and reads in the folder where it is called.
    if (facts.changesDirectory && facts.functions.size > 0) this.#bases = undefined;
  }

  result(): ShellAnalysis {
    return {
      commands: this.#commands,
      problems: this.#problems,
      evaluations: this.#evaluations,
      assigned: this.#assigned,
      paths: this.#paths,
      isUnparsable: this.#isUnparsable,
      changesDirectory: this.#facts.changesDirectory,
    };
  }

  visit(node: SyntaxNode): void {
    for (const path of testedPathsOfNode(node, this.#variables, this.#bases)) this.#paths.push(path);
    this.#fail(ambiguousSyntax(node, this.#source, this.#place));
    switch (node.type) {
      case 'Script':
        return this.#visitScript(node);
      case 'Statement': {
        const before = this.#bases;
        this.visit(node.command);
        this.#bases = mergeBases(before, this.#bases);
        return;
      }
      case 'Pipeline':
        return this.#visitPipeline(node);
      case 'AndOr':
        return this.#visitList(node);
      case 'For':
      case 'Select':
      case 'While':
      case 'ArithmeticFor':
        this.#report(HARMLESS_NODES.has(node.type) ? undefined : nodeProblem(node, this.#variables));
        return this.#visitLoop(node);
      case 'Command':
        return this.#visitCommand(node);
      case 'Assignment':
        return this.#visitAssignment(node);
      case 'Redirect':
        return this.#visitRedirect(node);
      case 'CommandExpansion':
      case 'ProcessSubstitution':
      case 'ArithmeticCommandExpansion':
        this.#report(nodeProblem(node, this.#variables));
        return this.#inPlace({ ...this.#place, isNested: true }, () => this.#isolated(node));
      case 'Function': {
        const isOwn = this.#facts.functions.has(node.name.value) && isOwnFunctionName(node.name.value) && !this.#hasRun;
        if (!isOwn || node.name.parts) this.#report(`it redefines "${node.name.text}"`);
        return this.#isolated(node);
      }
      case 'Subshell':
        return this.#isolated(node);
      case 'CaseItem':
        this.#inPlace({ ...this.#place, isPattern: true }, () => node.pattern.forEach(this.#visitChild));
        return this.visit(node.body);
      case 'TestCommand':
        return this.#inPlace({ ...this.#place, isPattern: true }, () => this.#children(node));
      case 'ExtendedGlob':
        if (!this.#place.isPattern) this.#report(`"${node.text}" is not a pattern in every bash`);
        return this.#children(node);
      default:
        return this.#judge(node);
    }
  }

  #judge(node: SyntaxNode): void {
    const problem = HARMLESS_NODES.has(node.type) ? undefined : nodeProblem(node, this.#variables);
    this.#report(problem);
    if (problem !== undefined && evaluatesUnseen(node)) this.#pushEvaluation(node);
    this.#children(node);
  }

  #pushEvaluation({ pos, end }: SyntaxNode): void {
    this.#evaluations.push(`What "${this.#source.slice(pos, end)}" evaluates`);
  }

  #visitScript(script: ParsedScript): void {
    if (script.errors && script.errors.length > 0) this.#fail(script.errors[0]?.message ?? 'the syntax is wrong');
    const outer = this.#source;
    this.#source = script.source ?? outer;
    this.#fail(ambiguousText(this.#source));
    // A substitution in a pattern is an ordinary script.
    this.#inPlace({ ...this.#place, isPattern: false }, () => {
      for (const statement of script.commands) {
        this.#hasRun ||= statement.command.type !== 'Function';
        this.visit(statement);
      }
    });
    this.#source = outer;
  }

  /** @param producers Commands that are piped into it. */
  #visitCommand(
    node: Command,
    input?: Pick<CommandFacts, 'isPiped' | 'inputRoots' | 'hasEndingReader'>,
    producers: readonly SyntaxNode[] = [],
  ): void {
    const words: ShellWord[] = [];
    for (const word of node.name ? [node.name, ...node.args] : node.args) {
      if (word.type !== 'Word') continue;
      const before = words.length;
      words.push(...decodeWord(word, this.#variables));
      if (!this.#spend(wordSteps(words, before, this.#bases))) return;
    }
    const text = this.#source.slice(node.pos, node.end);
    const attached = node.suffix.length === 0 ? node.prefix : [...node.prefix, ...node.suffix];
    for (const child of attached) {
      if (child.type !== 'Assignment') this.visit(child);
      else this.#visitAssignment(child, node.name?.value);
    }
    if (node.name) this.visit(node.name);
    if (words.length === 0) {
      if (node.name) this.#fail('a command expands to nothing');
      return;
    }
    const inputDevice = endlessInput(node);
    const facts =
      input || inputDevice !== undefined
        ? { ...this.#facts, ...input, ...(inputDevice !== undefined && { inputDevice }) }
        : this.#facts;
    const judged = judgeCommand(words, facts);
    this.#isUnparsable ||= judged.hidesProgram === true;
    const { problem } = judged;
    const settings = attached.flatMap((item) =>
      item.type === 'Assignment' ? (assignedText(item, this.#variables) ?? []) : [],
    );
    this.#commands.push({
      text,
      words,
      settings,
      input: writtenInput(node, this.#variables),
      supplied: suppliedWords(
        { node, words, producers, isPathInput: input?.inputRoots !== undefined },
        this.#variables,
      ),
      ...(problem !== undefined && { problem }),
    });
    this.#paths.push(...commandPaths({ node, words, judged, producers }, this.#variables, this.#bases));
    this.#bases = basesAfter(this.#bases, words);
  }

  /** @param program Command that receives the variable. */
  #visitAssignment(node: Extract<SyntaxNode, { type: 'Assignment' }>, program?: string): void {
    this.#assigned.push({ name: node.name, value: this.#source.slice(node.value.pos, node.value.end) });
    this.#report(assignmentProblem(node, this.#variables, program));
    if (evaluatesSubscript(node, this.#variables)) this.#pushEvaluation(node);
    this.#children(node);
  }

  #visitRedirect(node: Redirect): void {
    this.#children(node);
    const target = node.target ? decodeWord(node.target, this.#variables) : [];
    if (!this.#spend(wordSteps(target, 0, this.#bases))) return;
    const { problem, paths } = judgeRedirect(node, target, this.#bases, this.#facts.changesDirectory);
    this.#report(problem);
    this.#paths.push(...paths);
  }

  /** Visit a pipeline: each command may run in a sub-shell, or the last one in this shell. */
  #visitPipeline(node: Pipeline): void {
    node.prefixes.forEach((prefix) => this.visit(prefix));
    const before = this.#bases;
    let after = before;
    for (const [at, command] of node.commands.entries()) {
      this.#bases = before;
      if (!this.#spend(producerSteps(at))) return;
      // With an input redirection the command does not read the pipe.
      const isFed =
        at > 0 && command.type === 'Command' && command.redirects.every(({ operator }) => operator.startsWith('>'));
      const inputRoots =
        isFed && node.operators[at - 1] === '|' ? this.#variables.rootsOfLines(node.commands.slice(0, at)) : undefined;
      const producers = node.commands.slice(0, at);
      if (command.type === 'Command') {
        const hasEndingReader = isEndedByFollower(node.commands.slice(at + 1), this.#variables);
        this.#visitCommand(command, { isPiped: at > 0, inputRoots, hasEndingReader }, producers);
      } else {
        this.#paths.push(...findOutputPaths(producers, this.#variables, this.#bases));
        this.visit(command);
      }
      after = mergeBases(after, this.#bases);
    }
    this.#bases = after;
  }

  /**
   * Visit a list. In `a && b`, b runs in the folder a moved to; after `||`, and after the list, both folders are
   * possible.
   */
  #visitList({ commands, operators }: AndOr): void {
    const before = this.#bases;
    for (const [at, command] of commands.entries()) {
      this.visit(command);
      if (operators[at] !== '&&') this.#bases = mergeBases(before, this.#bases);
    }
  }

  /** Draw from the budget. If none is left, the line counts as not understood. */
  #spend(steps: number): boolean {
    const isAffordable = this.#budget.spend(steps);
    if (!isAffordable) this.#fail('the command has too many parts to be judged');
    return isAffordable;
  }

  /** Visit a loop: its body may start in any folder that an earlier iteration moved to. */
  #visitLoop(node: SyntaxNode): void {
    if (mayMove(node)) this.#bases = undefined;
    this.#children(node);
  }

  /** Visit a sub-shell, whose `cd` ends with it. */
  #isolated(node: SyntaxNode): void {
    const bases = this.#bases;
    this.#children(node);
    this.#bases = bases;
  }

  #inPlace(place: Place, visit: () => void): void {
    const outer = this.#place;
    this.#place = place;
    visit();
    this.#place = outer;
  }

  #children(node: SyntaxNode): void {
    forEachChild(node, this.#visitChild);
  }

  #report(problem: string | undefined): void {
    if (problem !== undefined) this.#problems.push(problem);
  }

  #fail(problem: string | undefined): void {
    if (problem === undefined) return;
    this.#isUnparsable = true;
    this.#problems.push(problem);
  }
}
