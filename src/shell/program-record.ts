/**
 * Type of a program record: everything that is known of one program, in one literal.
 *
 * Records are looked up in `programs/index.ts`; there is no other list of programs.
 */
import type { ParsedArguments } from './flags.ts';
import type { ProgramSpec } from './program-spec.ts';
import type { ShellWord } from './word.ts';

/**
 * The record of one program, or of several that behave identically. A program without `reads` is never allowed unasked.
 */
export interface ProgramRecord
  extends ProgramNames, Launching, RunText, TouchedPaths, Ending, Output, PeopleFacing, RuleWords {
  /** True for a shell builtin, which runs in the shell's own process. */
  readonly isBuiltin?: true;
  /** True if it may change the working directory. */
  readonly isDirectoryChanger?: true;
  /** True if it declares variables: assignments among its words are not limited to one command. */
  readonly isDeclaring?: true;
  /** True if it assigns outside data to the variables it names, or may run a builtin that does. */
  readonly isAssigning?: true;
  /** True if it evaluates array subscripts in its words. */
  readonly isEvaluating?: true;
  /** Options and operands with which it only reads. */
  readonly reads?: ProgramSpec;
  /**
   * An allow rule for it covers every use of it, because people call it to act (`tar`, `mount`), or because beyond
   * reading it can only use the network or print more (`ss`, `lsof`).
   */
  readonly isCoveredWhole?: true;
  /** Facts about sub-commands beyond their read-only options. */
  readonly subcommands?: Readonly<Record<string, SubcommandRecord>>;
  /**
   * Options with side effects, of a program whose grammar does not tell them: an allow rule covers them only if it
   * spells them. A word that is unknown until run time may be one of them, even if no literal word matches.
   */
  readonly actingOptions?: RegExp;
}

/** A sub-command of a program. */
export type SubcommandRecord = Pick<ProgramRecord, 'lists' | 'answers' | 'letters'>;

/** Names of a program. */
interface ProgramNames {
  /** Names, separated by blanks. */
  readonly names: string;
  /** Other names of the same program as `names`: rules for it apply to them. */
  readonly aliases?: string;
  /** Another program that it replaces: rules for that program apply to this one. */
  readonly standsFor?: string;
  /** True if GNU also installs it with the prefix `g`. */
  readonly isGnu?: true;
  /** True if variants have this name before a dot: `mkfs.ext4`. */
  readonly isFamily?: true;
  /** True if it is also installed with a version suffix: `python3.11`, `gcc-12`. */
  readonly isVersioned?: true;
  /**
   * Group word before a sub-command that does not change its meaning, and the number of words to skip:
   * `docker container run`.
   */
  readonly commandGroup?: { readonly words: RegExp; readonly length: number };
}

/** Other programs that it runs, and how to find them among its words. */
interface Launching {
  /** True if any of its words may be the program that it runs. */
  readonly isLauncher?: true;
  /** Words that are followed by another program to run; the program may be part of the word. */
  readonly runsBehind?: RegExp;
  /** Options with which the wrapped command alone decides; with any other option it is not unwrapped. */
  readonly wraps?: WrapperOptions;
  /** Number of its own operands before the program that it runs. */
  readonly leadingOperands?: number;
  /** True if it runs programs in a container and not on this machine. */
  readonly isContainerRunner?: true;
  /** True if it finds files, and may run another program for each. */
  readonly isFinder?: true;
  /** True if it passes words of its input to the program that it runs. */
  readonly isSupplier?: true;
  /** True if the words after `--` are operands of a sub-command and not a command. */
  readonly hasOperandsBehindDashes?: true;
  /**
   * Options that always take the next word, so it is neither a sub-command nor a program. For other options both
   * readings are tried.
   */
  readonly valueOptions?: string;
  /** Options before text for people: a commit message is neither a script nor an option. */
  readonly messageOptions?: RegExp;
}

/** Options of a wrapper that is unwrapped: `timeout 5 ls` only reads because `ls` does. */
export interface WrapperOptions {
  readonly flags: string;
  readonly hasNumbers?: boolean;
  /** True if allow rules for the inner command apply, too. */
  readonly isTransparent?: boolean;
}

/** Text that it executes. */
interface RunText {
  /**
   * Language of the text it executes: `shell`; `program` for another general language; `text` for a command language of
   * its own, as of sed and editors, whose standard input is not a program.
   */
  readonly language?: 'shell' | 'program' | 'text';
  /** True if it joins its words to a script. */
  readonly isJoiner?: true;
  /** True if it passes its input, or a file, to a shell. */
  readonly isShellFeeder?: true;
  /** Options before inline source text, or before the name of a module. */
  readonly inlineOptions?: RegExp;
  /** Cases in which it runs text that its words do not show: scripts of a project, plug-ins, downloaded packages. */
  readonly hiddenText?: 'always' | readonly HiddenText[];
}

