/**
 * What may be asked about the variables of one script; `variables.ts` knows the answers.
 */
import type { ParsedScript, SyntaxNode } from 'unbash';

/** Questions about the variables of a script. */
export interface Variables {
  /** Everything the variable can be, as globs; undefined where that is not known. */
  valuesOf(name: string): readonly string[] | undefined;
  /** Where the paths lie that it can hold, each a listing's or written out; undefined where that is not known. */
  rootsOf(name: string): readonly string[] | undefined;
  /** Where the paths lie that this substitution prints; undefined where it may print anything. */
  rootsOfOutput(script: ParsedScript | undefined): readonly string[] | undefined;
  /** The same of commands that are piped into each other, first to last. */
  rootsOfLines(commands: readonly SyntaxNode[]): readonly string[] | undefined;
  /** Every assignment gives it an integer, so arithmetic on it evaluates no text. */
  isInteger(name: string): boolean;
  /** It is an array, or is declared as one somewhere in the script. */
  isArray(name: string): boolean;
  /** The output of this substitution is an integer (`wc -l < file`). */
  isIntegerOutput(script: ParsedScript | undefined): boolean;
  /** The output is the name of a commit in hexadecimal (`git merge-base main HEAD`). */
  isCommitOutput(script: ParsedScript | undefined): boolean;
}

/** Tell whether a script may assign this name: no shell variable and nothing in an environment is called so. */
export function isPrivateName(name: string): boolean {
  return /^(?:[a-z]|_[a-z])[a-z0-9_]*$/.test(name) && name !== 'histchars' && name !== 'auto_resume';
}
