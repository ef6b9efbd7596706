/** How much text a turn's results may still hold. */
import { expect, it } from 'vitest';
import { turnBudget } from '../../../src/schedule/turn-budget.ts';

it('a turn has less room with every result that leaves', () => {
  const budget = turnBudget(100);
  budget.spend(30);
  expect(budget.remainingChars).toBe(70);
});

it('a turn that overspent has no room, and no debt', () => {
  const budget = turnBudget(100);
  budget.spend(130);
  expect(budget.remainingChars).toBe(0);
});
