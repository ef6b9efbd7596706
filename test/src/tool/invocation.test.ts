/** The cautious answer to a question about a call. */
import { describe, expect, it } from 'vitest';
import { answersYes } from '../../../src/tool/invocation.ts';

describe('answersYes', () => {
  it('takes nothing but a plain true for a yes', () => {
    const answers: readonly unknown[] = ['yes', 1, {}, null, undefined, false];
    expect(answers.map((answer) => answersYes(() => answer as boolean))).toEqual(answers.map(() => false));
    expect(answersYes(() => true)).toBe(true);
  });
});
