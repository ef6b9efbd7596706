/** A text of any length is kept whole, or as head and tail. */
import { describe, expect, it } from 'vitest';
import { createTextWindow } from '../../../src/process/text-window.ts';

describe('a text window', () => {
  const size = { wholeChars: 20, headChars: 5, tailChars: 6 };

  it('keeps a short text whole', () => {
    const window = createTextWindow(size);
    window.add('one ');
    window.add('two');
    expect(window.read()).toEqual({ head: 'one two', tail: '', omittedChars: 0, totalChars: 7 });
  });

  it('keeps head and tail of a long text', () => {
    const window = createTextWindow(size);
    for (let letter = 0; letter < 26; letter += 1) window.add(String.fromCharCode(97 + letter));
    expect(window.read()).toEqual({ head: 'abcde', tail: 'uvwxyz', omittedChars: 15, totalChars: 26 });
  });

  it('goes on after it was read', () => {
    const window = createTextWindow(size);
    window.add('x'.repeat(30));
    window.read();
    window.add('yz');
    expect(window.read()).toMatchObject({ head: 'xxxxx', tail: 'xxxxyz', totalChars: 32 });
  });

  it('never cuts a surrogate pair in two', () => {
    for (let shift = 0; shift < 4; shift += 1) {
      const window = createTextWindow(size);
      window.add('a'.repeat(shift));
      window.add('😀'.repeat(20));
      const { head, tail } = window.read();
      expect(Buffer.from(head + tail).toString()).toBe(head + tail);
    }
  });

  it('holds little however many pieces come', () => {
    const window = createTextWindow(size);
    for (let piece = 0; piece < 100_000; piece += 1) window.add('ab');
    expect(window.read()).toMatchObject({ head: 'ababa', tail: 'ababab', totalChars: 200_000 });
  });
});
