/**
 * What the shell judge says of one command line.
 *
 * Bash asks for it to know whether it may run beside other calls; the gate asks for it to know what
 * the command reads and writes, and what to warn of.
 */
import type { PathUse } from '../tool/located-path.ts';

/** One simple command of a command line, nested ones included. */
export interface ShellPart {
  /** As written. */
  readonly text: string;
  /** Decoded program word; absent where it is not a literal, or where there is none (an assignment). */
  readonly program?: string;
  /** Decoded words, the program's first; a word that is not a literal stands as written. */
  readonly words: readonly string[];
  readonly isReadOnly: boolean;
}

/** The judgement of one command line. */
export interface ShellVerdict {
  /** It cannot write, run a program of the input's choosing, or use the network. */
  readonly isReadOnly: boolean;
  /** Why it is not read-only, for people; empty when it is. */
  readonly reason: string;
  readonly parts: readonly ShellPart[];
  /**
   * Literal operands and redirections. An operand that cannot be known counts as reading `/`, which is
   * never inside a working directory.
   */
  readonly paths: readonly PathUse[];
  /** What is dangerous about it, one sentence each. */
  readonly warnings: readonly string[];
  /** The syntax is wrong, or a program word cannot be known: no rule with a spec allows it. */
  readonly isUnparsable: boolean;
  /** It may move the working directory, so it must not run beside other calls. */
  readonly changesDirectory: boolean;
}
