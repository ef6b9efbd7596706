import picomatch from 'picomatch';
import { describe, expect, it } from 'vitest';
import { parseGlob } from '../../../src/base/glob-pattern.ts';

const PATHS = [
  'a.ts', 'b.tsx', 'src/a.ts', 'src/x/b.ts', 'src/x/y/c.ts', '.hid/d.ts', '.env', 'src/.env', 'file2.js', 'file10.js', 'src/[id]/page.tsx',
  'a b.txt', 'dist/o.js', 'x/y/z/w/v.md',
]; // prettier-ignore

function matches(pattern: string, path: string): boolean {
  return parseGlob(pattern, 1_000).some(({ base, matches: isMatch }) => {
    const prefix = base === '' ? '' : `${base}/`;
    return path.startsWith(prefix) && isMatch(path.slice(prefix.length).split('/'));
  });
}

describe('a glob pattern', () => {
  it.each([
    '*', '**', '*.ts', '**/*.ts', 'src/**', 'src/*', 'src/**/*.ts', '**/x/**', '{src,dist}/**/*.{ts,js}', '**/*.{ts,tsx}', 'a.ts',
    'file[0-9]*.js', '[^a]*.js', 'src/\\[id\\]/page.tsx', '?.ts', '**/y/*', '*/*/*', '**/.env', 'a b.*', '**/**/v.md', '[a-c].ts',
  ])('%s matches what picomatch matches', (pattern) => {
    const oracle = picomatch(pattern, { dot: true });
    expect(PATHS.filter((path) => matches(pattern, path))).toEqual(PATHS.filter((path) => oracle(path)));
  }); // prettier-ignore

  it.each([
    ['file{1..20}.js', ['file2.js', 'file10.js']],
    ['[!a]*.js', ['file2.js', 'file10.js']],
    ['{a}.ts', []],
  ])('%s means what shells mean by it', (pattern, expected) => {
    expect(PATHS.filter((path) => matches(pattern, path))).toEqual(expected);
  });

  it.each([
    ['src/**/*.ts', 'src'],
    ['../**', '..'],
    ['/etc/**', '/etc'],
    ['/*', '/'],
    ['~/x/*', '~/x'],
    ['src/../../**', 'src/../..'],
    ['**', ''],
    ['src/a.ts', 'src'],
  ])('%s starts from the folder "%s"', (pattern, base) => {
    expect(parseGlob(pattern, 10).map((each) => each.base)).toEqual([base]);
  });

  it('shows each folder that braces hide', () => {
    expect(parseGlob('{../,}**', 10).map((each) => each.base)).toEqual(['..', '']);
  });

  it.each(['{a,b}'.repeat(12), '{1..100000}', '{1..99999}{1..99999}'])(
    '%s stands for too many and is refused',
    (pattern) => {
      expect(() => parseGlob(pattern, 1_000)).toThrow(RangeError);
    },
  );

  it('does not climb after a wildcard', () => {
    expect(() => parseGlob('*/../../etc/*', 10)).toThrow('".."');
  });

  it.each([
    [`${'*a'.repeat(40)}b`, 'a'.repeat(255)],
    [`${'**/'.repeat(30)}x`, 'a/'.repeat(1_000)],
  ])('a hostile pattern is answered at once', (pattern, path) => {
    const start = performance.now();
    expect(matches(pattern, path)).toBe(false);
    expect(performance.now() - start).toBeLessThan(200);
  });
});
