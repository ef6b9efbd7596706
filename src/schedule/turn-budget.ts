/**
 * Remaining budget of the text in a turn's results, decided as each result is yielded.
 */

/** Budget of one turn. */
export interface TurnBudget {
  /** Characters left. */
  readonly remainingChars: number;
  /** Count a result that was sent. */
  spend(chars: number): void;
}

/** Create a turn's budget. @param totalChars Maximum of all results of the turn together, in UTF-16 units. */
export function turnBudget(totalChars: number): TurnBudget {
  return new Remainder(totalChars);
}

/** A class: each object literal with a getter would get a hidden class of its own. */
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
