/**
 * Matches path patterns of rules: `Read(./secrets/**)`, `Edit(src/**)`, `Read(//etc/**)`, `Read(~/.ssh/**)`.
 *
 * Patterns have gitignore semantics. Each is compiled alone and indexed by a literal segment that any matching path
 * must contain, so that a path is tested against the few patterns that could match it.
 */
import { homedir } from 'node:os';
import { relative } from 'node:path';
import ignore, { type Ignore } from 'ignore';
import { WORKTREES_FOLDER } from '../tool/session-context.ts';
import { isSegmentMatch, patternPlaces, segmentMatcher, wildcardOf } from './pattern-places.ts';
import { type BasedPattern, patternReach, spelledPlace } from './pattern-reach.ts';

/** Compiled specs of one list. Each method returns the first spec that matches, or undefined. */
export interface PathRules {
  /** Match an absolute path. */
  match(absolutePath: string): string | undefined;
  /** Match a glob that partly spells a name, as `.e*` does `.env`, or that may lead to the place of a spec. */
  matchGlob(absoluteGlob: string): string | undefined;
  /** Match specs whose place lies below a path or glob: `src/generated` lies below `src`. */
  matchTree(absoluteGlob: string): string | undefined;
  /** Match specs that may apply to something below a folder, restricted to the names in `seen`. */
  matchBelow(absoluteFolder: string, seen?: NamesBelow): string | undefined;
  /** Match specs that may apply to files the glob finds, as far as names tell; `rm *` does not match hidden files. */
  matchWithin(absoluteGlob: string, access: 'read' | 'write'): string | undefined;
  /**
   * Return the literal leading path of each spec (`/etc/ssl` of `//etc/ssl/**\/*.pem`), absolute, without duplicates. A
   * spec without one may match in any folder and is left out.
   */
  places(): readonly string[];
}

/** Names below a folder. */
export interface NamesBelow {
  /** Globs of file names, of which every opened file matches one. */
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

/** A glob for a name, with its literal start and end. */
interface NameGlob {
  readonly text: string;
  readonly wildcard: string;
  readonly start: string;
  readonly end: string;
  readonly isWild: boolean;
}

type Strictness = 'allow' | 'deny';

/**
 * Upper bound of the stars in one segment, and of the `**` segments, so that a pattern is cheap on the longest path.
 */
const MAX_STARS = 3;

const compiledRules = new WeakMap<readonly string[], Map<string, PathRules>>();

/**
 * Compile the specs of one list; results are cached.
 *
 * @param specs The array is the key of the cache.
 * @param root Absolute base of patterns without `//` or `~/`.
 * @param strictness `deny` reads a pattern as widely as possible: a bare name (`.env`) applies in every folder, a
 * folder's `/**` to the folder itself.
 */
export function pathRules(specs: readonly string[], root: string, strictness: Strictness): PathRules {
  let byRoot = compiledRules.get(specs);
  if (!byRoot) compiledRules.set(specs, (byRoot = new Map()));
  const key = `${strictness} ${root}`;
  let rules = byRoot.get(key);
  if (!rules) {
    const compiled = compile(specs, root, strictness);
    byRoot.set(key, (rules = strictness === 'deny' ? inWorktreesToo(compiled) : compiled));
  }
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
      // A segment of wildcards only matches everything and is left to `matchWithin`.
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
      return below(
        folded(absoluteFolder),
        seen ? nameTester([...seen.names, ...seen.folders].map(folded)) : () => true,
      );
    },
    matchWithin(absoluteGlob, access) {
      const segments = folded(absoluteGlob).split('/');
      const at = segments.findIndex((segment) => /[*?[]/.test(segment));
      if (at < 0) return undefined;
      const folder = segments.slice(0, at).join('/') || '/';
      const met = nameTester(segments.slice(at));
      const finds = access === 'write' && segments.slice(at).every((segment) => !segment.startsWith('.'));
      return below(folder, (pattern) => !(finds && lastSegment(pattern).startsWith('.')) && met(pattern));
    },
    places: () => (spelled ??= [...new Set(all().flatMap((pattern) => spelledPlace(pattern)?.path ?? []))]),
  };
}

/** Apply rules to the copies of files in worktrees: what a rule hides in a repository it hides in each of them. */
function inWorktreesToo(rules: PathRules): PathRules {
  const either = <More extends readonly unknown[]>(match: (path: string, ...more: More) => string | undefined) => {
    const matchEither = (path: string, ...more: More): string | undefined => {
      const spec = match(path, ...more);
      const original = spec === undefined ? originalPath(path) : undefined;
      return original === undefined ? spec : matchEither(original, ...more);
    };
    return matchEither;
  };
  return {
    ...rules,
    match: either(rules.match),
    matchGlob: either(rules.matchGlob),
    matchTree: either(rules.matchTree),
    matchBelow: either(rules.matchBelow),
    matchWithin: either(rules.matchWithin),
  };
}

/**
 * Return the path in the repository of which a path or glob in a worktree is a copy; for the folder of all worktrees,
 * the repository itself.
 */
function originalPath(path: string): string | undefined {
  // Wildcards in front do not match a hidden name.
  if (!/\/[.[]/.test(path)) return undefined;
  const names = folded(path).split('/');
  const at = names.findIndex((name) => /^[.[]/.test(name) && isSegmentMatch(wildcardOf(name), WORKTREES_FOLDER));
  return at < 0 ? undefined : [...names.slice(0, at), ...names.slice(at + 2)].join('/') || '/';
}

/** Create a test whether the last name of a pattern may be matched by a glob of `names`. */
function nameTester(names: readonly string[]): (pattern: PathPattern) => boolean {
  const met = names.map(nameGlob);
  return (pattern) => {
    const last = (pattern.lastName ??= nameGlob(lastSegment(pattern)));
    return met.some((name) => mayOverlap(name, last));
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

/** Report whether two globs may match the same name: their literal starts agree, and so do their literal ends. */
function mayOverlap(left: NameGlob, right: NameGlob): boolean {
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

/**
 * Normalize an anchored pattern: `./`, doubled slashes and `.` parts are dropped; a trailing `/**` or `/` means the
 * folder and everything below.
 */
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

/**
 * Report whether a pattern has too many stars: it is compiled to a regular expression whose backtracking could block
 * the event loop.
 */
function isTooCostly(pattern: string): boolean {
  const segments = pattern.split('/');
  const hasManyStars = segments.some((segment) => segment !== '**' && segment.split('*').length > MAX_STARS + 1);
  return hasManyStars || segments.filter((segment) => segment === '**').length > MAX_STARS;
}

function lastLiteralSegment(pattern: string): string | undefined {
  const segments = pattern.split('/').filter((segment) => segment !== '');
  return segments.findLast((segment) => !/[*?[\]\\]|^#|\s$/.test(segment));
}

/**
 * Normalize case and Unicode form: file systems that fold case open `.ENV` as `.env`, and two Unicode forms of a name
 * look the same.
 */
function folded(path: string): string {
  const form = path.normalize('NFC');
  return process.platform === 'linux' ? form : form.toLowerCase();
}
