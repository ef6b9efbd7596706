/** Texts that a word may become, put together from those of its pieces; the number is bounded, and their length. */

/** Most words one brace expansion or one variable may stand for and still be followed. */
export const MAX_ALTERNATIVES = 64;

/** Longest text a word may become and still be followed: `b=$a$a; c=$b$b` doubles at every step. */
const MAX_TEXT_CHARS = 4_096;

/** Each beginning with each end; undefined where one is not known, or there would be too many. */
export function product(
  left: readonly string[] | undefined,
  right: readonly string[] | undefined,
): readonly string[] | undefined {
  if (!left || !right || left.length * right.length > MAX_ALTERNATIVES) return undefined;
  if ((left[0]?.length ?? 0) + (right[0]?.length ?? 0) > MAX_TEXT_CHARS) return undefined;
  if (right.length === 1 && left.length === 1) return [`${left[0] ?? ''}${right[0] ?? ''}`];
  return left.flatMap((start) => right.map((end) => start + end));
}

/** What all globs begin with. */
export function commonStart(patterns: readonly string[]): string {
  const [first = '', ...others] = patterns.map((pattern) => pattern.split(/[*?[]/, 1)[0] ?? '');
  let length = first.length;
  for (const other of others) while (!other.startsWith(first.slice(0, length))) length--;
  return first.slice(0, length);
}
