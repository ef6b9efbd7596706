/**
 * Result types of judging one command line.
 *
 * The Bash tool uses them to decide whether a call may run beside others; the gate uses them for the paths that the
 * command reads and writes, and for warnings.
 */
import type { PathUse } from '../tool/located-path.ts';

/** One simple command of a command line, nested ones included. */
export interface ShellPart {
  /** Source text. */
  readonly text: string;
  /** Decoded program word; absent if it is not literal, or if there is none (an assignment). */
  readonly program?: string;
  /** Decoded words, program first; a word that is not literal keeps its source text. */
  readonly words: readonly string[];
  readonly isReadOnly: boolean;
}

/** The judgement of one command line. */
export interface ShellVerdict {
  /** True if it cannot write, run a program chosen by the input, or use the network. */
  readonly isReadOnly: boolean;
  /** Reason why it is not read-only, for people; empty if it is read-only. */
  readonly reason: string;
  readonly parts: readonly ShellPart[];
  /**
   * Literal operands and redirections. An unknown operand counts as reading `/`, which is never inside a working
   * directory.
   */
  readonly paths: readonly PathUse[];
  /** Dangers of the command, one sentence each. */
  readonly warnings: readonly string[];
  /** True if the syntax is wrong, or a program word is unknown: no rule with a spec allows the line. */
  readonly isUnparsable: boolean;
  /** True if it may change the working directory, so it must not run beside other calls. */
  readonly changesDirectory: boolean;
}
