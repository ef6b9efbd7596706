/**
 * Compiles the specs of Bash rules: plain text is exact, `x:*` is a prefix that ends at a word, `*` matches anything.
 *
 * A list is compiled once, so that ten thousand rules cost a command a few lookups.
 */
import { matchesWildcard } from '../base/wildcard.ts';
import { type SemanticMatcher, compileSemanticMatcher } from './semantic-match.ts';

/** A matching spec. */
export interface SpecMatch {
  readonly spec: string;
  /** Number of words that the rule itself spells; later options are not part of it. */
  readonly spelledWords: number;
}

/** A compiled list. */
export interface ShellSpecs {
  /** Match a command. Exact specs take precedence over prefixes, and those over wildcards. */
  match(text: string): SpecMatch | undefined;
  matchExact(text: string): string | undefined;
  /** For deny and ask rules: matches equivalent commands. */
  readonly matchSemantically: SemanticMatcher;
  /** First words of all specs, for text that cannot be parsed; the key '' belongs to a spec that begins with `*`. */
  readonly firstWords: ReadonlyMap<string, string>;
}

interface Wildcard {
  readonly spec: string;
  readonly pattern: string;
  /** Index in the list of specs. */
  readonly place: number;
}

const compiledLists = new WeakMap<readonly string[], ShellSpecs>();

/** Most texts contain no such blanks, so they are tested before they are copied. */
const UNEVEN_BLANKS = /^\s|\s$|\s\s|[^\S ]/;

/** Collapse each run of white space into one blank. */
export function collapseBlanks(text: string): string {
  return !UNEVEN_BLANKS.test(text) ? text : text.trim().replace(/\s+/g, ' ');
}

/** Compile a list of specs; results are cached by array. @param specs Also the key of the cache. */
export function shellSpecs(specs: readonly string[]): ShellSpecs {
  let compiled = compiledLists.get(specs);
  if (!compiled) compiledLists.set(specs, (compiled = compile(specs)));
  return compiled;
}

function compile(specs: readonly string[]): ShellSpecs {
  const exact = new Map<string, string>();
  const prefixes = new Map<string, string>();
  const wildcards: Wildcard[] = [];
  const firstWords = new Map<string, string>();
  let longestPrefix = 0;
  for (const [place, spec] of specs.entries()) {
    const text = collapseBlanks(spec);
    const head = text.endsWith(':*') ? text.slice(0, -2).trimEnd() : undefined;
    const firstWord = (head ?? text).split(' ', 1)[0] ?? '';
    if (!firstWords.has(firstWord)) firstWords.set(firstWord.includes('*') ? '' : firstWord, spec);
    if (head !== undefined && !head.includes('*')) {
      if (!prefixes.has(head)) prefixes.set(head, spec);
      longestPrefix = Math.max(longestPrefix, head.length);
    } else if (text.includes('*')) {
      const pattern = head === undefined ? text : `${head} *`;
      wildcards.push({ spec, pattern, place });
    } else if (!exact.has(text)) exact.set(text, spec);
  }

  const candidates = indexByHead(wildcards);
  const matchPrefix = (text: string): SpecMatch | undefined => {
    if (prefixes.size === 0) return undefined;
    for (let end = text.indexOf(' '); ; end = text.indexOf(' ', end + 1)) {
      const head = end < 0 ? text : text.slice(0, end);
      const spec = head.length <= longestPrefix ? prefixes.get(head) : undefined;
      if (spec !== undefined) return { spec, spelledWords: wordCount(head) };
      if (end < 0 || head.length > longestPrefix) return undefined;
    }
  };
  const matchWildcard = (text: string): SpecMatch | undefined => {
    for (const { spec, pattern } of candidates(text)) {
      // `npm run *` covers the bare `npm run`, too.
      const isBare = pattern.endsWith(' *') && matchesWildcard(pattern.slice(0, -2), text);
      if (isBare || matchesWildcard(pattern, text))
        return { spec, spelledWords: wordCount(pattern.split('*', 1)[0] ?? '') };
    }
    return undefined;
  };
  return {
    firstWords,
    matchSemantically: compileSemanticMatcher(specs),
    matchExact: (text) => exact.get(text),
    match(text) {
      const spec = exact.get(text);
      if (spec !== undefined) return { spec, spelledWords: wordCount(text) };
      return matchPrefix(text) ?? matchWildcard(text);
    },
  };
}

/**
 * Index wildcards by the text before the first `*`, with one look-up for each length that occurs.
 *
 * @returns Function that finds the candidates for a command, in the order of the list. The blank before the `*` may be
 * missing (`npm run *` and `npm run`).
 */
function indexByHead(wildcards: readonly Wildcard[]): (text: string) => readonly Wildcard[] {
  const byHead = new Map<string, Wildcard[]>();
  for (const wildcard of wildcards) {
    const head = (wildcard.pattern.split('*', 1)[0] ?? '').trimEnd();
    const same = byHead.get(head);
    if (same === undefined) byHead.set(head, [wildcard]);
    else same.push(wildcard);
  }
  const lengthsByStart = new Map<string, Set<number>>([['', new Set()]]);
  for (const head of byHead.keys()) {
    const start = head.slice(0, 1);
    lengthsByStart.set(start, (lengthsByStart.get(start) ?? new Set()).add(head.length));
  }
  return (text) => {
    let found: Wildcard[] | undefined;
    // An empty head is the start of every text.
    for (const start of ['', text.slice(0, 1)]) {
      for (const length of lengthsByStart.get(start) ?? []) {
        const same = length <= text.length ? byHead.get(text.slice(0, length)) : undefined;
        if (same) (found ??= []).push(...same);
      }
    }
    return found?.sort((one, other) => one.place - other.place) ?? [];
  };
}

function wordCount(text: string): number {
  return text.split(' ').filter((word) => word !== '').length;
}
