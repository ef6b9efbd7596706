/** A word whose value is exactly known: the simplest result of `decodeWord`. */
export interface LiteralWord {
  /** Source text in the script. */
  readonly text: string;
  readonly literal: string;
  readonly patterns: readonly string[];
  readonly prefix: string;
  readonly isSplit: false;
  readonly mayBeFlag: boolean;
}

/**
 * Create a literal word.
 *
 * @param mayBeFlag True if the program may parse it as an option.
 * @param text Source text, if it differs from the value.
 */
export function literalWord(literal: string, mayBeFlag: boolean, text = literal): LiteralWord {
  return { text, literal, patterns: [literal], prefix: literal, isSplit: false, mayBeFlag };
}
