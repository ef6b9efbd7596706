/** Matches globs against the literal places of path patterns: the glob `s?c/generated` leads to `src/generated`. */
import { type BasedPattern, spelledPlace } from './pattern-reach.ts';
import { matchesWildcard } from '../base/wildcard.ts';

/** Places of many patterns. */
export interface PatternPlaces<Pattern> {
  /**
   * Return the first pattern whose place a leading part of the glob matches; the last segment there must contain a
   * literal character.
   */
  leadsTo(glob: string): Pattern | undefined;
  /** Return the first pattern whose place lies at or below a match of the glob or path. */
  liesBelow(glob: string): Pattern | undefined;
}

/** A node in the tree of places. */
interface Folder<Pattern> {
  readonly folders: Map<string, Folder<Pattern>>;
  /** Pattern that matches exactly this place. */
  whole?: Pattern;
  /** Any pattern whose place is this one, or lies below. */
  readonly below: Pattern;
}

/** Index the places of patterns. Paths and globs are absolute. */
export function patternPlaces<Pattern extends BasedPattern>(patterns: readonly Pattern[]): PatternPlaces<Pattern> {
  const roots = new Map<string, Folder<Pattern>>();
  for (const pattern of patterns) {
    const place = spelledPlace(pattern);
    let folders = roots;
    let folder: Folder<Pattern> | undefined;
    for (const name of place?.path.split('/') ?? []) {
      folder = folders.get(name);
      if (!folder) folders.set(name, (folder = { folders: new Map(), below: pattern }));
      folders = folder.folders;
    }
    if (folder && place?.isWhole) folder.whole ??= pattern;
  }
  return {
    leadsTo: (glob) =>
      walk(roots, segmentsOf(glob), ({ whole }, segment) => (/[^*?]/.test(segment) ? whole : undefined)),
    liesBelow: (glob) => walk(roots, segmentsOf(glob), ({ below }, _segment, isLast) => (isLast ? below : undefined)),
  };
}

type Find<Pattern> = (folder: Folder<Pattern>, segment: string, isLast: boolean) => Pattern | undefined;

/** Follow all folders that the segments match until `find` returns a pattern. */
function walk<Pattern>(
  folders: ReadonlyMap<string, Folder<Pattern>>,
  [segment, ...rest]: readonly string[],
  find: Find<Pattern>,
): Pattern | undefined {
  if (segment === undefined) return undefined;
  for (const folder of foldersNamed(segment, folders)) {
    const pattern = find(folder, segment, rest.length === 0) ?? walk(folder.folders, rest, find);
    if (pattern !== undefined) return pattern;
  }
  return undefined;
}

function* foldersNamed<Pattern>(
  segment: string,
  folders: ReadonlyMap<string, Folder<Pattern>>,
): Generator<Folder<Pattern>> {
  if (/[*?]/.test(segment)) {
    const isNamed = segmentMatcher(segment);
    for (const [name, folder] of folders) if (isNamed(name)) yield folder;
    return;
  }
  const folder = folders.get(segment);
  if (folder) yield folder;
}

function segmentsOf(glob: string): readonly string[] {
  return glob
    .replace(/(?<=.)\/$/, '')
    .split('/')
    .map(wildcardOf);
}

/** Convert a glob segment to a wildcard: each bracket expression becomes `?`, even if it is not closed. */
export function wildcardOf(segment: string): string {
  return segment.replace(/\[[^\]]*\]?/g, '?');
}

/**
 * Create a test equal to `isSegmentMatch` that is fast for many names: nearly all differ at one of the literal ends.
 */
export function segmentMatcher(wildcard: string): (name: string) => boolean {
  const [head = ''] = wildcard.split(/[*?]/, 1);
  const tail = wildcard.slice(Math.max(wildcard.lastIndexOf('*'), wildcard.lastIndexOf('?')) + 1);
  return (name) => name.endsWith(tail) && name.startsWith(head) && isSegmentMatch(wildcard, name);
}

/** Report whether a segment in the form of `wildcardOf` matches a name. */
export function isSegmentMatch(wildcard: string, name: string): boolean {
  return matchesWildcard(wildcard, name, { hasQuestionMark: true });
}
