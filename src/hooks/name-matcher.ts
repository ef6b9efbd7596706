/**
 * Compiles the `matcher` of a hook setting: the tools, or the sources of a session, for which the hook runs.
 *
 * Existing settings contain names, `A|B`, `*`, and simple regular expressions such as `mcp__memory__.*`. The latter
 * become wildcards, because names are untrusted input and must not cause backtracking.
 */
import { GauntletError } from '../base/errors.ts';
import { matchesWildcard } from '../base/wildcard.ts';

/** Maximum of alternatives that the groups of one matcher expand to. */
const MAX_ALTERNATIVES = 256;
const EXPECTED =
  'Expected "*", a name, names joined by "|", or a pattern of names, ".", ".*", ".+", "*" and groups, as in "mcp__(a|b)__.*"';

/** Returns true if one of the names matches. */
export type NameMatcher = (names: readonly string[]) => boolean;

/**
 * Compile a matcher.
 *
 * Plain names match whole names. A pattern matches anywhere in a name unless `^` or `$` anchors it, as in regular
 * expressions; a `*` after a letter matches any run of characters, which is wider.
 *
 * @param text Absent, `''` and `*` match everything.
 * @throws {GauntletError} `invalid_setting` with the text and what was expected.
 */
export function nameMatcher(text = ''): NameMatcher {
  if (text === '' || text === '*') return () => true;
  if (/^[\w -]+(\|[\w -]+)*$/.test(text)) {
    const wholeNames = new Set(text.split('|').map((name) => name.trim()));
    return (names) => names.some((name) => wholeNames.has(name));
  }
  const wildcards = new Set(expandPattern(text));
  return (names) =>
    names.some((name) => [...wildcards].some((wildcard) => matchesWildcard(wildcard, name, { hasQuestionMark: true })));
}

/** Expand a pattern to wildcards, each open at the ends that are not anchored. */
function expandPattern(text: string): readonly string[] {
  return splitTopLevel(text).flatMap((alternative) => {
    const hasStartAnchor = alternative.startsWith('^');
    const hasEndAnchor = alternative.endsWith('$');
    const parser = new Pattern(alternative.slice(hasStartAnchor ? 1 : 0, hasEndAnchor ? -1 : undefined), text);
    return parser.whole().map((wildcard) => `${hasStartAnchor ? '' : '*'}${wildcard}${hasEndAnchor ? '' : '*'}`);
  });
}

/** Split at each `|` outside groups. */
function splitTopLevel(text: string): readonly string[] {
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

/** Parser of one pattern; every group multiplies the wildcards. */
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
