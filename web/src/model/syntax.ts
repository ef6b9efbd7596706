/**
 * Colours of code: comments, texts, numbers, keywords and names of types, found line by line by words alone. A language
 * that is not known has no colours.
 */

/** Colour of a piece of code; `plain` has none. */
export type TokenKind = 'plain' | 'comment' | 'string' | 'number' | 'keyword' | 'type' | 'key';

/** A piece of code. */
export interface Token {
  readonly kind: TokenKind;
  readonly text: string;
}

interface Language {
  readonly comment: string;
  readonly strings: string;
  readonly keywords: ReadonlySet<string>;
}

/** Longer lines stay plain. */
const MAX_LINE_CHARS = 1_000;

const C_COMMENT = String.raw`\/\/.*|\/\*.*?(?:\*\/|$)|^\s*\*(?:[\s/].*)?$`;
const HASH_COMMENT = String.raw`(?<![^\s;(|&])#.*`;
const QUOTES = String.raw`"(?:[^"\\]|\\.)*"?|'(?:[^'\\]|\\.)*'?`;
const TEMPLATE = '`(?:[^`\\\\]|\\\\.)*`?';

const SCRIPT = words(
  'abstract as async await break case catch class const continue debugger declare default delete do else enum export',
  'extends false finally for from function get if implements import in instanceof interface is keyof let new null of',
  'override private protected public readonly return satisfies set static super switch this throw true try type typeof',
  'undefined using var void while with yield',
);
const PYTHON = words(
  'and as assert async await break case class continue def del elif else except False finally for from global if import',
  'in is lambda match None nonlocal not or pass raise return self True try while with yield',
);
const SHELL = words(
  'case do done elif else esac exit export fi for function if in local read return set shift then trap unset until while',
);
const SYSTEMS = words(
  'as async auto await bool break case catch chan char class const continue crate default defer delete do double dyn else',
  'enum extern false final finally float fn for func go goto if impl import in inline int interface let long loop map',
  'match mod mut namespace new nil null operator override package private protected pub public range return self short',
  'signed sizeof static string struct super switch template this throw trait true try type typedef uint union unsafe',
  'unsigned use using var virtual void volatile where while',
);
const SQL = words(
  'and as by create delete desc distinct drop from group having in insert into is join left like limit not null on or',
  'order outer select set table union update values where with',
);
const DATA = words('true false null yes no');

const FAMILIES: readonly (readonly [RegExp, Language])[] = [
  [/^(ts|tsx|js|jsx|mjs|cjs|mts|cts|typescript|javascript)$/, language(C_COMMENT, `${QUOTES}|${TEMPLATE}`, SCRIPT)],
  [/^(py|pyi|python)$/, language(HASH_COMMENT, QUOTES, PYTHON)],
  [/^(sh|bash|zsh|shell|dockerfile|makefile|mk)$/, language(HASH_COMMENT, QUOTES, SHELL)],
  [/^(c|h|cc|cpp|hpp|cs|java|kt|go|rs|rust|swift|scala|php|dart)$/, language(C_COMMENT, QUOTES, SYSTEMS)],
  [/^(json|jsonc|json5|yaml|yml|toml|ini)$/, language(`${C_COMMENT}|${HASH_COMMENT}`, QUOTES, DATA)],
  [/^(css|scss|less)$/, language(String.raw`\/\*.*?(?:\*\/|$)`, QUOTES, words('import media supports important'))],
  [/^(sql)$/, language('--.*', QUOTES, new Set([...SQL, ...[...SQL].map((word) => word.toUpperCase())]))],
  [/^(html|xml|svg|vue)$/, language('<!--.*?(?:-->|$)', QUOTES, new Set())],
];

const patterns = new Map<Language, RegExp>();

/** Split a line of code into coloured pieces. @param name Language as tools name it: an extension or a word. */
export function tokensOf(line: string, name: string | undefined): readonly Token[] {
  const found = FAMILIES.find(([names]) => names.test((name ?? '').toLowerCase()))?.[1];
  if (found === undefined || line.length > MAX_LINE_CHARS) return [{ kind: 'plain', text: line }];
  const tokens: Token[] = [];
  let at = 0;
  for (const match of line.matchAll(patternOf(found))) {
    if (match.index > at) tokens.push({ kind: 'plain', text: line.slice(at, match.index) });
    tokens.push({ kind: kindOf(match, found, line), text: match[0] });
    at = match.index + match[0].length;
  }
  if (at < line.length) tokens.push({ kind: 'plain', text: line.slice(at) });
  return tokens;
}

/** Guess the language from the name of a file. */
export function languageOf(path: string): string | undefined {
  const name = path.split('/').at(-1) ?? '';
  return (
    /\.([A-Za-z0-9]+)$/.exec(name)?.[1]?.toLowerCase() ?? (/^(dockerfile|makefile)$/i.test(name) ? name : undefined)
  );
}

function kindOf(match: RegExpMatchArray, { keywords }: Language, line: string): TokenKind {
  const [text, comment, string, number] = match;
  if (comment !== undefined) return 'comment';
  if (string !== undefined) return /^\s*:/.test(line.slice((match.index ?? 0) + text.length)) ? 'key' : 'string';
  if (number !== undefined) return 'number';
  if (keywords.has(text)) return 'keyword';
  return /^[A-Z][A-Za-z0-9]*[a-z]/.test(text) ? 'type' : 'plain';
}

function patternOf(found: Language): RegExp {
  const known = patterns.get(found);
  if (known) return known;
  const number = String.raw`\b0x[\da-fA-F]+\b|\b\d[\d_]*(?:\.\d+)?(?:e[+-]?\d+)?\b`;
  const pattern = new RegExp(`(${found.comment})|(${found.strings})|(${number})|[A-Za-z_$][\\w$]*`, 'g');
  patterns.set(found, pattern);
  return pattern;
}

function language(comment: string, strings: string, keywords: ReadonlySet<string>): Language {
  return { comment, strings, keywords };
}

function words(...lines: readonly string[]): ReadonlySet<string> {
  return new Set(lines.flatMap((line) => line.split(' ')));
}
