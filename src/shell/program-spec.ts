/**
 * Judges a program against its spec: its options, the meaning of its operands, and further conditions.
 *
 * A program without a spec, and an option that is not in it, are not read-only.
 */
import { flagTable, parseArguments, type ParsedArguments } from './flags.ts';
import type { IncludedNames } from './included-names.ts';
import type { ShellWord } from './word.ts';
import { literalWord } from './literal-word.ts';

/** Context of a command in its script. */
export interface ScriptFacts {
  /** True if the script contains a `cd`, `pushd` or `popd`. */
  readonly changesDirectory: boolean;
  /** Functions that the script defines; their bodies are judged at the definition. */
  readonly functions: ReadonlySet<string>;
  /** Reasons why the script as a whole may never end. */
  readonly problems?: readonly string[];
  /** True if this command's standard input is a pipe. */
  readonly isPiped?: boolean;
}

/** Judgement of one command. */
export interface CommandJudgement {
  /** Reason why it does more than read; absent if it only reads. */
  readonly problem?: string;
  /** True if its words do not show which program it runs, so no rule can be matched against it. */
  readonly hidesProgram?: boolean;
  /** Words that name files or folders it reads. */
  readonly reads: readonly ShellWord[];
  /** Words that name files whose existence it tests: `[ -f a ]`. */
  readonly testedPaths?: readonly ShellWord[];
  /** True if it also reads everything below those folders. */
  readonly isTree?: boolean;
  /** Restricts `isTree` to files with names like these. */
  readonly names?: IncludedNames;
}

/** Read-only usage of one program. */
export interface ProgramSpec {
  /** Read-only options, in the syntax of `flagTable`. */
  readonly flags?: string;
  readonly isOpen?: boolean;
  readonly stopsAtOperand?: boolean;
  readonly hasNumbers?: boolean;
  /**
   * Meaning of operands: `pattern` is text first, then paths, unless a `patternFlags` option was given; `names` are
   * paths that are only tested for existence.
   */
  readonly operands?: 'paths' | 'text' | 'pattern' | 'names';
  readonly patternFlags?: readonly string[];
  /** Report whether it reads the files below its operands. */
  readonly readsTree?: (given: ParsedArguments) => boolean;
  /** Names of the files below its operands that it opens. */
  readonly includedNames?: (given: ParsedArguments) => IncludedNames;
  /** Report whether it reads the working directory when no operand is given. */
  readonly readsHere?: (given: ParsedArguments, facts: ScriptFacts) => boolean;
  /** Options whose value is a path that is read. */
  readonly pathFlags?: readonly string[];
  /** Options that make it read files named by another file or by the input. */
  readonly listFlags?: readonly string[];
  /** Report whether it follows links below its operands, so the files read may lie anywhere. */
  readonly followsLinks?: (given: ParsedArguments) => boolean;
  readonly maxOperands?: number;
  /** Check further conditions. @returns The reason why the command does more than read, or undefined. */
  readonly check?: (given: ParsedArguments, facts: ScriptFacts) => string | undefined;
  /**
   * Words with which it only prints information about itself, if one of them, or `--help`, is its only argument.
   *
   * Some programs have side effects even then: terraform uses the network, ansible creates folders, and many load files
   * of the current folder first. pytest runs `conftest.py`, jest and npx run files of `node_modules`, rustc, cargo and
   * rustup the tools that `rust-toolchain.toml` names, go, swift and dotnet those of `go.mod`, `.swift-version` and
   * `global.json`, ruby those of `.ruby-version`; mvn takes options from `.mvn`, valgrind from `.valgrindrc`, npm from
   * `.npmrc`, bundle from `.bundle`, bun from `bunfig.toml`, some builds of php from `php.ini`; poetry loads plugins,
   * elixir `.erlang`, R `.Rprofile`, convert its settings.
   */
  readonly alone?: string;
  /** Sub-commands by name; the first operand must be one of them. */
  readonly subcommands?: Readonly<Record<string, ProgramSpec>>;
  /** Judge the words by a grammar of its own, which replaces all other fields. */
  readonly judge?: (words: readonly ShellWord[], facts: ScriptFacts) => CommandJudgement;
}

/** Result for a program that reads no file named by its words. */
export const NO_PATHS: readonly ShellWord[] = [];

/** The working directory, for programs that read it by default. */
export const HERE = literalWord('.', false);

/** A file that is named only by another file, a link or the input. */
export const ANYWHERE: ShellWord = { text: '', prefix: '', isSplit: false, mayBeFlag: false };

/** Words that some programs read as the name of a file with further options, at any position. */
export const OPTION_FILE = /^(?:@|$)/;

/**
 * Wrap a spec to refuse words that the program parses differently from its option table.
 *
 * @param otherwise Matches such a word, or its known start.
 */
export function withRefusedWords(otherwise: RegExp, spec: ProgramSpec): ProgramSpec {
  return {
    judge: (words, facts) => {
      const word = words.find(({ literal, prefix }) => otherwise.test(literal ?? prefix));
      return word
        ? { problem: `"${word.text}" may be other options`, reads: NO_PATHS }
        : judgeProgram(spec, words, facts);
    },
  };
}

/** Create sub-commands that share the same options. */
export function subcommandsWith(names: string, flags: string): Readonly<Record<string, ProgramSpec>> {
  return Object.fromEntries(names.split(' ').map((name) => [name, { flags }]));
}

/** Judge a program's words, without the program itself. */
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
    ...(spec.operands === 'names' && { testedPaths: operands }),
    ...(spec.readsTree?.(given) === true && { isTree: true, names: spec.includedNames?.(given) }),
    ...(problem !== undefined && { problem }),
  };
}

/** @param known Words that may be the only argument, separated by blanks. */
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
  if (spec.maxOperands === undefined) return undefined;
  const mayBeMore = operands.some((operand) => operand.isSplit);
  return operands.length > spec.maxOperands || (mayBeMore && !spec.isOpen)
    ? 'an extra operand may be a file it writes'
    : undefined;
}

function operandPaths(spec: ProgramSpec, { operands, flags }: ParsedArguments): readonly ShellWord[] {
  if (spec.operands === 'paths') return operands;
  if (spec.operands !== 'pattern') return NO_PATHS;
  const isPatternGiven = flags.some((flag) => spec.patternFlags?.includes(flag.name));
  // If the first word may become several, it is both the pattern and files.
  return isPatternGiven || operands[0]?.isSplit ? operands : operands.slice(1);
}
