/** Finds which of many path patterns may match something below a folder, by their literal leading paths. */
import { dirname } from 'node:path';

/** A pattern relative to a folder. */
export interface BasedPattern {
  /** Absolute folder the pattern is relative to. */
  readonly base: string;
  /** Pattern in gitignore syntax, relative to `base`; '' matches everything below. */
  readonly pattern: string;
}

/** Everything that a pattern matches lies at or below `start`. If `isOpen`, it may match any path there. */
interface Reach<Pattern> {
  readonly pattern: Pattern;
  readonly start: string;
  readonly isOpen: boolean;
}

/**
 * Index patterns by their leading paths.
 *
 * @returns Function from an absolute folder to the patterns that may match something below it: those that lead into it,
 * and open ones from a folder above.
 */
export function patternReach<Pattern extends BasedPattern>(
  patterns: readonly Pattern[],
): (folder: string) => Iterable<Pattern> {
  const reaches = patterns
    .map(reachOf)
    .sort((one, other) => (one.start < other.start ? -1 : Number(one.start > other.start)));
  const starts = reaches.map(({ start }) => start);

  function* at(folder: string, isWanted: (reach: Reach<Pattern>) => boolean): Generator<Pattern> {
    for (let each = firstFrom(starts, folder); starts[each] === folder; each++) {
      const reach = reaches[each];
      if (reach && isWanted(reach)) yield reach.pattern;
    }
  }

  return function* mayLieBelow(folder) {
    const within = folder.endsWith('/') ? folder : `${folder}/`;
    yield* at(folder, () => true);
    // '0' is the character after '/', so this is the end of everything below `within`.
    const end = firstFrom(starts, `${within.slice(0, -1)}0`);
    for (const { start, pattern } of reaches.slice(firstFrom(starts, within), end)) if (start !== folder) yield pattern;
    for (let above = folder; above !== dirname(above);) {
      above = dirname(above);
      yield* at(above, ({ isOpen }) => isOpen);
    }
  };
}

/**
 * Return the literal leading path of a pattern.
 *
 * @returns Absolute; undefined if the pattern may match in any folder. `isWhole`: it matches this path and everything
 * below it only.
 */
export function spelledPlace(based: BasedPattern): { readonly path: string; readonly isWhole: boolean } | undefined {
  const { start, isOpen } = reachOf(based);
  return start === based.base ? undefined : { path: start, isWhole: !isOpen };
}

function reachOf<Pattern extends BasedPattern>(based: Pattern): Reach<Pattern> {
  const { base, pattern } = based;
  const isAnchored = pattern.replace(/\/$/, '').includes('/');
  const segments = pattern.split('/').filter((segment) => segment !== '');
  const wild = segments.findIndex((segment) => /[*?[\]\\]/.test(segment));
  const spelled = isAnchored ? segments.slice(0, wild < 0 ? segments.length : wild) : [];
  const start = [base === '/' ? '' : base, ...spelled].join('/') || '/';
  return { pattern: based, start, isOpen: wild >= 0 || !isAnchored };
}

/** Return the index of the first sorted text that is not before `text`. */
function firstFrom(sorted: readonly string[], text: string): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] ?? '') < text) low = middle + 1;
    else high = middle;
  }
  return low;
}
