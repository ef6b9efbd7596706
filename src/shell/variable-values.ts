/** Interface to the variables of one script, implemented in `variables.ts`. */
import type { ParsedScript, SyntaxNode } from 'unbash';

/** Values of the variables of a script. */
export interface Variables {
  /** Return all possible values as globs; undefined if unknown. */
  valuesOf(name: string): readonly string[] | undefined;
  /** Return paths that contain every possible value, each listed or literal; undefined if unknown. */
  rootsOf(name: string): readonly string[] | undefined;
  /** Return paths that contain everything a substitution prints; undefined if unknown. */
  rootsOfOutput(script: ParsedScript | undefined): readonly string[] | undefined;
  /** Return paths that contain everything a pipeline prints, its commands in order; undefined if unknown. */
  rootsOfLines(commands: readonly SyntaxNode[]): readonly string[] | undefined;
  /** Report whether every assignment is an integer, so arithmetic on the variable evaluates no text. */
  isInteger(name: string): boolean;
  /** Report whether the variable is an array, or is declared as one anywhere in the script. */
  isArray(name: string): boolean;
  /** Report whether the output of a substitution is an integer (`wc -l < file`). */
  isIntegerOutput(script: ParsedScript | undefined): boolean;
  /** Report whether the output is a commit name in hexadecimal (`git merge-base main HEAD`). */
  isCommitOutput(script: ParsedScript | undefined): boolean;
}

/** Report whether a script may assign this name: no variable of the shell or of an environment has such a name. */
export function isPrivateName(name: string): boolean {
  return /^(?:[a-z]|_[a-z])[a-z0-9_]*$/.test(name) && name !== 'histchars' && name !== 'auto_resume';
}
