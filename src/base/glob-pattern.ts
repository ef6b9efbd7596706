/**
 * Glob patterns, matched without backtracking: an untrusted pattern must never freeze the event loop, as one compiled
 * to a regular expression could.
 *
 * `*` and `?` stay within a name, `**` crosses folders, `[a-z]` and `[!a]` are classes, `{a,b}` and `{1..3}`
 * alternatives, `\` escapes the next character. Hidden names are names like any other.
 */

/** One alternative of a pattern. */
export interface GlobPattern {
  /** Folders before the first wildcard, as spelled; '' if there are none. */
  readonly base: string;
  /** Maximum of names below `base` in a match; Infinity with `**`. */
  readonly depth: number;
  /** True if a path below `base`, given as its names, matches. */
  matches(names: readonly string[]): boolean;
}

/**
 * Parse a pattern.
 *
 * @param maxAlternatives Maximum of patterns that its braces may expand to.
 * @throws {RangeError} If there are more, or `..` follows a wildcard.
 */
export function parseGlob(pattern: string, maxAlternatives: number): readonly GlobPattern[] {
  return expandBraces(pattern, maxAlternatives).map((alternative) => {
    const segments = alternative
      .split('/')
      .filter((segment, index) => (segment !== '' || index === 0) && segment !== '.');
    const firstWild = segments.findIndex((segment) => isWild(segment));
    const split = firstWild < 0 ? segments.length - 1 : firstWild;
    const rest = segments.slice(split);
    if (rest.includes('..') && firstWild >= 0) throw new RangeError('".." cannot follow a wildcard');
    const base = segments.slice(0, split).map(unescape).join('/');
    const tests = rest.map((segment) => (segment === '**' ? ANY : compileName(segment)));
    return {
      base: base === '' && alternative.startsWith('/') ? '/' : base,
      depth: rest.includes('**') ? Infinity : rest.length,
      matches: (names) => matchesAll(tests, names),
    };
  });
}

/** Predicate on a name of a path, or on a character of a name. */
type Test = (item: string) => boolean;
/** Matches any run of items, also an empty one: `**` among names, `*` among characters. */
const ANY = Symbol('any');

/** Match greedily, and retry only from the last `ANY`: retrying from an earlier one cannot succeed where this fails. */
function matchesAll(tests: readonly (Test | typeof ANY)[], items: ArrayLike<string>): boolean {
  let at = 0;
  let index = 0;
  let lastAny = -1;
  let retryFrom = 0;
  while (index < items.length) {
    const test = tests[at];
    if (test === ANY) {
      lastAny = at++;
      retryFrom = index;
    } else if (test?.(items[index] ?? '')) {
      at++;
      index++;
    } else if (lastAny >= 0) {
      at = lastAny + 1;
      index = ++retryFrom;
    } else {
      return false;
    }
  }
  while (tests[at] === ANY) at++;
  return at === tests.length;
}

function compileName(segment: string): Test {
  if (!isWild(segment)) {
    const literal = unescape(segment);
    return (name) => name === literal;
  }
  const tests = compileCharacters(segment);
  return (name) => matchesAll(tests, name);
}

function compileCharacters(segment: string): readonly (Test | typeof ANY)[] {
  const tests: (Test | typeof ANY)[] = [];
  for (let at = 0; at < segment.length; at++) {
    const character = segment[at] ?? '';
    if (character === '*') {
      if (tests.at(-1) !== ANY) tests.push(ANY);
    } else if (character === '?') {
      tests.push(() => true);
    } else if (character === '[' && classEnd(segment, at) > 0) {
      const end = classEnd(segment, at);
      tests.push(compileClass(segment.slice(at + 1, end)));
      at = end;
    } else {
      const literal = character === '\\' && at + 1 < segment.length ? (segment[++at] ?? '') : character;
      tests.push((candidate) => candidate === literal);
    }
  }
  return tests;
}

/** Index of the bracket that closes a class, -1 if there is none; a `]` right after the opening is a member. */
function classEnd(segment: string, start: number): number {
  const first = start + (/^[!^]/.test(segment.slice(start + 1)) ? 2 : 1);
  return segment.indexOf(']', first + 1);
}

function compileClass(text: string): Test {
  const isNegated = /^[!^]/.test(text);
  const members = isNegated ? text.slice(1) : text;
  const ranges: (readonly [string, string])[] = [];
  for (let at = 0; at < members.length; at++) {
    const from = members[at] ?? '';
    const isRange = members[at + 1] === '-' && at + 2 < members.length;
    ranges.push([from, isRange ? (members[at + 2] ?? '') : from]);
    if (isRange) at += 2;
  }
  return (character) => ranges.some(([from, to]) => character >= from && character <= to) !== isNegated;
}

function isWild(segment: string): boolean {
  return /[*?[]/.test(segment.replace(/\\./g, ''));
}

function unescape(segment: string): string {
  return segment.replace(/\\(.)/g, '$1');
}

/** Expand braces, innermost group first. */
function expandBraces(pattern: string, maxPatterns: number): readonly string[] {
  const pending = [pattern];
  const done: string[] = [];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const group = innermostGroup(next);
    if (!group) done.push(next);
    else for (const option of group.options) pending.push(next.slice(0, group.start) + option + next.slice(group.end));
    if (pending.length + done.length > maxPatterns)
      throw new RangeError(`it expands to more than ${maxPatterns} patterns`);
  }
  return [...new Set(done)].reverse();
}

interface BraceGroup {
  readonly start: number;
  readonly end: number;
  readonly options: readonly string[];
}

function innermostGroup(pattern: string): BraceGroup | undefined {
  for (const found of pattern.matchAll(/(?<!\\)\{([^{}]*)\}/g)) {
    const inside = found[1] ?? '';
    const range = /^(-?\d{1,6})\.\.(-?\d{1,6})$/.exec(inside);
    const options = range ? numbersBetween(Number(range[1]), Number(range[2])) : inside.split(',');
    // "{a}" is not a group; the braces are part of the name.
    if (options.length > 1) return { start: found.index, end: found.index + found[0].length, options };
  }
  return undefined;
}

/** List a range of numbers. Capped, but high enough to exceed the limit of patterns. */
function numbersBetween(first: number, last: number): readonly string[] {
  const count = Math.min(Math.abs(last - first) + 1, 100_000);
  const step = first <= last ? 1 : -1;
  return Array.from({ length: count }, (_, index) => String(first + index * step));
}
