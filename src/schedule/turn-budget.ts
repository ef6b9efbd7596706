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
  return new Remainder(totalChars);
}

/** A class, since an object with a getter of its own costs each turn a shape of its own. */
class Remainder implements TurnBudget {
  #chars: number;

  constructor(chars: number) {
    this.#chars = chars;
  }

  get remainingChars(): number {
    return this.#chars;
  }

  spend(chars: number): void {
    this.#chars = Math.max(0, this.#chars - chars);
  }
}
