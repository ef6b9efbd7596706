/**
 * All that one command line may run: its commands in each way their words can be read, what these launch, and the
 * scripts in their words with all that those run in turn.
 *
 * Found once a line, for all rules, paths and warnings, and within one budget.
 */
import { analyse } from './analysis.ts';
import type { Budget } from './budget.ts';
import { isShell, shellScripts } from './hidden-program.ts';
import { type LaunchedCommands, launchedCommands } from './launchers.ts';
import { openTexts } from './open-word.ts';
import type { AnalysedCommand, ShellAnalysis } from './shell-analysis.ts';
import { collapseBlanks } from './shell-specs.ts';
import { operandStarts, spellings } from './spellings.ts';
import type { ShellWord } from './word.ts';

/** Scripts within scripts that are followed; each level has to be quoted in the one before. */
const MAX_DEPTH = 6;

const NO_TEXTS: readonly string[] = [];
const NO_SCRIPTS: readonly ReachedScript[] = [];

/** Steps that a command or a script costs besides its characters. */
const ITEM_STEPS = 64;

/** A script, and all that it may run. */
export interface ReachedScript {
  readonly text: string;
  readonly analysis: ShellAnalysis;
  readonly commands: readonly ReachedCommand[];
}

/** One simple command, and all that it may run. */
export interface ReachedCommand {
  readonly part: AnalysedCommand;
  readonly readings: readonly Reading[];
}

/** One way to read a command. */
export interface Reading {
  readonly launched: LaunchedCommands;
  /** What it launches, itself first, as rules may spell it. */
  readonly texts: readonly string[];
  /** Texts in its words, and in variables set for it, read as scripts; not all need be any. */
  readonly nested: readonly ReachedScript[];
  /** Those of them that a shell is handed. */
  readonly shellScripts: readonly ReachedScript[];
}

/** Ways to read a line. */
export interface Reach {
  /** A word that is a variable with known values stands for each of them. */
  readonly plain: ReachedScript;
  /** Words that are not written out may be anything. Only commands that do more than read and hold such words. */
  open(): ReachedScript;
  /** Scripts in scripts were left out, or parts of a command: the line is not understood. */
  isIncomplete(): boolean;
}

/** Find all that a line may run. @param budget What its analysis has left. */
export function reachOf(text: string, analysis: ShellAnalysis, budget: Budget): Reach {
  const plain = new Reader(budget, readPlainly);
  const found = plain.script(text, analysis, MAX_DEPTH);
  const open = new Reader(budget, (part, read) => {
    if (part.problem === undefined) return [];
    const isOpen = part.supplied !== undefined || part.words.some(({ literal }) => literal === undefined);
    return isOpen
      ? read(
          (word) => word.roots ?? openTexts(word),
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

/** @param variantsOf What the words may be with those that the command supplies; the words themselves by default. */
type Read = (textsOf: (word: ShellWord) => readonly string[], variantsOf?: VariantsOf) => readonly Reading[];
type VariantsOf = (words: readonly string[]) => readonly (readonly string[])[];

function readPlainly({ supplied }: AnalysedCommand, read: Read): readonly Reading[] {
  return read(
    ({ patterns, roots, guesses, text }) => patterns ?? roots ?? guesses ?? [text],
    (words) => [words, ...(supplied?.known ?? [])],
  );
}

/** Its spellings are made when a rule or a warning is held against them: most lines that only read meet neither. */
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

/** Reads the scripts of one line in one way; a script that stands in it twice is read once. */
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

  /** The words of a command, once for each value of those that have several. */
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

  /** @returns None where there is no budget left. */
  #read(part: AnalysedCommand, words: readonly string[], depth: number): readonly Reading[] {
    if (!this.#budget.spend(ITEM_STEPS + lengthOf(words))) return [];
    const launched = this.#affordable(launchedCommands(words, part.problem !== undefined));
    const { isLauncher, isInterpreter } = launched;
    const handed = isLauncher && part.words.some(isShell) ? shellScripts(launched.commands) : NO_TEXTS;
    const input = part.input !== undefined && (isLauncher || isInterpreter) ? [part.input] : NO_TEXTS;
    const nested = this.#followed([launched.scripts, handed, part.settings, input], depth);
    return [new SpelledReading(launched, nested, this.#followed([handed], depth))];
  }

  /** Keep as many commands as there is budget to try in all their spellings. */
  #affordable(launched: LaunchedCommands): LaunchedCommands {
    const { commands } = launched;
    const from = commands.findIndex(
      (words) => !this.#budget.spend(operandStarts(words).length * (ITEM_STEPS + lengthOf(words))),
    );
    return from < 0 ? launched : { ...launched, commands: commands.slice(0, from) };
  }

  /** Read texts as scripts, each once. */
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
