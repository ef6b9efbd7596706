/** What may be wrong with a pattern that nothing matches: forms that other matchers read in another way. */

/** A sentence for whoever wrote the pattern; undefined where it means here what it means everywhere. */
export function emptyHint(pattern: string): string | undefined {
  if (/[@?*+!]\(/.test(pattern)) return 'Extended globs such as "@(a|b)" are not known here: write "{a,b}"';
  if (pattern.startsWith('!')) return '"!" excludes nothing here: say which files to find';
  return undefined;
}
