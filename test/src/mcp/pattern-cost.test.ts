import { describe, expect, test } from 'vitest';
import { harmlessPattern } from '../../../src/mcp/pattern-cost.ts';

describe('a pattern of a stranger', () => {
  test.each(['^[a-z]+-[a-z]+$', '^\\d{4}-\\d{2}$', '[0-9]+', '^https?:', '^(red|green)$', '\\+\\*'])(
    '%s is tested',
    (pattern) => {
      expect(harmlessPattern(pattern, 'u').test('\u0000')).toBe(false);
    },
  );

  test.each(['^(a+)+$', '(a|a)*b', '^(?=a)b', '^(a)\\1$', 'a*a*b', '^a?a?a?aaa$', '(?:ab){2,}c'])(
    '%s is left to its server',
    (pattern) => {
      expect(harmlessPattern(pattern, 'u').test('\u0000')).toBe(true);
    },
  );

  test('is not tested on a very long text', () => {
    expect(harmlessPattern('^a+$', 'u').test('b'.repeat(20_000))).toBe(true);
  });
});
