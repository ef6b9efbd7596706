/**
 * How much text a turn's results may still hold: a running remainder, decided as each result is yielded.
 */

/** The remainder of one turn. */
export interface TurnBudget {
  /** Characters left. */
  readonly remainingChars: number;
  /** Count a result that left. */
  spend(chars: number): void;
}

/** A fresh turn's budget. @param totalChars All results of the turn together, UTF-16 code units. */
export function turnBudget(totalChars: number): TurnBudget {
  let remainingChars = totalChars;
  return {
    get remainingChars() {
      return remainingChars;
    },
    spend: (chars) => {
      remainingChars = Math.max(0, remainingChars - chars);
    },
  };
}
