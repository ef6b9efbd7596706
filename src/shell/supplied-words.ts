/**
 * Words that a command adds to those of the program it runs: xargs and parallel read them from their input, find and fd
 * use the paths they find. For deny and ask rules.
 */
import type { Command, SyntaxNode } from 'unbash';
import { findStarts, printedWords, producerWords } from './input-words.ts';
import { ANY_OPERANDS, ANY_TEXT, ANY_WORDS } from './semantic-match.ts';
import { isFinderName, isSupplierName, takesNextWord } from './program-facts.ts';
import { recordOf } from './programs/index.ts';
import { basename } from './spellings.ts';
import type { Variables } from './variable-values.ts';
import type { ShellWord } from './word.ts';

/** Words of one command, combined with those that it supplies. */
export interface SuppliedWords {
  /** Variants with words literal in the script, one for each way to divide them. */
  readonly known: readonly (readonly string[])[];
  /**
   * Variants with a placeholder for each unknown word, one for each form.
   *
   * @param texts Its own words, with placeholders.
   */
  open(texts: readonly string[]): readonly (readonly string[])[];
}

/** A command that may supply words. */
interface SupplyingCommand {
  readonly node: Command;
  /** Decoded, program first. */
  readonly words: readonly ShellWord[];
  /** Commands piped into it, in order. */
  readonly producers: readonly SyntaxNode[];
  /** True if its input consists of paths only. */
  readonly isPathInput: boolean;
}

/** Syntax by which a command inserts words. */
interface Supplier {
  /** Text that is replaced by a word; if no word contains it, words are appended. */
  readonly mark: RegExp;
  readonly mayAppend: boolean;
  /** Index of the first word that does not belong to the inner command. */
  readonly end: number;
}

/** Upper bound of the variants with known words. */
const MAX_VARIANTS = 16;

const BRACES = /\{\}/g;

