/** The result of one walk over the syntax tree of a command line. */
import type { PathUse } from '../tool/located-path.ts';
import type { SuppliedWords } from './supplied-words.ts';
import type { ShellWord } from './word.ts';

/** One simple command, decoded. */
export interface AnalysedCommand {
  readonly text: string;
  /** The program's first; none for a bare assignment or redirection. */
  readonly words: readonly ShellWord[];
  /** Why it does not only read. */
  readonly problem?: string;
  /** Values it is given in variables, where they are written out. */
  readonly settings: readonly string[];
  /** Its here-document or here-string, where that is written out. */
  readonly input?: string;
  /** Words that it hands to the program it runs, and that come from elsewhere. */
  readonly supplied?: SuppliedWords;
}

/** A variable that is set, its value as written. */
export interface AssignedVariable {
  readonly name: string;
  readonly value: string;
}

/** What is known of a command line. */
export interface ShellAnalysis {
  readonly commands: readonly AnalysedCommand[];
  /** What the constructs around the commands do: writes, assignments, evaluations. No prefix rule covers them. */
  readonly problems: readonly string[];
  /** Texts that the shell evaluates and nobody has seen, each as the subject of a sentence. */
  readonly evaluations: readonly string[];
  /** Variables that it sets, wherever they stand. */
  readonly assigned: readonly AssignedVariable[];
  readonly paths: readonly PathUse[];
  readonly isUnparsable: boolean;
  readonly changesDirectory: boolean;
}
