import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createSchemaPatterns } from '../../../src/mcp/pattern-cost.ts';

const compile = (pattern: string) => createSchemaPatterns().compile(pattern, 'u');

describe('a pattern of a stranger', () => {
  test.each([
    ...['^[a-z]+-[a-z]+$', '^\\d{4}-\\d{2}$', '[0-9]+', '^https?:', '^(red|green)$', '\\+\\*'],
    ...['^(a+)+$', '(a|a)*b', 'a*a*b', '^a?a?a?aaa$', '(?:ab){2,}c', '^[a-z]+(?:-[a-z]+)*$'],
  ])('%s is tested', (pattern) => {
    expect(compile(pattern).test('\u0000')).toBe(false);
  });

  test.each(['^(?=a)b', '^(a)\\1$', '^(?<!a)b', '^a{2000}$', `^${'a'.repeat(2_000)}`])(
    '%s is left to its server',
    (pattern) => {
      expect(compile(pattern).test('\u0000')).toBe(true);
    },
  );

  test('is not tested on a very long text', () => {
    expect(compile('^a+$').test('b'.repeat(1_000_000))).toBe(true);
  });

  test('is refused where it is no regular expression', () => {
    expect(() => compile('(a')).toThrow(SyntaxError);
  });

  test.each([
    ['^\\s+$', '\u00a0\ufeff\v'],
    ['^[\\s\\d]+$', '1\u2003'],
    ['^[^\\S]$', '\u3000'],
    ['^[[:alpha:]$', '['],
    ['^[^]$', '\n'],
    ['^.$', '😀'],
    ['^\\u{1F600}\\u00e9\\cJ\\x41$', '😀é\nA'],
  ])('%s means what it means in JavaScript', (pattern, text) => {
    expect(compile(pattern).test(text)).toBe(true);
    expect(compile('^.$').test('\u2028')).toBe(false);
  });

  test('of every kind is tested as JavaScript does', () => {
    const atom = fc.constantFrom(
      ...[
        'a',
        'b',
        '.',
        '\\s',
        '\\S',
        '\\w',
        '\\W',
        '\\d',
        '\\b',
        '^',
        '$',
        '\\.',
        '\\u00e9',
        '\\p{Lu}',
        '[^]',
        '[^a]',
      ],
      ...[
        '[ab]',
        '[a-c\\s]',
        '[^\\S\\d]',
        '[\\W_]',
        '[[a]',
        '[.$^]',
        '[\\]\\-]',
        '\\v',
        '\\0',
        '(?:a|b)',
        '(a+)+',
        '(|a)',
      ],
    );
    const piece = fc.tuple(atom, fc.constantFrom('', '', '*', '+', '?', '{2}', '{1,3}', '*?'));
    const texts = fc.array(fc.string({ unit: fc.constantFrom(...'ab.[]-_1É é\n\r\u2028\u00a0\v\0😀') }), {
      maxLength: 8,
    });
    fc.assert(
      fc.property(fc.array(piece, { minLength: 1, maxLength: 5 }), texts, (pieces, samples) => {
        const pattern = pieces.flat().join('');
        fc.pre(isRegularExpression(pattern));
        const [ours, theirs] = [compile(pattern), new RegExp(pattern, 'u')];
        for (const text of samples) expect([text, ours.test(text)]).toEqual([text, theirs.test(text)]);
      }),
      { numRuns: 500 },
    );
  });
});

function isRegularExpression(pattern: string): boolean {
  try {
    return new RegExp(pattern, 'u').source !== '';
  } catch {
    // Joined at random, some are none: `^*`.
    return false;
  }
}
