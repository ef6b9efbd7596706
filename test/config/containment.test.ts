/** Being inside is a grant: it is said of the folder itself and of what lies below, by whatever steps. */
import { isAbsolute, relative } from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { isInsideFolder } from '../../config/containment.ts';

it.each([
  ['/a', '/a', true],
  ['/a', '/a/b', true],
  ['/a', '/ab', false],
  ['/a', '/', false],
  ['/a/b', '/a', false],
  ['/a', '/a/../b', false],
  ['/a', '/a/b/..', true],
  ['/a', '/a/..b', true],
  ['/a', '/a/.b/c', true],
  ['/a/', '/a', true],
  ['/a', '/a/', true],
  ['/a', '//a', true],
  ['/', '/', true],
  ['/', '/a', true],
])('%s holds %s: %s', (folder, path, expected) => {
  expect(isInsideFolder(folder, path)).toBe(expected);
});

it('compares any two paths by their steps', () => {
  const step = fc.constantFrom('', '.', '..', '...', 'a', 'ab', '.a', '..a', 'a.');
  const path = fc.array(step, { maxLength: 6 }).map((steps) => `/${steps.join('/')}`);
  fc.assert(
    fc.property(path, path, (folder, inside) => {
      const rest = relative(folder, inside);
      const expected = rest === '' || (rest !== '..' && !rest.startsWith('../') && !isAbsolute(rest));
      expect(isInsideFolder(folder, inside)).toBe(expected);
    }),
    { numRuns: 2_000 },
  );
});
