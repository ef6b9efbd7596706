/** Syntax that bash and the parser tokenize differently: a line that contains any of it counts as not understood. */
import type { HereDoc, ParameterExpansionPart, SyntaxNode, Word } from 'unbash';

/** Position of a node in the script. */
export interface Place {
  /** True inside `[[ ]]` or a pattern of `case`, where words are not split and extended patterns are on. */
  readonly isPattern: boolean;
  /** True inside a substitution. */
  readonly isNested: boolean;
}

/**
 * Explain why bash may tokenize a node differently, or return undefined. Examines this node only.
 *
 * @param source Text that the node's positions refer to.
 */
export function ambiguousSyntax(node: SyntaxNode, source: string, { isPattern, isNested }: Place): string | undefined {
  switch (node.type) {
    case 'Word':
      return (!isPattern && skipsText(node)) || mayContinue(node, source) ? unparsableText(node.text) : undefined;
    case 'ParameterExpansion':
      return hasAmbiguousQuotes(node) ? unparsableText(node.text) : undefined;
    case 'CommandExpansion':
    case 'ProcessSubstitution':
    case 'ArithmeticCommandExpansion':
      // Within backquotes bash joins lines before it looks for comments and here-documents.
      return !node.script || /^`[^]*\\\n/.test(node.text) ? unparsableText(node.text) : undefined;
    case 'HereDoc':
      return isNested && mayEndElsewhere(node, source) ? unparsableText('<<') : undefined;
    default:
      return undefined;
  }
}

function unparsableText(text: string): string {
  return `"${text}" cannot be parsed`;
}

/** Syntax that never occurs unquoted in a word that the parser has read completely. */
const UNPARSED_SYNTAX = /[`()<>;&|]|\$[\w({['"@*#?!$-]/;

/** Report whether the parser skipped text: in `a=(1 2)b[$(c)]` it does not see `$(c)`, which bash runs. */
function skipsText({ parts, text }: Word): boolean {
  return !parts && UNPARSED_SYNTAX.test(text.replace(/\\[^]/g, ''));
}

/**
 * Report whether the word may continue: the parser reads `#b` in `<(a)#b` as a comment, bash as part of the word. The
 * same holds for a joined line.
 */
function mayContinue({ parts, end }: Word, source: string): boolean {
  return parts?.at(-1)?.type === 'ProcessSubstitution' && /[#\\]/.test(source[end] ?? '');
}

/** Report whether the here-document may continue after the substitution that contains it: `$(cat <<E)`. */
function mayEndElsewhere({ end }: HereDoc, source: string): boolean {
  return /[)`]/.test(source.slice(end).split('\n', 1)[0] ?? '');
}

/**
 * Report ambiguous quotes: in double quotes and here-documents `'` quotes nothing in `${x:-'$(c)'}`, and in patterns
 * `$'…'` is quoted text that may contain a `}`.
 */
function hasAmbiguousQuotes({ text, operation }: ParameterExpansionPart): boolean {
  const inner = operation ? text.slice(2) : '';
  return inner.includes("'") && /["$`]/.test(inner);
}

/** Ambiguous anywhere in a script. */
const AMBIGUOUS_ANYWHERE: readonly RegExp[] = [
  // `$$` is a parameter, so the `{` after it begins no expansion.
  /(?<!\\)(?:\\\\)*\$\$\{/,
  // Inside `[[ ]]` bash reads the number as a word, the parser as part of a redirection.
  /\d[<>]\(/,
  // A sub-shell or arithmetic: bash decides by what follows.
  /[<>]\([ \t]*\(/,
  // In a regular expression group, inside a substitution in double quotes, bash expands the contents of `$'…'`.
  /=~[^\n]*\$['"]/,
  // A comment begins only where a word may, which the previous line decides.
  /\\\n[ \t]*#/,
];

/**
 * Ambiguous inside other syntax. The search has two steps because one expression for both would scan the rest of the
 * text from every possible start.
 */
const AMBIGUOUS_WITHIN: readonly { readonly outer: RegExp; readonly inner: RegExp }[] = [
  // Quoted text may contain the end of the expansion. In a message (`${a?…}`), `<(` is a process substitution if an
  // expansion or a quote is next to it.
  { outer: /\$\{[^}]*/g, inner: /\$['"]|[<>]\(/ },
  // Arithmetic or sub-shells: bash decides by what follows, and quotes and here-documents differ in the two.
  { outer: /\(\((?:(?!\)\))[^])*/g, inner: /<<|['"]/ },
  // Backquotes in double quotes remove one level of backslashes; in `${x+…}` bash and the parser disagree on which.
  { outer: /`[^`]*`?/g, inner: /\\["']/ },
];

/** Explain why bash may tokenize a script differently, or return undefined. */
export function ambiguousText(source: string): string | undefined {
  const isUnsure =
    AMBIGUOUS_ANYWHERE.some((spelling) => spelling.test(source)) ||
    AMBIGUOUS_WITHIN.some(({ outer, inner }) => source.match(outer)?.some((text) => inner.test(text.slice(2))));
  return isUnsure ? 'bash may parse the command differently' : undefined;
}
