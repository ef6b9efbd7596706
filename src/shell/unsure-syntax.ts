/**
 * Spellings that bash takes apart in other places than the parser: a line that holds one is not understood.
 */
import type { HereDoc, ParameterExpansionPart, SyntaxNode, Word } from 'unbash';

/** Where a node stands. */
export interface Place {
  /** Inside `[[ ]]` or a pattern of `case`, where words are not split and extended patterns are on. */
  readonly isPattern: boolean;
  /** In a substitution. */
  readonly isNested: boolean;
}

/**
 * Why bash may take a node apart in other places, or undefined; looks at this node alone.
 *
 * @param source The text that its positions count in.
 */
export function unsureSyntax(node: SyntaxNode, source: string, { isPattern, isNested }: Place): string | undefined {
  switch (node.type) {
    case 'Word':
      return (!isPattern && holdsUnreadText(node)) || mayGoOn(node, source) ? unsure(node.text) : undefined;
    case 'ParameterExpansion':
      return holdsUnsureQuotes(node) ? unsure(node.text) : undefined;
    case 'CommandExpansion':
    case 'ProcessSubstitution':
    case 'ArithmeticCommandExpansion':
      // Within backquotes bash joins lines before it looks for comments and here-documents.
      return !node.script || /^`[^]*\\\n/.test(node.text) ? unsure(node.text) : undefined;
    case 'HereDoc':
      return isNested && mayEndElsewhere(node, source) ? unsure('<<') : undefined;
    default:
      return undefined;
  }
}

function unsure(text: string): string {
  return `"${text}" cannot be parsed`;
}

/** What no word holds unquoted that the parser has read through. */
const UNREAD_SYNTAX = /[`()<>;&|]|\$[\w({['"@*#?!$-]/;

/** The parser passes over text in `a=(1 2)b[$(c)]`, and bash runs c. */
function holdsUnreadText({ parts, text }: Word): boolean {
  return !parts && UNREAD_SYNTAX.test(text.replace(/\\[^]/g, ''));
}

/** The parser takes `#b` in `<(a)#b` for a comment, bash for the end of a word; so it does where a line is joined. */
function mayGoOn({ parts, end }: Word, source: string): boolean {
  return parts?.at(-1)?.type === 'ProcessSubstitution' && /[#\\]/.test(source[end] ?? '');
}

/** The text of a here-document may stand behind the substitution in which it begins: `$(cat <<E)`. */
function mayEndElsewhere({ end }: HereDoc, source: string): boolean {
  return /[)`]/.test(source.slice(end).split('\n', 1)[0] ?? '');
}

/**
 * In double quotes and here-documents `'` quotes nothing in `${x:-'$(c)'}`, and in patterns `$'…'` is quoted text that
 * may hold a `}`.
 */
function holdsUnsureQuotes({ text, operation }: ParameterExpansionPart): boolean {
  const inner = operation ? text.slice(2) : '';
  return inner.includes("'") && /["$`]/.test(inner);
}

/** Spellings that count wherever they stand. */
const UNSURE_TEXTS: readonly RegExp[] = [
  // `$$` is a parameter, and what follows it no expansion.
  /(?<!\\)(?:\\\\)*\$\$\{/,
  // Inside `[[ ]]` bash takes the number for a word, the parser for a part of a redirection.
  /\d[<>]\(/,
  // A sub-shell or arithmetic: bash decides by what follows.
  /[<>]\([ \t]*\(/,
  // In the group of a regular expression bash expands what stands in `$'…'`, within a substitution in double quotes.
  /=~[^\n]*\$['"]/,
  // A comment begins only where a word may, which the line before decides.
  /\\\n[ \t]*#/,
];

/**
 * Spellings that count within others. They are found in two steps: one expression for both would go through the rest of
 * the text from each place where it might begin.
 */
const UNSURE_WITHIN: readonly { readonly outer: RegExp; readonly inner: RegExp }[] = [
  // Quoted text that may hold the end of the expansion. In a message (`${a?…}`), `<(` is a process substitution where an
  // expansion or a quote stands beside it.
  { outer: /\$\{[^}]*/g, inner: /\$['"]|[<>]\(/ },
  // Arithmetic, or sub-shells: bash decides by what follows, and quotes and here-documents differ in the two.
  { outer: /\(\((?:(?!\)\))[^])*/g, inner: /<<|['"]/ },
  // Backquotes within double quotes lose one level of backslashes, and in `${x+…}` bash and the parser disagree which.
  { outer: /`[^`]*`?/g, inner: /\\["']/ },
];

/** Why bash may take a script apart in other places, or undefined. */
export function unsureText(source: string): string | undefined {
  const isUnsure =
    UNSURE_TEXTS.some((spelling) => spelling.test(source)) ||
    UNSURE_WITHIN.some(({ outer, inner }) => source.match(outer)?.some((text) => inner.test(text.slice(2))));
  return isUnsure ? 'bash may read the command otherwise' : undefined;
}
