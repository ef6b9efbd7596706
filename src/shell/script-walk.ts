/**
 * One pass over the syntax tree of a command line: every simple command in it, wherever it stands, and
 * every construct that does more than read.
 *
 * The walk is total: a node it does not know makes the line not read-only, and so does every error of
 * the parser in any nested script.
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
import { writtenInput } from './fed-words.ts';
import { type CommandFacts, isOwnFunctionName, judgeCommand } from './judge-command.ts';
import { endlessInput, isCutBy } from './endless-command.ts';
import { evaluatesUnseen, HARMLESS_NODES, nodeProblem } from './node-problem.ts';
import { type Place, unsureSyntax, unsureText } from './unsure-syntax.ts';
import { judgeRedirect } from './judge-command.ts';
import { commandPaths, foundPaths, lookedForByNode } from './node-paths.ts';
import { suppliedWords } from './supplied-words.ts';
import type { AnalysedCommand, AssignedVariable, ShellAnalysis } from './shell-analysis.ts';
import { eitherOf, movedBases, mayMove } from './script-facts.ts';
import type { Variables } from './variable-values.ts';
import { producerSteps, wordSteps } from './walk-steps.ts';
import { assignedText, decodeWord, type ShellWord } from './word.ts';

/** The state of one pass. */
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
  /** Where relative paths may start from, relative to the session's cwd; undefined: anywhere. */
  #bases: readonly string[] | undefined = [''];
  /** The text that positions of the nodes in hand count in. */
  #source: string;
  #place: Place = { isPattern: false, isNested: false };
  #isUnparsable = false;
  /** A statement that is no function definition has begun: a definition from here on may come too late. */
  #hasRun = false;

  constructor(source: string, variables: Variables, facts: CommandFacts, budget: Budget) {
    this.#source = source;
    this.#variables = variables;
    this.#facts = facts;
    this.#budget = budget;
    this.#problems.push(...(facts.problems ?? []));
    // A function moves whoever calls it, and reads where it is called.
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
    for (const path of lookedForByNode(node, this.#variables, this.#bases)) this.#paths.push(path);
    this.#fail(unsureSyntax(node, this.#source, this.#place));
    switch (node.type) {
      case 'Script':
        return this.#visitScript(node);
      case 'Statement': {
        const before = this.#bases;
        this.visit(node.command);
        this.#bases = eitherOf(before, this.#bases);
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
        if (!this.#place.isPattern) this.#report(`"${node.text}" is no pattern in every bash`);
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
    this.#fail(unsureText(this.#source));
    // A substitution in a pattern is a script like any other.
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
    input?: Pick<CommandFacts, 'isPiped' | 'inputRoots' | 'isCut'>,
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
    this.#bases = movedBases(this.#bases, words);
  }

  /** @param program The command that is given the variable. */
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

  /** Each command of a pipeline may run in a shell of its own, or, the last one, in this. */
  #visitPipeline(node: Pipeline): void {
    node.prefixes.forEach((prefix) => this.visit(prefix));
    const before = this.#bases;
    let after = before;
    for (const [at, command] of node.commands.entries()) {
      this.#bases = before;
      if (!this.#spend(producerSteps(at))) return;
      // What another redirection puts in the pipe's place is not known.
      const isFed =
        at > 0 && command.type === 'Command' && command.redirects.every(({ operator }) => operator.startsWith('>'));
      const inputRoots =
        isFed && node.operators[at - 1] === '|' ? this.#variables.rootsOfLines(node.commands.slice(0, at)) : undefined;
      const producers = node.commands.slice(0, at);
      if (command.type === 'Command') {
        const isCut = isCutBy(node.commands.slice(at + 1), this.#variables);
        this.#visitCommand(command, { isPiped: at > 0, inputRoots, isCut }, producers);
      } else {
        this.#paths.push(...foundPaths(producers, this.#variables, this.#bases));
        this.visit(command);
      }
      after = eitherOf(after, this.#bases);
    }
    this.#bases = after;
  }

  /** `a && b`: b runs where a led; after `||`, and after it all, it may have led there or not. */
  #visitList({ commands, operators }: AndOr): void {
    const before = this.#bases;
    for (const [at, command] of commands.entries()) {
      this.visit(command);
      if (operators[at] !== '&&') this.#bases = eitherOf(before, this.#bases);
    }
  }

  /** Draw from the budget; without any left, the line is not understood. */
  #spend(steps: number): boolean {
    const isAffordable = this.#budget.spend(steps);
    if (!isAffordable) this.#fail('the command has too many parts to be judged');
    return isAffordable;
  }

  /** A body that runs again starts wherever it led before. */
  #visitLoop(node: SyntaxNode): void {
    if (mayMove(node)) this.#bases = undefined;
    this.#children(node);
  }

  /** A sub-shell's `cd` ends with it. */
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
