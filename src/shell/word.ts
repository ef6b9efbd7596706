/**
 * Decodes words of a command: quotes, escapes and braces are undone, everything else is typed.
 *
 * The values of a word are bounded, never guessed: a variable of the script with known values becomes those values, a
 * glob its pattern, and anything else is unknown.
 */
import type {
  DoubleQuotedChild,
  ParameterExpansionPart,
  ParameterOperation,
  ParsedScript,
  SyntaxNode,
  Word,
  WordPart,
} from 'unbash';
import type { Variables } from './variable-values.ts';
import { literalWord } from './literal-word.ts';

/** Upper bound of the words that one brace expansion or variable may become. */
const MAX_ALTERNATIVES = 64;

/** Upper bound of the text that a word may become: `b=$a$a; c=$b$b` doubles at every step. */
const MAX_TEXT_CHARS = 4_096;

const MAX_WORDS = 64;

/** A decoded word. */
export interface ShellWord {
  /** Source text of the word. */
  readonly text: string;
  /** Exact text; absent if anything is expanded at run time. */
  readonly literal?: string;
  /** All possible values, as globs; absent if they are unknown. */
  readonly patterns?: readonly string[];
  /** Some possible values where not all are known; for deny rules only. */
  readonly guesses?: readonly string[];
  /** Folders or paths that contain every value, where the word is the output of a listing. */
  readonly roots?: readonly string[];
  /** Known start of every value. */
  readonly prefix: string;
  /** True if the word may become no word, or several. */
  readonly isSplit: boolean;
  /** True if one of the resulting words may begin with `-`. */
  readonly mayBeFlag: boolean;
  /** True if the word expands to an integer. */
  readonly isInteger?: boolean;
  /** Text with a `0` for each integer, if everything else in the word is literal. */
  readonly skeleton?: string;
}

/** Possible values of one piece of a word. */
interface Piece {
  /** Absent if the piece may be anything. */
  readonly patterns?: readonly string[];
  readonly isLiteral?: boolean;
  readonly isSplit?: boolean;
  /** True if splitting may put any text at the start of a word, whatever precedes this piece. */
  readonly splitsAnywhere?: boolean;
  /** True for all elements of an array: text before them joins the first element only. */
  readonly isList?: boolean;
  readonly isInteger?: boolean;
  readonly skeleton?: string;
  readonly roots?: readonly string[];
  readonly guesses?: readonly string[];
  /** Known start of a piece whose value is otherwise unknown. */
  readonly prefix?: string;
}

/** Variables of the environment that name a folder, with the spelling that path rules use. */
const FOLDER_VARIABLES = new Map([
  ['HOME', '~'],
  ['PWD', '.'],
]);

/** Commit name: never begins with `-`, but may be empty if git fails. */
const COMMIT_NAME = '[0-9a-f]*';

const ANYTHING: Piece = {};

const ANYTHING_SPLIT: Piece = { isSplit: true, splitsAnywhere: true };

/** Decode a word; brace expansion may return several. */
export function decodeWord(word: Word, variables: Variables): readonly ShellWord[] {
  const { parts } = word;
  if (!parts) return [decodePlainWord(word)];
  const variants = expandBraces(parts);
  if (!variants) return [joinPieces(word.text, [ANYTHING_SPLIT])];
  return variants.map((variant) => {
    const found = joinPieces(
      word.text,
      variant.map((part) => (typeof part === 'string' ? literal(part) : pieceOf(part, variables))),
    );
    // An empty alternative of a brace is removed, and the words after it move up.
    return variants.length > 1 && found.literal === '' ? { ...found, literal: undefined, isSplit: true } : found;
  });
}

/** Decode a word without expansions, the most frequent kind. */
function decodePlainWord({ text, value }: Word): ShellWord {
  return literalWord(value, value.startsWith('-'), text);
}

/** Return the assigned text if it is literal. */
export function assignedText(
  { value }: Extract<SyntaxNode, { type: 'Assignment' }>,
  variables: Variables,
): string | undefined {
  return value.type === 'Word' ? decodeWord(value, variables)[0]?.literal : undefined;
}

