/**
 * The work that understanding one command line may cost, counted in characters read.
 *
 * Launchers, scripts within scripts and values of variables multiply one another. A single allowance that all of them
 * draw from bounds the product, which separate limits do not. A line that needs more is not understood.
 */

/** An allowance that is drawn from and never refilled. */
export interface Budget {
  /** Draw from it. @returns false once more was asked for than there is, from then on for any amount above zero. */
  spend(steps: number): boolean;
  /** Something was left out because the allowance did not last. */
  readonly isSpent: boolean;
  readonly spentSteps: number;
}

/**
 * Steps for one command line: some 5 ms of processor time for the slowest lines known, which stand in `budget.test.ts`.
 * What people and agents write takes 700 at the median and under 5,000 at most.
 */
export const MAX_STEPS = 40_000;

/** Create a full allowance. */
export function createBudget(maxSteps = MAX_STEPS): Budget {
  let spentSteps = 0;
  let isSpent = false;
  return {
    spend(steps) {
      isSpent ||= spentSteps + steps > maxSteps;
      if (!isSpent) spentSteps += steps;
      return !isSpent;
    },
    get isSpent() {
      return isSpent;
    },
    get spentSteps() {
      return spentSteps;
    },
  };
}
