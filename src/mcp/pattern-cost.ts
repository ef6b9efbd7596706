/**
 * Regular expressions that strangers put into their schemas, made harmless.
 *
 * JavaScript's engine backtracks: `(a+)+$` freezes the process on 31 characters. A pattern that could
 * is not tested here at all; the server that wrote it judges its own input anyway.
 */

/** Longest string a pattern is tested on, by the power with which its time grows; an input may hold many of them. */
const TESTED_CHARS: readonly number[] = [10_000, 10_000, 200];

/** What ajv wants of a regular expression. */
export interface PatternTest {
  test(text: string): boolean;
  /** Unlike that of any other pattern: ajv takes two that say the same for one. */
  toString(): string;
}

/** Compile a schema's pattern. @throws {SyntaxError} When it is no regular expression. */
export function harmlessPattern(pattern: string, flags: string): PatternTest {
  const expression = new RegExp(pattern, flags);
  const most = TESTED_CHARS[choices(pattern) + (pattern.startsWith('^') ? 0 : 1)] ?? 0;
  return {
    test: (text) => text.length > most || expression.test(text),
    toString: () => String(expression),
  };
}

/**
 * How many choices the engine can go back on: its time grows with the length of the text to that power,
 * and by one more when the pattern may begin anywhere. Infinity for a repeated group and for a look or
 * a reference back.
 */
function choices(pattern: string): number {
  // Neither an escaped character nor one in a class is an operator.
  const bare = pattern.replace(/\\[^1-9k]/g, 'x').replace(/\[(?:\\.|[^\]\\])*\]/g, 'x');
  if (/\)[*+?{]|\\[1-9k]|\(\?[=!<]/.test(bare)) return Infinity;
  return bare.match(/[*+?|]|\{\d+,?\d*\}/g)?.length ?? 0;
}
