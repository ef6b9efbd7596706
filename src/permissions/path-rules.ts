/**
 * Path patterns of rules: `Read(./secrets/**)`, `Edit(src/**)`, `Read(//etc/**)`, `Read(~/.ssh/**)`.
 *
 * Patterns have gitignore semantics. Each is compiled alone and filed under a literal segment that any
 * matching path must contain, so that a path is tried on the few patterns that could match it.
 */
import { homedir } from 'node:os';
import { relative } from 'node:path';
import ignore, { type Ignore } from 'ignore';
import { matchesWildcard } from './wildcard.ts';

/** The specs of one list, ready to be asked about absolute paths. */
export interface PathRules {
  /** The first spec that matches an absolute path, or undefined. */
  match(absolutePath: string): string | undefined;
  /** The first spec whose name a glob spells in part: `.e*` and `.env`. */
  matchGlob(absoluteGlob: string): string | undefined;
  /** The first spec that could match something below a folder, as far as is known of what is met there. */
  matchBelow(absoluteFolder: string, seen?: SeenBelow): string | undefined;
  /** The first spec that could match something the glob stands for, as far as the names tell. */
  matchWithin(absoluteGlob: string): string | undefined;
}

/** What is met below a folder. */
export interface SeenBelow {
  /** Globs, one of which the name of every file matches that is opened. */
  readonly names: readonly string[];
  /** Names of all folders. */
  readonly folders: ReadonlySet<string>;
}

interface PathPattern {
  readonly spec: string;
  /** Absolute folder the pattern is relative to. */
  readonly base: string;
  /** In gitignore syntax, relative to `base`; '' is everything below. */
  readonly pattern: string;
  readonly strictness: Strictness;
  compiled?: Ignore;
  reach?: Reach;
}

/** Where a pattern leads, as far as it spells it. */
interface Reach {
  /** Absolute; everything the pattern matches lies at or below it. */
  readonly start: string;
  /** What it matches below `start` is not spelled. */
  readonly isOpen: boolean;
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
    if (segment === undefined) anywhere.push(pattern);
    else bySegment.set(segment, [...(bySegment.get(segment) ?? []), pattern]);
  }
  const all = [...anywhere, ...[...bySegment.values()].flat()];
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
        .filter((segment) => /[*?[]/.test(segment) && /[^*?]/.test(segment));
      for (const glob of globs) {
        for (const [segment, patterns] of bySegment) {
          if (isSegmentMatch(glob, segment)) return patterns[0]?.spec;
        }
      }
      return undefined;
    },
    matchBelow(absoluteFolder, seen) {
      const folder = folded(absoluteFolder);
      const isMet = seen ? meeter(seen) : () => true;
      return all.find((pattern) => mayLieBelow(pattern, folder) && isMet(pattern))?.spec;
    },
    matchWithin(absoluteGlob) {
      const segments = folded(absoluteGlob).split('/');
      const at = segments.findIndex((segment) => /[*?[]/.test(segment));
      if (at < 0) return undefined;
      const folder = segments.slice(0, at).join('/') || '/';
      const isMet = (pattern: PathPattern) =>
        segments.slice(at).some((segment) => mayMeet(segment, lastSegment(pattern)));
      return all.find((pattern) => mayLieBelow(pattern, folder) && isMet(pattern))?.spec;
    },
  };
}

/** Whether a glob's segment stands for a name. */
function isSegmentMatch(glob: string, name: string): boolean {
  return matchesWildcard(glob.replace(/\[[^\]]*\]?/g, '?'), name, { hasQuestionMark: true });
}

/** Whether a pattern could match anything below a folder: what it spells leads into it, or it may lead anywhere. */
function mayLieBelow(pattern: PathPattern, folder: string): boolean {
  const { start, isOpen } = (pattern.reach ??= reachOf(pattern));
  return isInside(start, folder) || (isOpen && isInside(folder, start));
}

function reachOf({ base, pattern }: PathPattern): Reach {
  const isAnchored = pattern.replace(/\/$/, '').includes('/');
  const segments = pattern.split('/').filter((segment) => segment !== '');
  const wild = segments.findIndex((segment) => /[*?[\]\\]/.test(segment));
  const spelled = isAnchored ? segments.slice(0, wild < 0 ? segments.length : wild) : [];
  const start = [base === '/' ? '' : base, ...spelled].join('/') || '/';
  return { start, isOpen: wild >= 0 || !isAnchored };
}

function isInside(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith('/') ? folder : `${folder}/`);
}

function lastSegment({ pattern }: PathPattern): string {
  return pattern.split('/').findLast((segment) => segment !== '') ?? '*';
}

/** Whether two globs may stand for one name: their fixed beginnings agree, and so do their fixed ends. */
function mayMeet(left: string, right: string): boolean {
  const agree = (one: string, other: string, fits: (text: string, part: string) => boolean) =>
    fits(one, other) || fits(other, one);
  const isWild = /[*?[\\]/;
  const start = (glob: string) => glob.split(isWild, 1)[0] ?? '';
  const end = (glob: string) => glob.split(/[*?\]\\]/).at(-1) ?? '';
  const startsAgree = agree(start(left), start(right), (text, part) => text.startsWith(part));
  const endsAgree = agree(end(left), end(right), (text, part) => text.endsWith(part));
  if (!isWild.test(right)) return isSegmentMatch(left, right);
  return startsAgree && endsAgree;
}

/** Whether a pattern's last name may be that of a file which is opened, or is that of a folder on the way. */
function meeter({ names, folders }: SeenBelow): (pattern: PathPattern) => boolean {
  const met = [...names, ...folders].map(folded);
  return (pattern) => met.some((name) => mayMeet(name, lastSegment(pattern)));
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
