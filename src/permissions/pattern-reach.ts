/**
 * Where path patterns lead, as far as they spell it: which of many could match something below a folder.
 */
import { dirname } from 'node:path';

/** A pattern relative to a folder. */
export interface BasedPattern {
  /** Absolute folder the pattern is relative to. */
  readonly base: string;
  /** In gitignore syntax, relative to `base`; '' is everything below. */
  readonly pattern: string;
}

/** Everything a pattern matches lies at or below `start`; what it matches there is not spelled where it `isOpen`. */
interface Reach<Pattern> {
  readonly pattern: Pattern;
  readonly start: string;
  readonly isOpen: boolean;
}

/**
 * File patterns by where they lead.
 *
 * @returns From an absolute folder, those that could match something below it: the ones that lead into it, and the ones
 *   that may lead anywhere from a folder above.
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
    // What comes behind a slash comes before what comes behind the next character.
    const end = firstFrom(starts, `${within.slice(0, -1)}0`);
    for (const { start, pattern } of reaches.slice(firstFrom(starts, within), end)) if (start !== folder) yield pattern;
    for (let above = folder; above !== dirname(above);) {
      above = dirname(above);
      yield* at(above, ({ isOpen }) => isOpen);
    }
  };
}

/**
 * Where everything lies that a pattern matches, where it spells that.
 *
 * @returns Absolute; undefined where it may be in any folder. `isWhole`: there is nothing else it matches.
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

/** Index of the first of sorted texts that does not come before `text`. */
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
