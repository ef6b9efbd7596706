/**
 * All that is known of one program, in one literal: how it is judged, what it runs, writes and prints.
 *
 * Whoever needs to know something of a program asks its record (`programs/index.ts`); there is no other list of programs.
 */
import type { ParsedArguments } from './flags.ts';
import type { ProgramSpec } from './program-spec.ts';
import type { ShellWord } from './word.ts';

/** The record of one program, or of several that are alike in all of it. A program without `reads` never passes unasked. */
export interface ProgramRecord
  extends ProgramNames, Launching, RunText, TouchedPaths, Ending, Output, ShownToPeople, RuleWords {
  /** The shell itself does it, in its own process. */
  readonly isBuiltin?: true;
  /** It may move the working directory. */
  readonly isDirectoryChanger?: true;
  /** It declares variables: what is assigned among its words is no setting for one command. */
  readonly isDeclaring?: true;
  /** It gives its operands values from outside, or may run a builtin that does. */
  readonly isAssigning?: true;
  /** It evaluates subscripts in its words. */
  readonly isEvaluating?: true;
  /** The words with which it only reads. */
  readonly reads?: ProgramSpec;
  /**
   * An allow rule for it covers every use of it, because people call it to act (`tar`, `mount`), or because beyond
   * reading it can only use the network or print more (`ss`, `lsof`).
   */
  readonly isCoveredWhole?: true;
  /** What is known of its sub-commands beside the words with which they only read. */
  readonly subcommands?: Readonly<Record<string, SubcommandRecord>>;
  /**
   * Words by which it does more than read, of a program whose grammar does not tell: an allow rule for it does not cover
   * them unless it spells them. A word that is only known when it runs may be one, also where none matters by itself.
   */
  readonly actingOptions?: RegExp;
}

/** A sub-command of a program. */
export type SubcommandRecord = Pick<ProgramRecord, 'lists' | 'answers' | 'letters'>;

/** What it is called. */
interface ProgramNames {
  /** Its names, separated by blanks. */
  readonly names: string;
  /** Other names of the one program in `names`: rules about it hold for them. */
  readonly aliases?: string;
  /** Another program that it takes the place of: rules about that one hold for it. */
  readonly standsFor?: string;
  /** GNU installs it with a `g` before its name, too. */
  readonly isGnu?: true;
  /** Programs of its kind have its name before a dot: `mkfs.ext4`. */
  readonly isFamily?: true;
  /** It is installed with a version behind its name, too: `python3.11`, `gcc-12`. */
  readonly isVersioned?: true;
  /** A word before a sub-command that changes nothing about it, with how many words to leave out: `docker container run`. */
  readonly commandGroup?: { readonly words: RegExp; readonly length: number };
}

/** The other programs that it runs, and how its words are told from theirs. */
interface Launching {
  /** Every one of its words may be the program that it runs. */
  readonly isLauncher?: true;
  /** Words behind which it runs another program; the value may be a part of the word. */
  readonly runsBehind?: RegExp;
  /** It may be looked through where it is given these options and no others. */
  readonly wraps?: WrapperOptions;
  /** Its own operands before the program that it runs. */
  readonly leadingOperands?: number;
  /** What it runs, it runs in a container and not on this machine. */
  readonly isContainerRunner?: true;
  /** It finds files, and may run another program for each. */
  readonly isFinder?: true;
  /** It hands words of its input to the program that it runs. */
  readonly isSupplier?: true;
  /** What stands behind `--` are operands of a sub-command, and no command. */
  readonly hasOperandsBehindDashes?: true;
  /** Options that always take the next word: it is no sub-command, and no program. Of others, both readings count. */
  readonly valueOptions?: string;
  /** Options before a text for people: a commit message is no script, and no option. */
  readonly messageOptions?: RegExp;
}

/** How a wrapper is looked through: `timeout 5 ls` only reads because `ls` does. */
export interface WrapperOptions {
  readonly flags: string;
  readonly hasNumbers?: boolean;
  /** Allow rules see through it, too. */
  readonly isTransparent?: boolean;
}

/** Text that it runs. */
interface RunText {
  /**
   * It runs text: of a shell; of another language, as a program; or of a language of its own, as sed and editors do,
   * whose input is no program.
   */
  readonly language?: 'shell' | 'program' | 'text';
  /** It joins its words to a script. */
  readonly isJoiner?: true;
  /** It hands its input, or a file, to a shell. */
  readonly isShellFeeder?: true;
  /** Options before text that is part of the command, or before the name of a module. */
  readonly inlineOptions?: RegExp;
  /** It runs text that its words do not show: scripts of a project, plug-ins, packages that are fetched. */
  readonly hiddenText?: 'always' | readonly HiddenText[];
}

