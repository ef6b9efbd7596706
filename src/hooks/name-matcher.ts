/**
 * The `matcher` of a hook setting: which tools, or which sources of a session, it is about.
 *
 * Existing settings write names, `A|B`, `*`, and simple regular expressions such as `mcp__memory__.*`.
 * The latter become wildcards here: names come from outside, and nothing may backtrack over them.
 */
import { GauntletError } from '../base/errors.ts';
import { matchesWildcard } from '../base/wildcard.ts';

/** Alternatives that the groups of one matcher may stand for. */
const MAX_ALTERNATIVES = 256;
const EXPECTED =
  'Expected "*", a name, names joined by "|", or a pattern of names, ".", ".*", ".+", "*" and groups, as in "mcp__(a|b)__.*"';

/** Whether any of a thing's names is meant. */
export type NameMatcher = (names: readonly string[]) => boolean;

/**
 * Compile a matcher.
 *
 * Plain names match whole names. A pattern matches anywhere in a name unless `^` or `$` pins it, as
 * regular expressions do; a `*` behind a letter stands for any run of characters, which matches more.
 *
 * @param text Absent, `''` and `*` match everything.
 * @throws {GauntletError} `invalid_setting` with the text and what was expected.
 */
export function nameMatcher(text = ''): NameMatcher {
  if (text === '' || text === '*') return () => true;
  if (/^[\w -]+(\|[\w -]+)*$/.test(text)) {
    const meant = new Set(text.split('|').map((name) => name.trim()));
    return (names) => names.some((name) => meant.has(name));
  }
  const wildcards = new Set(unpinned(text));
  return (names) =>
    names.some((name) => [...wildcards].some((wildcard) => matchesWildcard(wildcard, name, { hasQuestionMark: true })));
}

/** The wildcards of a pattern, each open at the ends that are not pinned. */
function unpinned(text: string): readonly string[] {
  return topLevel(text).flatMap((alternative) => {
    const isBegun = alternative.startsWith('^');
    const isEnded = alternative.endsWith('$');
    const parser = new Pattern(alternative.slice(isBegun ? 1 : 0, isEnded ? -1 : undefined), text);
    return parser.whole().map((wildcard) => `${isBegun ? '' : '*'}${wildcard}${isEnded ? '' : '*'}`);
  });
}

/** Split at the `|` that stand in no group. */
function topLevel(text: string): readonly string[] {
  const parts = [''];
  let depth = 0;
  for (const character of text) {
    if (character === '(') depth++;
    if (character === ')') depth--;
    if (character === '|' && depth === 0) parts.push('');
    else parts.push(`${parts.pop() ?? ''}${character}`);
  }
  return parts;
}

/** One pass over a pattern; every group multiplies the wildcards it stands for. */
class Pattern {
  readonly #pattern: string;
  readonly #matcher: string;
  #at = 0;

  constructor(pattern: string, matcher: string) {
    this.#pattern = pattern;
    this.#matcher = matcher;
  }

  whole(): readonly string[] {
    const wildcards = this.#alternatives();
    if (this.#at < this.#pattern.length) throw this.#refusal();
    return wildcards;
  }

  #alternatives(): readonly string[] {
    const found = [...this.#sequence()];
    while (this.#pattern[this.#at] === '|') {
      this.#at++;
      found.push(...this.#sequence());
    }
    return found;
  }

  #sequence(): readonly string[] {
    let wildcards: readonly string[] = [''];
    for (let piece = this.#piece(); piece; piece = this.#piece()) {
      const choices = piece;
      wildcards = wildcards.flatMap((before) => choices.map((choice) => before + choice));
      if (wildcards.length > MAX_ALTERNATIVES) throw this.#refusal();
    }
    return wildcards;
  }

  #piece(): readonly string[] | undefined {
    const rest = this.#pattern.slice(this.#at);
    const piece = /^(?:[\w -]|\.[*+]?|\*)/.exec(rest)?.[0];
    if (piece !== undefined) {
      this.#at += piece.length;
      return [WILDCARD[piece] ?? piece];
    }
    if (!rest.startsWith('(')) return undefined;
    this.#at++;
    const choices = this.#alternatives();
    if (this.#pattern[this.#at] !== ')') throw this.#refusal();
    this.#at++;
    return choices;
  }

  #refusal(): GauntletError {
    return new GauntletError('invalid_setting', `cannot use ${JSON.stringify(this.#matcher)}. ${EXPECTED}`);
  }
}

const WILDCARD: Readonly<Record<string, string>> = { '.': '?', '.*': '*', '.+': '?*' };