/** Replacement strings of parallel, for one argument or a part of it. */
const PARALLEL_MARK = /\{[+-]?\d*(?:\.|\/{1,2}|\/\.|#|%)?\}/g;

/** Separator before the arguments of parallel. */
const PARALLEL_ARGUMENTS = /^:::\+?$/;

/** Placeholders for several words; a replacement string receives one. */
const ANY_NUMBER: ReadonlySet<string> = new Set([ANY_WORDS, ANY_OPERANDS]);

/** Options of xargs that set the argument delimiter. */
const DELIMITER = /^(?:-[rtpox0]*d|--delimiter)/;

/** Find the words that a command supplies. @returns undefined if it supplies none. */
export function suppliedWords(
  { node, words, producers, isPathInput }: SupplyingCommand,
  variables: Variables,
): SuppliedWords | undefined {
  const texts = words.map(({ literal, text }) => literal ?? text);
  const supplier = supplierOf(texts);
  if (!supplier) return undefined;
  const arguments_ = texts.slice(supplier.end + 1).filter((text) => !PARALLEL_ARGUMENTS.test(text));
  const printed = supplier.mayAppend ? [...printedWords(node, producers, variables), ...arguments_] : [];
  const producer = isPathInput ? producerWords(producers[0], variables) : [];
  const found = supplier.mayAppend ? inputForms(texts, producer) : findOutputForms(words);
  return {
    known: printed.slice(0, MAX_VARIANTS).map((_, at) => supplied(texts, supplier, printed.slice(at))),
    open: (marked) => {
      const isMarked = holdsMark(marked, supplier);
      const forms = found ?? [ANY_WORDS];
      return forms.map((form) => supplied(marked, supplier, [isMarked && ANY_NUMBER.has(form) ? ANY_TEXT : form]));
    },
  };
}

/** Report whether the program to run may come from standard input: `xargs sudo`, `parallel`. */
export function takesInput(texts: readonly string[]): boolean {
  const at = texts.findIndex(isInputToArguments);
  return at >= 0 && (isParallel(texts[at]) || texts.slice(at + 1).some((text) => !text.startsWith('-')));
}

function supplierOf(texts: readonly string[]): Supplier | undefined {
  const at = texts.findIndex(isInputToArguments);
  if (at >= 0) {
    if (!isParallel(texts[at])) return { mark: inputMark(texts), mayAppend: true, end: texts.length };
    const end = texts.findIndex((text) => text.startsWith(':::'));
    return { mark: PARALLEL_MARK, mayAppend: true, end: end < 0 ? texts.length : end };
  }
  const finder = basename(texts[0] ?? '');
  const runs = isFinderName(finder) && texts.some((text) => recordOf(finder)?.runsBehind?.test(text));
  return runs ? { mark: BRACES, mayAppend: false, end: texts.length } : undefined;
}

function isParallel(text: string | undefined): boolean {
  return basename(text ?? '') === 'parallel';
}

/** Report whether the program turns its input into arguments. */
function isInputToArguments(text: string): boolean {
  return isSupplierName(basename(text));
}

/** Return the pattern of the text that xargs replaces: the value of `-I`, or `{}`. */
function inputMark(texts: readonly string[]): RegExp {
  const at = texts.findIndex((text) => /^(?:-I|--replace=)/.test(text));
  const given = at < 0 ? undefined : texts[at]?.replace(/^(?:-I|--replace=)/, '') || texts[at + 1];
  return given === undefined ? BRACES : new RegExp(given.replace(/[^\w]/g, '\\$&'), 'g');
}

function holdsMark(texts: readonly string[], { mark }: Supplier): boolean {
  return texts.some((text) => text.search(mark) >= 0);
}

function supplied(texts: readonly string[], supplier: Supplier, words: readonly string[]): readonly string[] {
  const own = texts.slice(0, supplier.end);
  if (holdsMark(own, supplier)) return own.map((text) => text.replace(supplier.mark, () => words[0] ?? ''));
  return supplier.mayAppend ? [...own, ...words] : own;
}

/** List the forms of words that xargs and parallel read from find. @returns undefined if they may be anything. */
function inputForms(texts: readonly string[], producer: readonly ShellWord[]): readonly string[] | undefined {
  const taker = texts.slice(texts.findIndex(isInputToArguments));
  const found = findOutputForms(producer);
  if (!found || takesWholePaths(taker)) return found;
  // With plain file names, a part of a split path is unlikely to be an option: `find . -name '*.pyc' | xargs rm`.
  const names = producer.filter((_, at) => /^-i?name$/.test(producer[at - 1]?.literal ?? ''));
  const isPlain = names.length > 0 && names.every(({ literal }) => /^[\w.*]+$/.test(literal ?? ''));
  return isPlain && !optionsWithValues(taker).some((option) => DELIMITER.test(option)) ? [ANY_OPERANDS] : undefined;
}

/**
 * Report whether xargs makes one argument of a whole path, blanks included. For parallel this is unknown, since its
 * replacement strings may cut paths.
 */
function takesWholePaths(taker: readonly string[]): boolean {
  if (isParallel(taker[0])) return false;
  const options = optionsWithValues(taker);
  const delimiters = options.filter((option) => DELIMITER.test(option));
  if (delimiters.length > 0) return delimiters.every((option) => /(?:\\n|\n)$/.test(option));
  if (options.some((option) => /^(?:-[rtpox]*0|--null$)/.test(option))) return true;
  // -n and -L override -I.
  const isReplaced = options.some((option) => /^(?:-I|--replace=)/.test(option));
  return isReplaced && !options.some((option) => /^(?:-[nLl]|--max-(?:args|lines))/.test(option));
}

/** List the options of xargs or parallel, each joined with its value. */
function optionsWithValues([program = '', ...rest]: readonly string[]): readonly string[] {
  const options: string[] = [];
  for (let at = 0; rest[at]?.startsWith('-') === true; at++) {
    const option = rest[at] ?? '';
    const hasValue = takesNextWord(basename(program), option);
    options.push(hasValue ? `${option}${rest[++at] ?? ''}` : option);
  }
  return options;
}

/**
 * List the forms of find's output for a single start folder: the folder as written, and paths below it, which are never
 * options.
 *
 * @returns undefined if the start is not known.
 */
function findOutputForms(finder: readonly ShellWord[]): readonly string[] | undefined {
  const [program, first] = finder;
  if (basename(program?.literal ?? '') !== 'find') return undefined;
  const [start, ...more] = findStarts(finder);
  const isKnown = finder.every(({ literal }) => literal !== undefined) && more.length === 0;
  // After `-L` and the like the start folders are not parsed; xargs splits quotes, backslashes and blanks.
  const isPlain = !/^-(?:[HLPODf]|files0)/.test(first?.literal ?? '') && !/[\s'"\\]/.test(start?.literal ?? '');
  if (!isKnown || !isPlain || start?.literal === undefined) return undefined;
  return [start.literal, `${start.literal.replace(/\/$/, '')}/${ANY_TEXT}`];
}
