/** A text is cut between characters. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cutText } from '../../../src/base/cut-text.ts';

describe('cutText', () => {
  it('never ends in half a surrogate pair', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 30 }), fc.nat({ max: 35 }), (text, chars) => {
        const cut = cutText(text, chars);
        expect(text.startsWith(cut)).toBe(true);
        expect(cut.length).toBeLessThanOrEqual(chars);
        const splitsPair = /[\uD800-\uDBFF]$/.test(cut) && /^[\uDC00-\uDFFF]/.test(text.slice(cut.length));
        expect(splitsPair).toBe(false);
        expect(cut.length).toBeGreaterThanOrEqual(Math.min(text.length, chars) - 1);
      }),
    );
  });

  it('is nothing for no room', () => {
    expect([cutText('abc', 0), cutText('abc', -5), cutText('😀', 1)]).toEqual(['', '', '']);
  });
});
