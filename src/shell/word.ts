/**
 * A word of a command, decoded: quotes, escapes and braces undone, everything else typed.
 *
 * What a word can become is bounded, never guessed: a variable of the script with known values stands
 * for those, a glob for its pattern, and the rest for anything at all.
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
import { writtenWord } from './written-word.ts';

/** Most words one brace expansion or one variable may stand for and still be followed. */
const MAX_ALTERNATIVES = 64;

/** Longest text a word may become and still be followed: `b=$a$a; c=$b$b` doubles at every step. */
const MAX_TEXT_CHARS = 4_096;

const MAX_WORDS = 64;

/** A decoded word. */
export interface ShellWord {
  /** As written. */
  readonly text: string;
  /** The text it is, where it is written out; absent where anything has to be expanded at run time. */
  readonly literal?: string;
  /** Everything it can be, as globs; absent where that cannot be known. */
  readonly patterns?: readonly string[];
  /** Where that is not known: what it may be among others, for deny rules alone. */
  readonly guesses?: readonly string[];
  /** Of the output of a listing: paths at or below which everything lies that it may become. */
  readonly roots?: readonly string[];
  /** What it certainly begins with. */
  readonly prefix: string;
  /** It may become no word, or several. */
  readonly isSplit: boolean;
  /** One of the words it becomes may begin with `-`. */
  readonly mayBeFlag: boolean;
  /** It expands to an integer. */
  readonly isInteger?: boolean;
  /** Where all else is written out: its text with a `0` for each integer. */
  readonly skeleton?: string;
}

/** What one piece of a word can become. */
interface Piece {
  /** Absent: anything. */
  readonly patterns?: readonly string[];
  readonly isLiteral?: boolean;
  readonly isSplit?: boolean;
  /** Splitting may put anything at the start of a word, whatever stands before this piece. */
  readonly splitsAnywhere?: boolean;
  /** Every element of an array: what stands before it stands before the first alone. */
  readonly isList?: boolean;
  readonly isInteger?: boolean;
  readonly skeleton?: string;
  readonly roots?: readonly string[];
  readonly guesses?: readonly string[];
  /** Known start of a piece that is otherwise unknown. */
  readonly prefix?: string;
}

/** Variables of the environment that name a folder, as path rules spell it. */
const FOLDER_VARIABLES = new Map([
  ['HOME', '~'],
  ['PWD', '.'],
]);

/** It begins with no `-`, but may be empty where git fails. */
const COMMIT_NAME = '[0-9a-f]*';

const ANYTHING: Piece = {};

const ANYTHING_SPLIT: Piece = { isSplit: true, splitsAnywhere: true };

/** Decode a word; braces make several of one. */
export function decodeWord(word: Word, variables: Variables): readonly ShellWord[] {
  const { parts } = word;
  if (!parts) return [writtenOut(word)];
  const variants = withoutBraces(parts);
  if (!variants) return [decoded(word.text, [ANYTHING_SPLIT])];
  return variants.map((variant) => {
    const found = decoded(
      word.text,
      variant.map((part) => (typeof part === 'string' ? literal(part) : pieceOf(part, variables))),
    );
    // An empty alternative of a brace is no word at all, and what follows moves up.
    return variants.length > 1 && found.literal === '' ? { ...found, literal: undefined, isSplit: true } : found;
  });
}

/** Most words are of this kind. */
function writtenOut({ text, value }: Word): ShellWord {
  return writtenWord(value, value.startsWith('-'), text);
}

/** What an assignment gives, where that is written out. */
export function assignedText(
  { value }: Extract<SyntaxNode, { type: 'Assignment' }>,
  variables: Variables,
): string | undefined {
  return value.type === 'Word' ? decodeWord(value, variables)[0]?.literal : undefined;
}

/** The part lists after brace expansion; undefined where a brace cannot be expanded here. */
function withoutBraces(parts: readonly WordPart[]): readonly (readonly (WordPart | string)[])[] | undefined {
  if (!parts.some(({ type }) => type === 'BraceExpansion')) return [parts];
  let variants: (WordPart | string)[][] = [[]];
  for (const part of parts) {
    const options = part.type === 'BraceExpansion' ? expandBrace(part.text) : [part];
    if (!options || variants.length * options.length > MAX_ALTERNATIVES) return undefined;
    variants = variants.flatMap((variant) => options.map((option) => [...variant, option]));
  }
  return variants;
}

