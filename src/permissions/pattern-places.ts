/**
 * Places that path patterns spell, and globs that lead to them: the one in `s?c/generated`, `src/generated` the other.
 */
import { type BasedPattern, spelledPlace } from './pattern-reach.ts';
import { matchesWildcard } from './wildcard.ts';

/** Which of many patterns a glob is about. */
export interface PatternPlaces<Pattern> {
  /** The first whose place the glob leads to, or below; its last segment there must spell something. */
  leadsTo(glob: string): Pattern | undefined;
  /** The first whose place lies below what the glob, or a path, stands for. */
  liesBelow(glob: string): Pattern | undefined;
}

interface Place<Pattern> {
  readonly pattern: Pattern;
  readonly segments: readonly string[];
  readonly isWhole: boolean;
}

/** Find the places of patterns. Paths and globs are absolute. */
export function patternPlaces<Pattern extends BasedPattern>(patterns: readonly Pattern[]): PatternPlaces<Pattern> {
  const places = patterns.flatMap((pattern): readonly Place<Pattern>[] => {
    const place = spelledPlace(pattern);
    return place ? [{ pattern, segments: place.path.split('/'), isWhole: place.isWhole }] : [];
  });
  const find = (glob: string, fits: (wanted: readonly string[], place: Place<Pattern>) => boolean) => {
    const wanted = glob
      .replace(/(?<=.)\/$/, '')
      .split('/')
      .map(wildcardOf);
    return places.find((place) => fits(wanted, place) && isOnTheWay(wanted, place.segments))?.pattern;
  };
  return {
    leadsTo: (glob) =>
      find(glob, (wanted, { segments, isWhole }) => isWhole && /[^*?]/.test(wanted[segments.length - 1] ?? '')),
    liesBelow: (glob) => find(glob, (wanted, { segments }) => wanted.length <= segments.length),
  };
}

/** A glob's segment with each choice of characters as `?`, also one that is not closed. */
export function wildcardOf(segment: string): string {
  return segment.replace(/\[[^\]]*\]?/g, '?');
}

/** Whether a segment, as `wildcardOf` gives it, stands for a name. */
export function isSegmentMatch(wildcard: string, name: string): boolean {
  return matchesWildcard(wildcard, name, { hasQuestionMark: true });
}

/** Whether both lead the same way, as far as they both lead. */
function isOnTheWay(wanted: readonly string[], segments: readonly string[]): boolean {
  return segments.slice(0, wanted.length).every((name, at) => isSegmentMatch(wanted[at] ?? '', name));
}
