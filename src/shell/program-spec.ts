/**
 * What is known of one program: its options, what its operands are, and what else must hold.
 *
 * A program without a spec, and an option that is not in it, are not read-only.
 */
import { flagTable, parseArguments, type ParsedArguments } from './flags.ts';
import type { IncludedNames } from './included-names.ts';
import type { ShellWord } from './word.ts';
import { writtenWord } from './written-word.ts';

/** What a script does around a command. */
export interface ScriptFacts {
  /** A `cd`, `pushd` or `popd` stands somewhere in the script. */
  readonly changesDirectory: boolean;
  /** Functions the script defines; what they do is judged where they are defined. */
  readonly functions: ReadonlySet<string>;
  /** Why the script as a whole may never end. */
  readonly problems?: readonly string[];
  /** This command's standard input is a pipe. */
  readonly isPiped?: boolean;
}

/** What was found out about one command. */
export interface CommandJudgement {
  /** Why it does not only read; absent where it does. */
  readonly problem?: string;
  /** What it runs cannot be told from its words: no rule can be held against it. */
  readonly hidesProgram?: boolean;
  /** Words that name files or folders it reads. */
  readonly reads: readonly ShellWord[];
  /** Words that name files it only looks for: `[ -f a ]`. */
  readonly looksFor?: readonly ShellWord[];
  /** It reads what lies below them too. */
  readonly isTree?: boolean;
  /** Of that, only files with names like these. */
  readonly names?: IncludedNames;
}

/** What is known of one program. */
export interface ProgramSpec {
  /** Options that only read, as a line for `flagTable`. */
  readonly flags?: string;
  readonly isOpen?: boolean;
  readonly stopsAtOperand?: boolean;
  readonly hasNumbers?: boolean;
  /**
   * What operands are: `pattern` is text first, then paths, unless a `patternFlags` option was given; `names` are paths
   * that it only looks for.
   */
  readonly operands?: 'paths' | 'text' | 'pattern' | 'names';
  readonly patternFlags?: readonly string[];
  /** It goes through the folders its operands name, and reads what is in them. */
  readonly readsTree?: (given: ParsedArguments) => boolean;
  /** Which of those files it opens, by their names. */
  readonly includedNames?: (given: ParsedArguments) => IncludedNames;
  /** Without an operand it looks at the working directory. */
  readonly readsHere?: (given: ParsedArguments, facts: ScriptFacts) => boolean;
  /** Options whose value is a path that is read. */
  readonly pathFlags?: readonly string[];
  /** Options that make it read files which only another file or the input names. */
  readonly listFlags?: readonly string[];
  /** It is told to follow links that it meets below its operands: what it reads may lie anywhere. */
  readonly followsLinks?: (given: ParsedArguments) => boolean;
  readonly mostOperands?: number;
  /** Anything else: returns why not. */
  readonly check?: (given: ParsedArguments, facts: ScriptFacts) => string | undefined;
  /**
   * Words that it only reads with where one of them, or `--help`, is the only one: they make it tell about itself.
   *
   * Some programs act even then: terraform asks the network, ansible makes folders, and many obey what lies in the
   * current folder before they answer. pytest runs `conftest.py`, jest and npx what is in `node_modules`, rustc, cargo and
   * rustup the tools that `rust-toolchain.toml` names, go, swift and dotnet those of `go.mod`, `.swift-version` and
   * `global.json`, ruby those of `.ruby-version`; mvn takes options from `.mvn`, valgrind from `.valgrindrc`, npm from
   * `.npmrc`, bundle from `.bundle`, bun from `bunfig.toml`, some builds of php from `php.ini`; poetry loads plugins,
   * elixir `.erlang`, R `.Rprofile`, convert its settings.
   */
  readonly alone?: string;
  /** Sub-commands by name; the first operand must be one of them. */
  readonly subcommands?: Readonly<Record<string, ProgramSpec>>;
  /** A grammar of its own takes the place of all the rest. */
  readonly judge?: (words: readonly ShellWord[], facts: ScriptFacts) => CommandJudgement;
}

/** It reads no file that its words name. */
export const NO_PATHS: readonly ShellWord[] = [];

/** The working directory, for programs that look at it when they are given no other. */
export const HERE = writtenWord('.', false);

/** A file that only another file, a link or the input names. */
export const ANYWHERE: ShellWord = { text: '', prefix: '', isSplit: false, mayBeFlag: false };

/** Programs that take a word like this, wherever it stands, for the name of a file with further options. */
export const OPTION_FILE = /^(?:@|$)/;