function decoded(text: string, joined: readonly Piece[]): ShellWord {
  const pieces = joined.length > 1 ? joined.map((piece) => (piece.isList ? ANYTHING_SPLIT : piece)) : joined;
  let patterns: readonly string[] | undefined = [''];
  for (const piece of pieces) patterns = product(patterns, piece.patterns);
  const guesses = patterns ? undefined : guessesOf(pieces);
  const isLiteral = pieces.every((piece) => piece.isLiteral) && patterns?.length === 1;
  const isSplit = pieces.some((piece) => piece.isSplit);
  const splitsAnywhere = pieces.some((piece) => piece.splitsAnywhere);
  const prefix = patterns ? commonStart(patterns) : knownStart(pieces);
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
      // Bash cuts at NUL, and keeps a `\` before a line end; the parser knows of neither.
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
  const whole = decoded('', pieces);
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

/** What is known of a substitution's output. */
function outputPiece(script: ParsedScript | undefined, variables: Variables): Piece {
  if (variables.isIntegerOutput(script)) return { isInteger: true };
  if (variables.isCommitOutput(script)) return { patterns: [COMMIT_NAME] };
  if (isWorkingFolder(script)) return { patterns: ['.'] };
  const roots = variables.rootsOfOutput(script);
  return roots ? { roots } : ANYTHING;
}

/** A variable inside quotes: one word, but for `"$@"` and `"${a[@]}"`. */
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
      : { ...defaultOf(part.operation), ...known(remaining(part.operation, variables.valuesOf(part.parameter))) };
  if (part.parameter === '@' || part.parameter === '*') return ANYTHING_SPLIT;
  if (part.index?.text === '*') return ANYTHING;
  const piece = variablePiece(part.parameter, variables);
  return isList ? { ...piece, isList, isSplit: true, ...(!piece.patterns && { splitsAnywhere: true }) } : piece;
}

function variablePiece(name: string, variables: Variables): Piece {
  // A script that sets one of these is not read-only for that; unset, they are where the shell started.
  const values = variables.valuesOf(name);
  const folder = FOLDER_VARIABLES.get(name);
  if (folder !== undefined) return { patterns: values ?? [folder] };
  if (variables.isInteger(name)) return { isInteger: true, ...known(values) };
  const roots = values ? undefined : variables.rootsOf(name);
  return roots ? { roots } : known(values);
}

/** What `${x:-.env}` is where nobody knows x. */
function defaultOf(operation: NonNullable<ParameterExpansionPart['operation']>): Piece {
  if (operation.type !== 'Default' || operation.operand.parts) return ANYTHING;
  return { guesses: [operation.operand.value] };
}

function known(patterns: readonly string[] | undefined): Piece {
  return patterns ? { patterns } : ANYTHING;
}

/** Outside quotes an output is split at blanks, which the name of a commit has none of. */
function unquotedOutput(piece: Piece): Piece {
  return piece.patterns ? { ...piece, isSplit: true } : { ...ANYTHING_SPLIT, ...piece };
}

/** Outside quotes a value is split at blanks, the name a glob found too, and may vanish; a `\\` in it is a glob. */
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

function knownStart(pieces: readonly Piece[]): string {
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

/** Tell whether a substitution prints the working folder and nothing else: `$(pwd)` is where the shell is. */
function isWorkingFolder(script: ParsedScript | undefined): boolean {
  const [{ command } = {}, ...more] = script?.commands ?? [];
  return (
    more.length === 0 && command?.type === 'Command' && command.name?.text === 'pwd' && command.suffix.length === 0
  );
}

/**
 * What one brace stands for.
 *
 * @param text The brace as written, `{` and `}` included.
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
  // Letters of both cases run through punctuation that is special to the shell.
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

/** Each beginning with each end; undefined where one is not known, or there would be too many. */
function product(
  left: readonly string[] | undefined,
  right: readonly string[] | undefined,
): readonly string[] | undefined {
  if (!left || !right || left.length * right.length > MAX_ALTERNATIVES) return undefined;
  if ((left[0]?.length ?? 0) + (right[0]?.length ?? 0) > MAX_TEXT_CHARS) return undefined;
  if (right.length === 1 && left.length === 1) return [`${left[0] ?? ''}${right[0] ?? ''}`];
  return left.flatMap((start) => right.map((end) => start + end));
}

/** What all globs begin with. */
function commonStart(patterns: readonly string[]): string {
  const [first = '', ...others] = patterns.map((pattern) => pattern.split(/[*?[]/, 1)[0] ?? '');
  let length = first.length;
  for (const other of others) while (!other.startsWith(first.slice(0, length))) length--;
  return first.slice(0, length);
}

/** Values that an operation makes of others; undefined where they cannot be told. */
function remaining(
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
  // With `**`, what looks like a folder may be a file.
  if (operator === '%' && removed === '/*')
    return value.includes('**') ? undefined : value.slice(0, slash < 0 ? undefined : slash);
  if (!/^[\w./-]+$/.test(removed)) return undefined;
  if (operator.startsWith('%') && value.endsWith(removed)) return value.slice(0, -removed.length);
  if (operator.startsWith('#') && value.startsWith(removed)) return value.slice(removed.length);
  return /[*?[]/.test(value) ? undefined : value;
}
