/**
 * Places that path patterns spell, and globs that lead to them: the one in `s?c/generated`, `src/generated` the other.
 */
import { type BasedPattern, spelledPlace } from './pattern-reach.ts';
import { matchesWildcard } from '../base/wildcard.ts';

/** Which of many patterns a glob is about. */
export interface PatternPlaces<Pattern> {
  /** The first whose place the glob leads to, or below; its last segment there must spell something. */
  leadsTo(glob: string): Pattern | undefined;
  /** The first whose place lies below what the glob, or a path, stands for. */
  liesBelow(glob: string): Pattern | undefined;
}

/** A folder on the way to places. */
interface Folder<Pattern> {
  readonly folders: Map<string, Folder<Pattern>>;
  /** A pattern whose place this is, with nothing else that it matches. */
  whole?: Pattern;
  /** Any pattern whose place this is, or lies below. */
  readonly below: Pattern;
}

/** Find the places of patterns. Paths and globs are absolute. */
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

/** Go down every way that the segments may mean, until something is found. */
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

/** A glob's segment with each choice of characters as `?`, also one that is not closed. */
export function wildcardOf(segment: string): string {
  return segment.replace(/\[[^\]]*\]?/g, '?');
}

/** As `isSegmentMatch`, for many names: nearly all differ from it at one of its ends. */
export function segmentMatcher(wildcard: string): (name: string) => boolean {
  const [head = ''] = wildcard.split(/[*?]/, 1);
  const tail = wildcard.slice(Math.max(wildcard.lastIndexOf('*'), wildcard.lastIndexOf('?')) + 1);
  return (name) => name.endsWith(tail) && name.startsWith(head) && isSegmentMatch(wildcard, name);
}

/** Whether a segment, as `wildcardOf` gives it, stands for a name. */
export function isSegmentMatch(wildcard: string, name: string): boolean {
  return matchesWildcard(wildcard, name, { hasQuestionMark: true });
}
