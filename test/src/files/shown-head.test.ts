/** What a person is shown of a long text. */
import { describe, expect, it } from 'vitest';
import { shownHead } from '../../../src/files/shown-head.ts';

describe('the head of a text', () => {
  it('is the text where that is short enough', () => {
    expect(shownHead('one\ntwo', 7)).toBe('one\ntwo');
  });

  it('ends with a whole line and says how much is left out', () => {
    expect(shownHead('one\ntwo\nthree\n', 10)).toBe('one\ntwo\n… 7 more characters are not shown here');
  });

  it('cuts a line that is too long by itself, between characters', () => {
    expect(shownHead(`a${'😀'.repeat(9)}`, 4)).toBe('a😀\n… 16 more characters are not shown here');
  });
});