/** Expand braces into lists of parts. @returns undefined if a brace cannot be expanded here. */
function expandBraces(parts: readonly WordPart[]): readonly (readonly (WordPart | string)[])[] | undefined {
  if (!parts.some(({ type }) => type === 'BraceExpansion')) return [parts];
  let variants: (WordPart | string)[][] = [[]];
  for (const part of parts) {
    const options = part.type === 'BraceExpansion' ? expandBrace(part.text) : [part];
    if (!options || variants.length * options.length > MAX_ALTERNATIVES) return undefined;
    variants = variants.flatMap((variant) => options.map((option) => [...variant, option]));
  }
  return variants;
}

function joinPieces(text: string, joined: readonly Piece[]): ShellWord {
  const pieces = joined.length > 1 ? joined.map((piece) => (piece.isList ? ANYTHING_SPLIT : piece)) : joined;
  let patterns: readonly string[] | undefined = [''];
  for (const piece of pieces) patterns = product(patterns, piece.patterns);
  const guesses = patterns ? undefined : guessesOf(pieces);
  const isLiteral = pieces.every((piece) => piece.isLiteral) && patterns?.length === 1;
  const isSplit = pieces.some((piece) => piece.isSplit);
  const splitsAnywhere = pieces.some((piece) => piece.splitsAnywhere);
  const prefix = patterns ? commonStart(patterns) : literalStart(pieces);
  const startsWithDash = patterns
    ? patterns.some((pattern) => /^[-*?[+@!]/.test(pattern.replaceAll(COMMIT_NAME, '')))
    : prefix === '' || prefix.startsWith('-');
  return {
    text,
    ...(isLiteral && { literal: patterns?.[0] }),
    ...(patterns && { patterns }),
    ...(guesses && { guesses }),
    ...(pieces.length === 1 && pieces[0]?.roots && { roots: pieces[0].roots }),
    prefix,
    isSplit,
    mayBeFlag: isLiteral ? (patterns?.[0] ?? '').startsWith('-') : splitsAnywhere || startsWithDash,
    ...(pieces.length === 1 && pieces[0]?.isInteger && { isInteger: true }),
    ...(pieces.some(({ isInteger, skeleton }) => isInteger ?? skeleton) && { skeleton: skeletonOf(pieces) }),
  };
}

function guessesOf(pieces: readonly Piece[]): readonly string[] | undefined {
  if (!pieces.some((piece) => piece.guesses)) return undefined;
  let guesses: readonly string[] | undefined = [''];
  for (const piece of pieces) guesses = product(guesses, piece.patterns ?? piece.guesses);
  return guesses;
}

function skeletonOf(pieces: readonly Piece[]): string | undefined {
  const texts = pieces.map(
    (piece) => piece.skeleton ?? (piece.isInteger ? '0' : piece.isLiteral && piece.patterns?.[0]),
  );
  return texts.every((text) => typeof text === 'string') ? texts.join('') : undefined;
}

function pieceOf(part: WordPart, variables: Variables): Piece {
  switch (part.type) {
    case 'Literal':
    case 'SingleQuoted':
      return literal(part.value);
    case 'AnsiCQuoted':
      // Bash cuts at NUL and keeps a `\` before a line end; the parser does neither.
      return /\0/.test(part.value) || part.text.includes('\\\n') ? ANYTHING : literal(part.value);
    case 'Glob':
      return { patterns: [part.text], isSplit: true };
    case 'DoubleQuoted':
      return quotedPiece(part.parts, variables);
    case 'SimpleExpansion':
    case 'ParameterExpansion':
      return unquoted(expansionPiece(part, variables));
    case 'ArithmeticExpansion':
      return { isInteger: true };
    case 'CommandExpansion':
      return unquotedOutput(outputPiece(part.script, variables));
    case 'ProcessSubstitution':
      return { prefix: '/dev/fd/' };
    default:
      return ANYTHING_SPLIT;
  }
}

function quotedPiece(parts: readonly DoubleQuotedChild[], variables: Variables): Piece {
  const pieces = parts.map((part): Piece => {
    switch (part.type) {
      case 'Literal':
        return literal(part.value);
      case 'ArithmeticExpansion':
        return { isInteger: true };
      case 'CommandExpansion':
        return outputPiece(part.script, variables);
      default:
        return expansionPiece(part, variables);
    }
  });
  if (pieces.length === 1 && pieces[0]) return pieces[0];
  const whole = joinPieces('', pieces);
  return {
    ...(whole.patterns && { patterns: whole.patterns }),
    isLiteral: whole.literal !== undefined,
    isSplit: whole.isSplit,
    splitsAnywhere: pieces.some((piece) => piece.splitsAnywhere ?? piece.isList),
    prefix: whole.prefix,
    skeleton: whole.skeleton,
    ...(whole.guesses && { guesses: whole.guesses }),
  };
}

/** Decode the output of a substitution. */
function outputPiece(script: ParsedScript | undefined, variables: Variables): Piece {
  if (variables.isIntegerOutput(script)) return { isInteger: true };
  if (variables.isCommitOutput(script)) return { patterns: [COMMIT_NAME] };
  if (isWorkingFolder(script)) return { patterns: ['.'] };
  const roots = variables.rootsOfOutput(script);
  return roots ? { roots } : ANYTHING;
}

/** Decode a variable inside quotes: one word, except for `"$@"` and `"${a[@]}"`. */
function expansionPiece(
  part: { readonly type: 'SimpleExpansion'; readonly text: string } | ParameterExpansionPart,
  variables: Variables,
): Piece {
  if (part.type === 'SimpleExpansion') {
    const name = part.text.slice(1);
    if (name === '@' || name === '*') return ANYTHING_SPLIT;
    return variablePiece(name, variables);
  }
  if (part.prefix === '#') return { isInteger: true };
  if (part.prefix !== undefined) return ANYTHING_SPLIT;
  const isList = part.index !== undefined && /^[@*]$/.test(part.index.text);
  // `"${x:-$@}"` is a list as well.
  if (part.operation && (isList || part.text.includes('@'))) return ANYTHING_SPLIT;
  if (part.operation)
    return part.index
      ? ANYTHING
      : {
          ...defaultPiece(part.operation),
          ...pieceFrom(valuesAfterRemoval(part.operation, variables.valuesOf(part.parameter))),
        };
  if (part.parameter === '@' || part.parameter === '*') return ANYTHING_SPLIT;
  if (part.index?.text === '*') return ANYTHING;
  const piece = variablePiece(part.parameter, variables);
  return isList ? { ...piece, isList, isSplit: true, ...(!piece.patterns && { splitsAnywhere: true }) } : piece;
}

function variablePiece(name: string, variables: Variables): Piece {
  // Assigning one of these variables is reported by itself; if unset, they are the folders the shell started with.
  const values = variables.valuesOf(name);
  const folder = FOLDER_VARIABLES.get(name);
  if (folder !== undefined) return { patterns: values ?? [folder] };
  if (variables.isInteger(name)) return { isInteger: true, ...pieceFrom(values) };
  const roots = values ? undefined : variables.rootsOf(name);
  return roots ? { roots } : pieceFrom(values);
}

/** Decode `${x:-.env}` where x is unknown. */
function defaultPiece(operation: NonNullable<ParameterExpansionPart['operation']>): Piece {
  if (operation.type !== 'Default' || operation.operand.parts) return ANYTHING;
  return { guesses: [operation.operand.value] };
}

function pieceFrom(patterns: readonly string[] | undefined): Piece {
  return patterns ? { patterns } : ANYTHING;
}

/** Outside quotes an output is split at blanks; names of commits have none. */
function unquotedOutput(piece: Piece): Piece {
  return piece.patterns ? { ...piece, isSplit: true } : { ...ANYTHING_SPLIT, ...piece };
}

/** Outside quotes a value is split at blanks and expanded as a glob, and may vanish; a `\\` in it makes it a glob. */
function unquoted(piece: Piece): Piece {
  if (piece.isInteger) return { ...piece, isSplit: true };
  if (piece.patterns && !piece.patterns.some((pattern) => /[\s\\*?[]/.test(pattern)))
    return { ...piece, isSplit: true };
  const guesses = piece.patterns ?? piece.guesses;
  if (guesses) return { ...ANYTHING_SPLIT, guesses };
  return piece.roots ? { ...ANYTHING_SPLIT, roots: piece.roots } : ANYTHING_SPLIT;
}

function literal(value: string): Piece {
  return { patterns: [value], isLiteral: true };
}

function literalStart(pieces: readonly Piece[]): string {
  let start = '';
  for (const piece of pieces) {
    const [only] = piece.patterns ?? [];
    if (only === undefined || piece.patterns?.length !== 1 || piece.isSplit) return start + (piece.prefix ?? '');
    const fixed = only.split(/[*?[]/, 1)[0] ?? '';
    start += fixed;
    if (fixed !== only) return start;
  }
  return start;
}

/** Report whether a substitution only prints the working directory, as `$(pwd)` does. */
function isWorkingFolder(script: ParsedScript | undefined): boolean {
  const [{ command } = {}, ...more] = script?.commands ?? [];
  return (
    more.length === 0 && command?.type === 'Command' && command.name?.text === 'pwd' && command.suffix.length === 0
  );
}

/**
 * Expand one brace.
 *
 * @param text Source text, `{` and `}` included.
 * @returns The texts in order; undefined for nesting, quotes, expansions, and more than 64 words.
 */
function expandBrace(text: string): readonly string[] | undefined {
  const inner = text.slice(1, -1);
  if (!text.startsWith('{') || !text.endsWith('}') || /[{}'"\\$`*?[\]~<>()]/.test(inner)) return undefined;
  const range = /^(-?\d{1,9}|[A-Za-z])\.\.(-?\d{1,9}|[A-Za-z])(?:\.\.(-?\d{1,9}))?$/.exec(inner);
  if (range) return expandRange(range[1] ?? '', range[2] ?? '', range[3]);
  if (!inner.includes(',')) return undefined;
  const words = inner.split(',');
  return words.length > MAX_WORDS ? undefined : words;
}

function expandRange(first: string, last: string, step: string | undefined): readonly string[] | undefined {
  const isLetters = /[A-Za-z]/.test(first);
  if (isLetters !== /[A-Za-z]/.test(last)) return undefined;
  const from = isLetters ? first.charCodeAt(0) : Number(first);
  const to = isLetters ? last.charCodeAt(0) : Number(last);
  // A range across both cases includes punctuation that is special to the shell.
  if (isLetters && from < 97 !== to < 97) return undefined;
  const stride = Math.max(1, Math.abs(Number(step ?? 1)));
  const count = Math.floor(Math.abs(to - from) / stride) + 1;
  if (count > MAX_WORDS) return undefined;
  const direction = to < from ? -stride : stride;
  const width = [first, last].some((end) => /^-?0\d/.test(end)) ? Math.max(first.length, last.length) : 0;
  return Array.from({ length: count }, (_, index) => {
    const value = from + index * direction;
    return isLetters ? String.fromCharCode(value) : String(value).padStart(width, '0');
  });
}

/** Join each start with each end. @returns undefined if either is unknown, or there would be too many. */
function product(
  removeAffix: readonly string[] | undefined,
  right: readonly string[] | undefined,
): readonly string[] | undefined {
  if (!removeAffix || !right || removeAffix.length * right.length > MAX_ALTERNATIVES) return undefined;
  if ((removeAffix[0]?.length ?? 0) + (right[0]?.length ?? 0) > MAX_TEXT_CHARS) return undefined;
  if (right.length === 1 && removeAffix.length === 1) return [`${removeAffix[0] ?? ''}${right[0] ?? ''}`];
  return removeAffix.flatMap((start) => right.map((end) => start + end));
}

/** Return the longest literal start common to all globs. */
function commonStart(patterns: readonly string[]): string {
  const [first = '', ...others] = patterns.map((pattern) => pattern.split(/[*?[]/, 1)[0] ?? '');
  let length = first.length;
  for (const other of others) while (!other.startsWith(first.slice(0, length))) length--;
  return first.slice(0, length);
}

/** Apply `${x#…}` or `${x%…}` to all values. @returns undefined if a result is unknown. */
function valuesAfterRemoval(
  operation: ParameterOperation,
  values: readonly string[] | undefined,
): readonly string[] | undefined {
  if (operation.type !== 'Remove' || !values) return undefined;
  const { operator, operand } = operation;
  const found = values.map((value) => left(value, operator, operand.text));
  return found.every((value) => value !== undefined) ? found : undefined;
}

function left(value: string, operator: '#' | '##' | '%' | '%%', removed: string): string | undefined {
  const slash = value.lastIndexOf('/');
  if (operator === '##' && removed === '*/') return value.slice(slash + 1);
  // A path matched by `**` may end in a file where a folder is expected.
  if (operator === '%' && removed === '/*')
    return value.includes('**') ? undefined : value.slice(0, slash < 0 ? undefined : slash);
  if (!/^[\w./-]+$/.test(removed)) return undefined;
  if (operator.startsWith('%') && value.endsWith(removed)) return value.slice(0, -removed.length);
  if (operator.startsWith('#') && value.startsWith(removed)) return value.slice(removed.length);
  return /[*?[]/.test(value) ? undefined : value;
}
