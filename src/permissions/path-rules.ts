/**
 * Path patterns of rules: `Read(./secrets/**)`, `Edit(src/**)`, `Read(//etc/**)`, `Read(~/.ssh/**)`.
 *
 * Patterns have gitignore semantics. Each is compiled alone and filed under a literal segment that any
 * matching path must contain, so that a path is tried on the few patterns that could match it.
 */
import { homedir } from 'node:os';
import { relative } from 'node:path';
import ignore, { type Ignore } from 'ignore';
import { isSegmentMatch, patternPlaces, segmentMatcher, wildcardOf } from './pattern-places.ts';
import { type BasedPattern, patternReach, spelledPlace } from './pattern-reach.ts';

/** The specs of one list, ready to be asked about absolute paths. */
export interface PathRules {
  /** The first spec that matches an absolute path, or undefined. */
  match(absolutePath: string): string | undefined;
  /** The first spec whose name a glob spells in part, as `.e*` does `.env`, or whose place it may lead to. */
  matchGlob(absoluteGlob: string): string | undefined;
  /** The first spec that spells a place below what a path or a glob stands for: `src/generated` lies below `src`. */
  matchTree(absoluteGlob: string): string | undefined;
  /** A spec that could match something below a folder, as far as is known of what is met there. */
  matchBelow(absoluteFolder: string, seen?: SeenBelow): string | undefined;
  /** A spec that could match something the glob stands for, as far as the names tell; `rm *` spares hidden files. */
  matchWithin(absoluteGlob: string, access: 'read' | 'write'): string | undefined;
  /**
   * The literal leading path of each spec (`/etc/ssl` of `//etc/ssl/**\/*.pem`), absolute, without duplicates. A spec
   * without one may match in any folder and is left out.
   */
  places(): readonly string[];
}

/** What is met below a folder. */
export interface SeenBelow {
  /** Globs, one of which the name of every file matches that is opened. */
  readonly names: readonly string[];
  /** Names of all folders. */
  readonly folders: ReadonlySet<string>;
}

interface PathPattern extends BasedPattern {
  readonly spec: string;
  readonly strictness: Strictness;
  compiled?: Ignore;
  lastName?: NameGlob;
}

/** A glob for a name, with what it spells at its two ends. */
interface NameGlob {
  readonly text: string;
  readonly wildcard: string;
  readonly start: string;
  readonly end: string;
  readonly isWild: boolean;
}

type Strictness = 'allow' | 'deny';

/** Stars in one segment, and `**` segments, that a pattern may hold and still be cheap on the longest path. */
const MAX_STARS = 3;

const compiledRules = new WeakMap<readonly string[], Map<string, PathRules>>();

/**
 * Compile the specs of one list, once a list.
 *
 * @param specs The array itself is the key: pass the same one again.
 * @param root Absolute; what patterns without `//` or `~/` are relative to.
 * @param strictness `deny` reads a pattern as widely as it can be meant: a bare name (`.env`) counts in
 *   every folder, a folder's `/**` counts for the folder itself.
 */
export function pathRules(specs: readonly string[], root: string, strictness: Strictness): PathRules {
  let byRoot = compiledRules.get(specs);
  if (!byRoot) compiledRules.set(specs, (byRoot = new Map()));
  const key = `${strictness} ${root}`;
  let rules = byRoot.get(key);
  if (!rules) byRoot.set(key, (rules = compile(specs, root, strictness)));
  return rules;
}