/** Conditions under which a program runs text that its words do not show; all that are set must hold. */
export interface HiddenText {
  /** Matches one of the words, options and their values included. */
  readonly words?: RegExp;
  /** Matches the first operand: a sub-command. */
  readonly command?: RegExp;
  /** Exception for well-known tools: matches the words after the sub-command, or all words if no `command` is set. */
  readonly unless?: RegExp;
  /** True if its commands come from standard input that is not literal. */
  readonly readsCommandsFromInput?: true;
}

/** Files that it reads and changes when it does more than read, for Read and Edit rules. */
interface TouchedPaths {
  readonly writesOperands?: 'all' | 'first' | 'last';
  /** `others` are the operands before the last. */
  readonly readsOperands?: 'all' | 'others';
  /** True if its options name files to read: a patch, a key. */
  readonly hasReadOptions?: true;
  /** Its own options that name output files. */
  readonly outputOptions?: RegExp;
  /** Options with which it changes files that it otherwise only reads. */
  readonly changesInPlace?: RegExp;
  /** Sub-commands, with the next word, that change the files they name. */
  readonly changingCommands?: RegExp;
  /** True if `-C` sets the folder of its operands, and its options may lack the dash. */
  readonly isExtractor?: true;
  /** True if `-w`, `-i` and the like do not mean writing in place. */
  readonly hasUnrelatedWriteOptions?: true;
  /** Options that include everything below the operands. */
  readonly wholeTreeOptions?: RegExp;
}

/** Termination of the program, and the cost of an interrupt. */
interface Ending {
  /**
   * Report whether it terminates by itself with these words; absent if it always does.
   *
   * @param given Words parsed with every letter as an option.
   */
  readonly ends?: (given: ParsedArguments, words: readonly ShellWord[]) => boolean;
  /** True if it ends when the reader of its pipe ends: `yes | head`. */
  readonly isEndedByReader?: true;
  /** Options that bound the amount it reads. */
  readonly boundOption?: RegExp;
  /** True if it inspects files without reading their contents, so endless devices do no harm. */
  readonly isMetadataOnly?: true;
  /** True if its result never depends on anything outside the script. */
  readonly isConstant?: true;
  /** Commands that are cheap to start again, or never end by themselves: an install, a server, a watcher. */
  readonly restartable?: RegExp;
  /** True if it tests or builds, so its result is needed. */
  readonly isTestOrBuild?: true;
}

/** Output and exit codes. */
interface Output {
  /** True if it passes its input on as it arrives. */
  readonly isStream?: true;
  /** Options with which it prints only paths. */
  readonly lists?: ListingOptions;
  /** Options with which it drops and sorts lines but changes none, and the number of operands in that case. */
  readonly filtersLines?: { readonly flags: string; readonly operands: number };
  /** Exit codes that are answers and not failures, with their meaning. */
  readonly answers?: Readonly<Record<number, string>>;
}

/**
 * Options with which a program prints only paths. This is a subset: an option that prints anything else, or follows
 * links, is left out.
 */
export interface ListingOptions extends Pick<ProgramSpec, 'flags' | 'operands' | 'patternFlags'> {
  /** Options of which one is required for it to print only paths. */
  readonly needs?: readonly string[];
  /** True if it prints names below the working directory, whatever its operands are. */
  readonly printsHere?: boolean;
  /** Report whether it searches the working directory when no operand is given. */
  readonly isHere?: (given: ParsedArguments) => boolean;
}

/** Alternative spellings of its words, for rules. */
interface RuleWords {
  /** Letters that are short for a long option. */
  readonly letters?: Readonly<Record<string, string>>;
  /** Aliases of sub-commands; unambiguous prefixes of names count as well. */
  readonly subcommandNames?: Readonly<Record<string, string>>;
  /** Words before a sub-command that are not operands: `cargo +nightly`. */
  readonly skippedOperands?: RegExp;
}

/** Warnings and rule suggestions. */
interface PeopleFacing {
  /** Warnings by pattern; a pattern is matched against its words, joined by blanks. */
  readonly warnings?: readonly { readonly words: RegExp; readonly sentence: string }[];
  readonly isDownloader?: true;
  /** True if it runs a command with other rights, which is reviewed before it runs a download. */
  readonly isRaisingRights?: true;
  /**
   * Rule suggested for "always allow". `subcommand`: a prefix that includes the sub-command; `nothing`: no prefix is
   * safe, since the program runs anything, deletes, or changes the user. By default the program's name, unless it runs
   * other programs.
   */
  readonly suggests?: 'subcommand' | 'nothing';
  /** True if a script name follows its `run`, which the rule includes. */
  readonly isScriptRunner?: true;
}
