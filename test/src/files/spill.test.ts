import { readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readSpilledRange, spillText } from '../../../src/files/spill.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';

describe('a spilled text', () => {
  it('stands whole in a private file of a private folder', async () => {
    const folder = join(temporaryFolder(), 'sessions', 's1');
    const spilled = await spillText(folder, 'call-1.txt', 'héllo');
    expect(spilled).toEqual({ path: join(folder, 'call-1.txt'), chars: 5 });
    expect(readFileSync(spilled.path, 'utf8')).toBe('héllo');
    expect(statSync(spilled.path).mode & 0o777).toBe(0o600);
    expect(statSync(dirname(spilled.path)).mode & 0o777).toBe(0o700);
  });

  it('keeps bytes that are not text exactly', async () => {
    const bytes = Buffer.from([0xff, 0xfe, 0x00, 0x41]);
    const spilled = await spillText(temporaryFolder(), 'raw', bytes);
    expect(readFileSync(spilled.path)).toEqual(bytes);
    expect(spilled.chars).toBe(4);
  });

  it('fails with its own code where the disk refuses', async () => {
    const file = join(temporaryFolder(), 'file');
    writeFileSync(file, '');
    await expect(spillText(join(file, 'folder'), 'x', 'text')).rejects.toMatchObject({ code: 'spill_failed' });
  });

  it('is not written through a dangling link', async () => {
    const folder = temporaryFolder();
    symlinkSync(join(folder, 'target'), join(folder, 'x'));
    await expect(spillText(folder, 'x', 'text')).rejects.toMatchObject({ code: 'spill_failed' });
  });

  it.each(['../x', 'a/b', '', '.hidden', 'a\0b'])('refuses the name "%s"', async (name) => {
    await expect(spillText(temporaryFolder(), name, 'text')).rejects.toThrow(TypeError);
  });

  it('reads back in ranges that split no pair and miss nothing', async () => {
    const folder = temporaryFolder();
    const text = fc.string({ unit: 'grapheme', maxLength: 60 });
    await fc.assert(
      fc.asyncProperty(text, fc.integer({ min: 1, max: 9 }), async (whole, limitChars) => {
        const { path, chars } = await spillText(folder, 'ranges', whole);
        let joined = '';
        for (let offsetChars: number | undefined = 0; offsetChars !== undefined;) {
          const range: Awaited<ReturnType<typeof readSpilledRange>> = await readSpilledRange(path, {
            offsetChars,
            limitChars,
          });
          expect(range.totalChars).toBe(chars);
          expect(/\p{Cs}/u.test(range.text)).toBe(false);
          joined += range.text;
          offsetChars = range.nextOffsetChars;
        }
        expect(joined).toBe(whole);
      }),
      { numRuns: 60 },
    );
  });

  it('answers a range beyond its end with nothing', async () => {
    const { path } = await spillText(temporaryFolder(), 'x', 'abc');
    expect(await readSpilledRange(path, { offsetChars: 10, limitChars: 5 })).toEqual({
      text: '',
      totalChars: 3,
      offsetChars: 3,
    });
  });
});
