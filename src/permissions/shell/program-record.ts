/**
 * All that is known of one program, in one literal: how it is judged, what it runs, writes and prints.
 *
 * Whoever needs to know something of a program asks its record (`programs/index.ts`); there is no other list of programs.
 */
import type { ProgramSpec } from './program-spec.ts';

/** The record of one program, or of several that are alike in all of it. A program without `reads` never passes unasked. */
export interface ProgramRecord extends ProgramNames, Launching, RunText {
  /** The shell itself does it, in its own process. */
  readonly isBuiltin?: true;
  /** The words with which it only reads. */
  readonly reads?: ProgramSpec;
  /**
   * An allow rule for it covers every use of it, because people call it to act (`tar`, `mount`), or because beyond
   * reading it can only use the network or print more (`ss`, `lsof`).
   */
  readonly isCoveredWhole?: true;
}

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

/** Text that it runs. */
interface RunText {
  /**
   * It runs text: of a shell; of another language, as a program; or of a language of its own, as sed and editors do,
   * whose input is no program.
   */
  readonly language?: 'shell' | 'program' | 'text';
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