function compile(specs: readonly string[], root: string, strictness: Strictness): PathRules {
  const bySegment = new Map<string, PathPattern[]>();
  const anywhere: PathPattern[] = [];
  for (const spec of specs) {
    const pattern = toPattern(spec, root, strictness);
    const segment = lastLiteralSegment(pattern.pattern);
    const filed = segment === undefined ? anywhere : bySegment.get(segment);
    if (filed) filed.push(pattern);
    else if (segment !== undefined) bySegment.set(segment, [pattern]);
  }
  let reach: ReturnType<typeof patternReach<PathPattern>> | undefined;
  let places: ReturnType<typeof patternPlaces<PathPattern>> | undefined;
  let spelled: readonly string[] | undefined;
  const all = () => [...anywhere, ...[...bySegment.values()].flat()];
  const placed = () => (places ??= patternPlaces(all()));
  const below = (folder: string, isMet: (pattern: PathPattern) => boolean) => {
    reach ??= patternReach(all());
    for (const pattern of reach(folder)) if (isMet(pattern)) return pattern.spec;
    return undefined;
  };
  const find = (patterns: readonly PathPattern[] | undefined, path: string) =>
    patterns?.find((pattern) => isMatch(pattern, path))?.spec;
  return {
    match(absolutePath) {
      const path = folded(absolutePath);
      for (const segment of new Set(path.split('/'))) {
        const spec = find(bySegment.get(segment), path);
        if (spec !== undefined) return spec;
      }
      return find(anywhere, path);
    },
    matchGlob(absoluteGlob) {
      // One that spells nothing finds everything: what it could match is for `matchWithin`.
      const globs = folded(absoluteGlob)
        .split('/')
        .filter((segment) => /[*?[]/.test(segment) && /[^*?]/.test(segment))
        .map(wildcardOf);
      for (const isMet of globs.map(segmentMatcher)) {
        for (const [segment, patterns] of bySegment) if (isMet(segment)) return patterns[0]?.spec;
      }
      return /[*?[]/.test(absoluteGlob) ? placed().leadsTo(folded(absoluteGlob))?.spec : undefined;
    },
    matchTree: (absoluteGlob) => placed().liesBelow(folded(absoluteGlob))?.spec,
    matchBelow(absoluteFolder, seen) {
      return below(folded(absoluteFolder), seen ? meeter([...seen.names, ...seen.folders].map(folded)) : () => true);
    },
    matchWithin(absoluteGlob, access) {
      const segments = folded(absoluteGlob).split('/');
      const at = segments.findIndex((segment) => /[*?[]/.test(segment));
      if (at < 0) return undefined;
      const folder = segments.slice(0, at).join('/') || '/';
      const met = meeter(segments.slice(at));
      const finds = access === 'write' && segments.slice(at).every((segment) => !segment.startsWith('.'));
      return below(folder, (pattern) => !(finds && lastSegment(pattern).startsWith('.')) && met(pattern));
    },
    places: () => (spelled ??= [...new Set(all().flatMap((pattern) => spelledPlace(pattern)?.path ?? []))]),
  };
}

/** Whether a pattern's last name may be one that a glob of `names` stands for. */
function meeter(names: readonly string[]): (pattern: PathPattern) => boolean {
  const met = names.map(nameGlob);
  return (pattern) => {
    const last = (pattern.lastName ??= nameGlob(lastSegment(pattern)));
    return met.some((name) => mayMeet(name, last));
  };
}

function lastSegment({ pattern }: PathPattern): string {
  return pattern.split('/').findLast((segment) => segment !== '') ?? '*';
}

function nameGlob(text: string): NameGlob {
  const start = text.split(/[*?[\\]/, 1)[0] ?? '';
  const wildcard = wildcardOf(text);
  return { text, wildcard, start, end: wildcard.split(/[*?\]\\]/).at(-1) ?? '', isWild: start !== text };
}

/** Whether two globs may stand for one name: their fixed beginnings agree, and so do their fixed ends. */
function mayMeet(left: NameGlob, right: NameGlob): boolean {
  const startsAgree = left.start.startsWith(right.start) || right.start.startsWith(left.start);
  const endsAgree = left.end.endsWith(right.end) || right.end.endsWith(left.end);
  return startsAgree && endsAgree && (right.isWild || isSegmentMatch(left.wildcard, right.text));
}

function toPattern(spec: string, root: string, strictness: Strictness): PathPattern {
  const text = folded(spec);
  if (text.startsWith('//')) return { spec, strictness, base: '/', pattern: anchored(text.slice(2)) };
  if (text === '~' || text.startsWith('~/')) {
    return { spec, strictness, base: folded(homedir()), pattern: anchored(text.slice(2)) };
  }
  const relativeText = text.startsWith('./') ? text.slice(1) : text;
  const isBareName = !relativeText.replace(/\/+$/, '').includes('/');
  if (isBareName && strictness === 'deny') {
    return { spec, strictness, base: '/', pattern: withoutTail(relativeText) };
  }
  return {
    spec,
    strictness,
    base: folded(root),
    pattern: isBareName ? withoutTail(relativeText) : anchored(relativeText),
  };
}

/** `./`, doubled slashes and `.` parts say nothing; a folder's `/**` and `/` mean the folder and all below. */
function anchored(text: string): string {
  const parts = withoutTail(text)
    .split('/')
    .filter((part) => part !== '' && part !== '.');
  return parts.length === 0 ? '' : `/${parts.join('/')}`;
}

function withoutTail(text: string): string {
  return text.replace(/(?:\/+(?:\*\*)?)+$/, '');
}

function isMatch(pattern: PathPattern, path: string): boolean {
  const inside = relative(pattern.base, path);
  if (inside === '..' || inside.startsWith('../')) return false;
  if (pattern.pattern === '' || pattern.pattern === '/**' || pattern.pattern === '**') return true;
  if (inside === '') return false;
  if (isTooCostly(pattern.pattern)) return pattern.strictness === 'deny';
  pattern.compiled ??= ignore({ ignorecase: false }).add(pattern.pattern);
  return pattern.compiled.ignores(inside);
}

/** Patterns become regular expressions that backtrack; one with many stars could freeze the loop. */
function isTooCostly(pattern: string): boolean {
  const segments = pattern.split('/');
  const hasManyStars = segments.some((segment) => segment !== '**' && segment.split('*').length > MAX_STARS + 1);
  return hasManyStars || segments.filter((segment) => segment === '**').length > MAX_STARS;
}

function lastLiteralSegment(pattern: string): string | undefined {
  const segments = pattern.split('/').filter((segment) => segment !== '');
  return segments.findLast((segment) => !/[*?[\]\\]|^#|\s$/.test(segment));
}

/** File systems that fold case open `.ENV` as `.env`; two Unicode forms of a name are one name to people. */
function folded(path: string): string {
  const form = path.normalize('NFC');
  return process.platform === 'linux' ? form : form.toLowerCase();
}