/**
 * A program that reads its options in other ways than the tables say, where it is given them so.
 *
 * @param otherwise Matches a word, or the known start of one, that the program would take apart differently.
 */
export function refusing(otherwise: RegExp, spec: ProgramSpec): ProgramSpec {
  return {
    judge: (words, facts) => {
      const word = words.find(({ literal, prefix }) => otherwise.test(literal ?? prefix));
      return word
        ? { problem: `"${word.text}" may be other options`, reads: NO_PATHS }
        : judgeProgram(spec, words, facts);
    },
  };
}

/** Sub-commands of one shape. */
export function verbs(names: string, flags: string): Readonly<Record<string, ProgramSpec>> {
  return Object.fromEntries(names.split(' ').map((name) => [name, { flags }]));
}

/** Judge a program's words, the program's own not among them. */
export function judgeProgram(spec: ProgramSpec, words: readonly ShellWord[], facts: ScriptFacts): CommandJudgement {
  if (spec.judge) return spec.judge(words, facts);
  if (spec.alone !== undefined) return judgeAlone(spec.alone, words);
  if (spec.subcommands) return judgeSubcommand(spec, words, facts);
  const given = parseArguments(words, { ...spec, flags: flagTable(`${spec.flags ?? ''} --help --version`) });
  const { operands } = given;
  const problem = given.problem ?? operandProblem(spec, operands) ?? spec.check?.(given, facts);
  const flagPaths = given.flags.flatMap(({ name, value }) => [
    ...(value && spec.pathFlags?.includes(name) ? [value] : []),
    ...(spec.listFlags?.includes(name) ? [ANYWHERE] : []),
  ]);
  const named = operandPaths(spec, given);
  const isHere = named.length === 0 && spec.readsHere?.(given, facts) === true;
  return {
    reads: [...flagPaths, ...(isHere ? [HERE] : named), ...(spec.followsLinks?.(given) === true ? [ANYWHERE] : [])],
    ...(spec.operands === 'names' && { looksFor: operands }),
    ...(spec.readsTree?.(given) === true && { isTree: true, names: spec.includedNames?.(given) }),
    ...(problem !== undefined && { problem }),
  };
}

/** @param known The words that may stand alone, separated by blanks. */
function judgeAlone(known: string, words: readonly ShellWord[]): CommandJudgement {
  const isKnown = words.length === 1 && [...known.split(' '), '--help'].includes(words[0]?.literal ?? '-');
  return { reads: NO_PATHS, ...(!isKnown && { problem: 'it may run anything' }) };
}

function judgeSubcommand(spec: ProgramSpec, words: readonly ShellWord[], facts: ScriptFacts): CommandJudgement {
  const at = words.findIndex((word) => !word.mayBeFlag);
  const globals = parseArguments(at < 0 ? words : words.slice(0, at), { flags: flagTable(spec.flags ?? '') });
  if (globals.problem !== undefined) return { problem: globals.problem, reads: NO_PATHS };
  const name = words[at]?.literal;
  if (at < 0) return globals.flags.length > 0 ? { reads: NO_PATHS } : unknownSubcommand('');
  // `git stash -- list` stashes a file of that name.
  if (words[at - 1]?.literal === '--') return unknownSubcommand('--');
  const subcommand =
    name !== undefined && Object.hasOwn(spec.subcommands ?? {}, name) ? spec.subcommands?.[name] : undefined;
  return subcommand ? judgeProgram(subcommand, words.slice(at + 1), facts) : unknownSubcommand(words[at]?.text);
}

function unknownSubcommand(text: string | undefined): CommandJudgement {
  return { problem: `sub-command "${text ?? ''}" is not known to only read`, reads: NO_PATHS };
}

function operandProblem(spec: ProgramSpec, operands: readonly ShellWord[]): string | undefined {
  if (spec.mostOperands === undefined) return undefined;
  const mayBeMore = operands.some((operand) => operand.isSplit);
  return operands.length > spec.mostOperands || (mayBeMore && !spec.isOpen)
    ? 'an operand too many may be a file it writes'
    : undefined;
}

function operandPaths(spec: ProgramSpec, { operands, flags }: ParsedArguments): readonly ShellWord[] {
  if (spec.operands === 'paths') return operands;
  if (spec.operands !== 'pattern') return NO_PATHS;
  const isPatternGiven = flags.some((flag) => spec.patternFlags?.includes(flag.name));
  // A first word that may become several is the pattern and files too.
  return isPatternGiven || operands[0]?.isSplit ? operands : operands.slice(1);
}
