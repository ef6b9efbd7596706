import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { DiffHunk } from '../../../src/wire/display.ts';
import { diffHunks } from '../../../src/files/text-diff.ts';

/** Apply hunks to lines, as `patch` would. */
function applyHunks(before: string, hunks: readonly DiffHunk[]): string {
  const lines = before.split('\n');
  for (const hunk of hunks.toReversed()) {
    const added = hunk.lines.filter((line) => /^[ +]/.test(line)).map((line) => line.slice(1));
    const removed = hunk.lines.filter((line) => /^[ -]/.test(line)).map((line) => line.slice(1));
    const at = hunk.old_lines === 0 ? hunk.old_start : hunk.old_start - 1;
    expect(lines.slice(at, at + hunk.old_lines)).toEqual(removed);
    lines.splice(at, hunk.old_lines, ...added);
  }
  return lines.join('\n');
}

describe('a diff', () => {
  it('turns the old text into the new one', () => {
    const line = fc.constantFrom('a', 'b', 'c', '', 'x = 1');
    const text = fc.array(line, { maxLength: 30 }).map((lines) => lines.map((each) => `${each}\n`).join(''));
    fc.assert(
      fc.property(text, text, (before, after) => {
        expect(applyHunks(before, diffHunks(before, after))).toBe(after);
      }),
    );
  });

  it('shows three lines around a change, with their numbers in the file', () => {
    const lines = Array.from({ length: 1_000 }, (_, index) => `line ${index + 1}`);
    const after = lines.with(499, 'changed');
    const hunks = diffHunks(`${lines.join('\n')}\n`, `${after.join('\n')}\n`);
    expect(hunks).toHaveLength(1);
    expect(hunks[0]).toMatchObject({ old_start: 497, old_lines: 7, new_start: 497, new_lines: 7 });
  });

  it('of equal texts is empty', () => {
    expect(diffHunks('same', 'same')).toEqual([]);
  });
});
