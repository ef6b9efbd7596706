/**
 * Everything that one command line may run: its commands with each possible value of their words, the commands these
 * launch, and nested scripts.
 *
 * Computed once per line, for all rules, paths and warnings, within one budget.
 */
import { analyse } from './analysis.ts';
import type { Budget } from './budget.ts';
import { isShell, shellScripts } from './hidden-program.ts';
import { type LaunchedCommands, launchedCommands } from './launchers.ts';
import { wordTemplates } from './word-templates.ts';
import type { AnalysedCommand, ShellAnalysis } from './shell-analysis.ts';
import { collapseBlanks } from './shell-specs.ts';
import { operandStarts, spellings } from './spellings.ts';
import type { ShellWord } from './word.ts';

/** Deepest nesting of scripts that is followed; each level has to be quoted in the one above. */
const MAX_DEPTH = 6;

const NO_TEXTS: readonly string[] = [];
const NO_SCRIPTS: readonly ReachedScript[] = [];

/** Steps that a command or a script costs besides its characters. */
const ITEM_STEPS = 64;

/** A script, and everything it may run. */
export interface ReachedScript {
  readonly text: string;
  readonly analysis: ShellAnalysis;
  readonly commands: readonly ReachedCommand[];
}

/** One simple command, and everything it may run. */
export interface ReachedCommand {
  readonly part: AnalysedCommand;
  readonly readings: readonly Reading[];
}

/** One possible reading of a command's words. */
export interface Reading {
  readonly launched: LaunchedCommands;
  /** Commands that it launches, itself first, in the spellings of rules. */
  readonly texts: readonly string[];
  /** Texts among its words and variables, parsed as scripts; some may not be scripts at all. */
  readonly nested: readonly ReachedScript[];
  /** Scripts of `nested` that a shell runs. */
  readonly shellScripts: readonly ReachedScript[];
}

/** Readings of a line. */
export interface Reach {
  /** Variables with known values are replaced by each of them. */
  readonly plain: ReachedScript;
  /** Words that are not literal may be anything. Contains only commands that do more than read and have such words. */
  open(): ReachedScript;
  /** Report whether nested scripts or commands were left out, so that the line counts as not understood. */
  isIncomplete(): boolean;
}

/** Find everything that a line may run. @param budget Allowance that its analysis has left. */
export function reachOf(text: string, analysis: ShellAnalysis, budget: Budget): Reach {
  const plain = new Reader(budget, readPlainly);
  const found = plain.script(text, analysis, MAX_DEPTH);
  const open = new Reader(budget, (part, read) => {
    if (part.problem === undefined) return [];
    const isOpen = part.supplied !== undefined || part.words.some(({ literal }) => literal === undefined);
    return isOpen
      ? read(
          (word) => word.roots ?? wordTemplates(word),
          (words) => part.supplied?.open(words) ?? [words],
        )
      : readPlainly(part, read).filter(({ nested }) => nested.length > 0);
  });
  let opened: ReachedScript | undefined;
  return {
    plain: found,
    open: () => (opened ??= open.script(text, analysis, MAX_DEPTH)),
    isIncomplete: () => budget.isSpent || plain.isTooDeep || open.isTooDeep,
  };
}

/** @param variantsOf Combines the words with those that the command supplies; by default returns the words alone. */
type Read = (textsOf: (word: ShellWord) => readonly string[], variantsOf?: VariantsOf) => readonly Reading[];
type VariantsOf = (words: readonly string[]) => readonly (readonly string[])[];

function readPlainly({ supplied }: AnalysedCommand, read: Read): readonly Reading[] {
  return read(
    ({ patterns, roots, guesses, text }) => patterns ?? roots ?? guesses ?? [text],
    (words) => [words, ...(supplied?.known ?? [])],
  );
}

/** Computes its spellings lazily: most read-only lines meet neither a rule nor a warning. */
class SpelledReading implements Reading {
  readonly launched: LaunchedCommands;
  readonly nested: readonly ReachedScript[];
  readonly shellScripts: readonly ReachedScript[];
  #texts: readonly string[] | undefined;

