/** How many words the braces of one word make: `{1..999999999}` fills the memory before anything runs. */
import type { Word } from 'unbash';

/** Most words that one may become. */
const MAX_WORDS = 100_000;

/** Why a word may become more than a shell can hold, or undefined. */
export function wordCountProblem({ parts, text }: Word): string | undefined {
  if (!parts?.some(({ type }) => type === 'BraceExpansion')) return undefined;
  let count = 1;
  // Nested or side by side, each multiplies what stands around it at most by what it makes.
  // Looked for from the beginning of a name alone, or a long one would be gone through from each of its letters.
  for (const [, first = '', last = ''] of text.matchAll(/(-?(?<!\w)\w+)\.\.(-?\w+)/g)) {
    const span = Math.abs(Number(last) - Number(first)) + 1;
    count *= Number.isNaN(span) ? 128 : span;
  }
  for (const brace of text.split('{').slice(1)) count *= brace.split(',').length;
  return count > MAX_WORDS ? `"${text.slice(0, 40)}" becomes too many words` : undefined;
}
