/** A page of lines ends where its bytes do. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createLinePage } from '../../../../tools/files/read/line-page.ts';

it('holds as many lines as fit its bytes, whatever the characters, and always one', () => {
  const line = fc.string({ unit: fc.constantFrom('a', 'é', '中', '😀'), maxLength: 40 });
  fc.assert(
    fc.property(
      fc.array(line, { minLength: 1, maxLength: 40 }),
      fc.integer({ min: 1, max: 800 }),
      (lines, maxBytes) => {
        const page = createLinePage({ firstLine: 1, maxLines: 1_000, maxLineChars: 2_000, maxBytes });
        page.push(lines.map((text) => `${text}\n`).join(''));
        const { text, lineCount, stoppedBy } = page.finish(true);
        const numbered = lines.map((each, index) => `${String(index + 1).padStart(6)}\t${each}`);
        expect(text).toBe(numbered.slice(0, lineCount).join('\n'));
        const bytesOf = (count: number) => Buffer.byteLength(numbered.slice(0, count).join('\n')) + 1;
        if (lineCount > 1) expect(bytesOf(lineCount)).toBeLessThanOrEqual(maxBytes);
        if (stoppedBy === 'bytes') expect(bytesOf(lineCount + 1)).toBeGreaterThan(maxBytes);
        else expect(lineCount).toBe(lines.length);
      },
    ),
  );
});
