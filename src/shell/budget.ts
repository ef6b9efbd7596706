/**
 * Budget for analysing one command line, counted in characters read.
 *
 * Launchers, nested scripts and variable values multiply one another. One allowance that all of them draw from bounds
 * the product, which separate limits do not. A line that needs more counts as not understood.
 */

/** An allowance that is drawn from and never refilled. */
export interface Budget {
  /** Draw from the allowance. @returns false once it is exceeded, and from then on for any amount above zero. */
  spend(steps: number): boolean;
  /** True once a draw was refused because the allowance was used up. */
  readonly isSpent: boolean;
  readonly spentSteps: number;
}

/**
 * Steps for one command line: some 5 ms of processor time for the slowest known lines, which `budget.test.ts` lists.
 * Lines of people and agents take 700 at the median and under 5,000 at most.
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
