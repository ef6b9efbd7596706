/** The result of one walk over the syntax tree of a command line. */
import type { PathUse } from '../tool/located-path.ts';
import type { SuppliedWords } from './supplied-words.ts';
import type { ShellWord } from './word.ts';

/** One simple command, decoded. */
export interface AnalysedCommand {
  readonly text: string;
  /** Program first; empty for a bare assignment or redirection. */
  readonly words: readonly ShellWord[];
  /** Reason why the command does more than read; absent if it only reads. */
  readonly problem?: string;
  /** Literal values of the variables set for this command. */
  readonly settings: readonly string[];
  /** Text of its here-document or here-string, if literal. */
  readonly input?: string;
  /** Words from elsewhere that it passes to the program it runs. */
  readonly supplied?: SuppliedWords;
}

/** An assigned variable, with the source text of its value. */
export interface AssignedVariable {
  readonly name: string;
  readonly value: string;
}

/** Facts about a command line. */
export interface ShellAnalysis {
  readonly commands: readonly AnalysedCommand[];
  /** Effects of the constructs around the commands: writes, assignments, evaluations. No prefix rule covers them. */
  readonly problems: readonly string[];
  /** Texts that the shell evaluates and the line does not show, each as the subject of a sentence. */
  readonly evaluations: readonly string[];
  /** Variables that the line sets, nested scripts included. */
  readonly assigned: readonly AssignedVariable[];
  readonly paths: readonly PathUse[];
  readonly isUnparsable: boolean;
  readonly changesDirectory: boolean;
}
