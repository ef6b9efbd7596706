/** A word that is known to the letter: the plainest of those that `decodeWord` gives. */
export interface WrittenWord {
  /** As it stands in the script. */
  readonly text: string;
  readonly literal: string;
  readonly patterns: readonly string[];
  readonly prefix: string;
  readonly isSplit: false;
  readonly mayBeFlag: boolean;
}

/**
 * Make one.
 *
 * @param mayBeFlag Whether the program that is given it may read it as an option.
 * @param text Where the script spells it otherwise.
 */
export function writtenWord(literal: string, mayBeFlag: boolean, text = literal): WrittenWord {
  return { text, literal, patterns: [literal], prefix: literal, isSplit: false, mayBeFlag };
}