  constructor(launched: LaunchedCommands, nested: readonly ReachedScript[], scripts: readonly ReachedScript[]) {
    this.launched = launched;
    this.nested = nested;
    this.shellScripts = scripts;
  }

  get texts(): readonly string[] {
    return (this.#texts ??= this.launched.commands.flatMap(spellings).map((words) => collapseBlanks(words.join(' '))));
  }
}

/** Expands the scripts of one line with one kind of reading; equal scripts are expanded once. */
class Reader {
  isTooDeep = false;
  readonly #budget: Budget;
  readonly #choose: (part: AnalysedCommand, read: Read) => readonly Reading[];
  readonly #scripts = new Map<string, ReachedScript>();

  constructor(budget: Budget, choose: (part: AnalysedCommand, read: Read) => readonly Reading[]) {
    this.#budget = budget;
    this.#choose = choose;
  }

  script(text: string, analysis: ShellAnalysis, depth: number): ReachedScript {
    const commands = analysis.commands.map((part) => ({
      part,
      readings: this.#choose(part, (textsOf, variantsOf) =>
        this.#wordings(part, textsOf)
          .flatMap(variantsOf ?? ((words) => [words]))
          .flatMap((words) => this.#read(part, words, depth)),
      ),
    }));
    return { text, analysis, commands };
  }

  /** List the words of a command once for each value of a word with several. */
  #wordings(part: AnalysedCommand, textsOf: (word: ShellWord) => readonly string[]): readonly (readonly string[])[] {
    const values = part.words.map((word) => (word.literal === undefined ? textsOf(word) : word.literal));
    const most = values.reduce(
      (longest, value) => (typeof value === 'string' ? longest : Math.max(longest, value.length)),
      1,
    );
    return Array.from({ length: most }, (_, at) =>
      values.map((value) => (typeof value === 'string' ? value : (value[at % value.length] ?? ''))),
    );
  }

  /** @returns Empty if no budget is left. */
  #read(part: AnalysedCommand, words: readonly string[], depth: number): readonly Reading[] {
    if (!this.#budget.spend(ITEM_STEPS + lengthOf(words))) return [];
    const launched = this.#affordable(launchedCommands(words, part.problem !== undefined));
    const { isLauncher, isInterpreter } = launched;
    const handed = isLauncher && part.words.some(isShell) ? shellScripts(launched.commands) : NO_TEXTS;
    const input = part.input !== undefined && (isLauncher || isInterpreter) ? [part.input] : NO_TEXTS;
    const nested = this.#followed([launched.scripts, handed, part.settings, input], depth);
    return [new SpelledReading(launched, nested, this.#followed([handed], depth))];
  }

  /** Keep as many commands as the budget allows to try in all their spellings. */
  #affordable(launched: LaunchedCommands): LaunchedCommands {
    const { commands } = launched;
    const from = commands.findIndex(
      (words) => !this.#budget.spend(operandStarts(words).length * (ITEM_STEPS + lengthOf(words))),
    );
    return from < 0 ? launched : { ...launched, commands: commands.slice(0, from) };
  }

  /** Expand texts as scripts, each once. */
  #followed(lists: readonly (readonly string[])[], depth: number): readonly ReachedScript[] {
    if (lists.every((texts) => texts.length === 0)) return NO_SCRIPTS;
    return [...new Set(lists.flat())].flatMap((text) => this.#nested(text, depth));
  }

  #nested(text: string, depth: number): readonly ReachedScript[] {
    const known = this.#scripts.get(text);
    if (known) return [known];
    this.isTooDeep ||= depth === 0;
    if (depth === 0 || this.#budget.isSpent) return [];
    const found = this.script(text, analyse(text, this.#budget), depth - 1);
    this.#scripts.set(text, found);
    return [found];
  }
}

function lengthOf(words: readonly string[]): number {
  let length = words.length;
  for (const word of words) length += word.length;
  return length;
}