/** Conditions under which a program runs text that its words do not show; all that are given must hold. */
export interface HiddenText {
  /** One of the words, options and their values alike. */
  readonly words?: RegExp;
  /** The first operand: a sub-command. */
  readonly command?: RegExp;
  /** What follows, or all words where no sub-command is asked for, is a tool that everybody knows. */
  readonly unless?: RegExp;
  /** Its commands come in by its input, which is not written out. */
  readonly isFed?: true;
}

/** The files that it reads and changes where it does more than read, for Read and Edit rules. */
interface TouchedPaths {
  readonly writesOperands?: 'all' | 'first' | 'last';
  /** `others` are those before the last. */
  readonly readsOperands?: 'all' | 'others';
  /** What its options name, it reads: a patch, a key. */
  readonly hasReadOptions?: true;
  /** Options of its own that name what it writes. */
  readonly outputOptions?: RegExp;
  /** Options by which it changes what it reads otherwise. */
  readonly changesInPlace?: RegExp;
  /** Sub-commands, with the word behind, that change what they name. */
  readonly changingCommands?: RegExp;
  /** `-C` says where its operands lie, and its options may stand without a dash. */
  readonly isExtractor?: true;
  /** Its `-w`, `-i` and the like do not say that it changes what it is given. */
  readonly hasOwnMeanings?: true;
  /** The option by which it takes all that lies below its operands. */
  readonly wholeTreeOptions?: RegExp;
}

/** When it ends, and what an interrupt costs. */
interface Ending {
  /** Tell whether it ends by itself with these words; without this it does. @param given Every letter an option. */
  readonly ends?: (given: ParsedArguments, words: readonly ShellWord[]) => boolean;
  /** A reader that ends behind a pipe ends it: `yes | head`. */
  readonly isEndedByReader?: true;
  /** Options that bound what it reads. */
  readonly boundOption?: RegExp;
  /** It looks at files and reads nothing of them, be they devices without an end. */
  readonly isLookingOnly?: true;
  /** It comes out alike each time, whatever happens outside. */
  readonly isConstant?: true;
  /** Words with which it can be begun again at little cost, or never ends by itself: an install, a server, a watcher. */
  readonly restartable?: RegExp;
  /** It tests or builds: its result is what everybody waits for. */
  readonly isWaitedFor?: true;
}

/** What it prints, and what its exit codes say. */
interface Output {
  /** It hands on what it gets as it gets it. */
  readonly isStream?: true;
  /** The words with which it prints nothing but paths. */
  readonly lists?: ListingOptions;
  /** The words with which it drops and sorts lines and changes none, with how many operands it has then. */
  readonly filtersLines?: { readonly flags: string; readonly operands: number };
  /** Exit codes that are answers and not failures, with what they say. */
  readonly answers?: Readonly<Record<number, string>>;
}

/**
 * Options with which a program prints nothing but paths. They are fewer than it has: an option that lets it print
 * anything else, or follow links, is not among them.
 */
export interface ListingOptions extends Pick<ProgramSpec, 'flags' | 'operands' | 'patternFlags'> {
  /** One of these must be given for it to print paths alone. */
  readonly needs?: readonly string[];
  /** It prints names below the working directory, whatever it is given. */
  readonly printsHere?: boolean;
  /** What it goes through without an operand. */
  readonly isHere?: (given: ParsedArguments) => boolean;
}

/** What its words mean to a rule, however they are spelled. */
interface RuleWords {
  /** Letters that say the same as a long option. */
  readonly letters?: Readonly<Record<string, string>>;
  /** Other names of sub-commands; it also takes any beginning of a name that is no other's. */
  readonly subcommandNames?: Readonly<Record<string, string>>;
  /** Words before a sub-command that are no operands: `cargo +nightly`. */
  readonly skippedOperands?: RegExp;
}

/** What people are told of it, and what is suggested to them. */
interface ShownToPeople {
  /** Tried on its words, joined by blanks. */
  readonly warnings?: readonly { readonly words: RegExp; readonly sentence: string }[];
  readonly isDownloader?: true;
  /** It gives a command other rights: that should be looked at before it gets what was downloaded. */
  readonly isRaisingRights?: true;
  /**
   * The rule of "always allow": a prefix that names the sub-command, too; or none, since no prefix of a program is safe
   * that runs anything at all, deletes, or becomes someone else. Of others it is the name, unless they run others.
   */
  readonly suggests?: 'subcommand' | 'nothing';
  /** Its `run` has the name of a script behind it, which the rule names, too. */
  readonly isScriptRunner?: true;
}
