/** Matches `*` without backtracking: rules and globs are untrusted and must never freeze the event loop. */

/**
 * True if `text` matches `pattern`, in which `*` matches any characters.
 *
 * The time is at worst proportional to the product of the lengths.
 *
 * @param options.hasQuestionMark True if `?` stands for any one character.
 */
export function matchesWildcard(
  pattern: string,
  text: string,
  options: { readonly hasQuestionMark?: boolean } = {},
): boolean {
  const fits = (at: number, index: number): boolean =>
    pattern[at] === text[index] || (options.hasQuestionMark === true && pattern[at] === '?');
  let at = 0;
  let index = 0;
  let lastStar = -1;
  let retryFrom = 0;
  while (index < text.length) {
    if (pattern[at] === '*') {
      lastStar = at++;
      retryFrom = index;
    } else if (at < pattern.length && fits(at, index)) {
      at++;
      index++;
    } else if (lastStar >= 0) {
      at = lastStar + 1;
      index = ++retryFrom;
    } else {
      return false;
    }
  }
  while (pattern[at] === '*') at++;
  return at === pattern.length;
}
