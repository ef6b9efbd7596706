/**
 * Words that a command hands to the program it runs and that do not stand among its own: xargs and parallel take them
 * from their input, find and fd from what they find. For deny and ask rules.
 */
import type { Command, SyntaxNode } from 'unbash';
import { findStarts, printedWords, producerWords } from './fed-words.ts';
import { ANY_OPERANDS, ANY_TEXT, ANY_WORDS } from './meant-specs.ts';
import { isFinderName, isSupplierName, takesNextWord } from './program-facts.ts';
import { recordOf } from './programs/index.ts';
import { basename } from './spellings.ts';
import type { Variables } from './variable-values.ts';
import type { ShellWord } from './word.ts';

/** The words of one command with those that it supplies. */
export interface SuppliedWords {
  /** With words that stand in the script, one variant for each way they may be divided. */
  readonly known: readonly (readonly string[])[];
  /** With a mark where a word comes that nobody can know, one variant for each form. @param texts Its own words, marks in them. */
  open(texts: readonly string[]): readonly (readonly string[])[];
}

/** A command that may supply words. */
interface SupplyingCommand {
  readonly node: Command;
  /** Decoded, the program's first. */
  readonly words: readonly ShellWord[];
  /** The commands that are piped into it, first to last. */
  readonly producers: readonly SyntaxNode[];
  /** Only paths come in by its input. */
  readonly isPathInput: boolean;
}

/** How a command hands words on. */
interface Supplier {
  /** What is replaced by a word; where none of the words holds it, words are appended. */
  readonly mark: RegExp;
  readonly mayAppend: boolean;
  /** The place of the first of its words that is none of the program's. */
  readonly end: number;
}

/** Variants with known words that are tried. */
const MAX_VARIANTS = 16;

const BRACES = /\{\}/g;

/** Marks of parallel for one of its arguments, or for a part of it. */
const PARALLEL_MARK = /\{[+-]?\d*(?:\.|\/{1,2}|\/\.|#|%)?\}/g;

/** The arguments of parallel stand behind this word. */
const PARALLEL_ARGUMENTS = /^:::\+?$/;

/** Forms of many words: in the place of a mark stands one. */
const ANY_NUMBER: ReadonlySet<string> = new Set([ANY_WORDS, ANY_OPERANDS]);

/** An option of xargs that says where one argument ends. */
const DELIMITER = /^(?:-[rtpox0]*d|--delimiter)/;

/** Find the words that a command supplies. @returns undefined where it supplies none. */
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
  const found = supplier.mayAppend ? takenTexts(texts, producer) : foundTexts(words);
  return {
    known: printed.slice(0, MAX_VARIANTS).map((_, at) => supplied(texts, supplier, printed.slice(at))),
    open: (marked) => {
      const isMarked = holdsMark(marked, supplier);
      const forms = found ?? [ANY_WORDS];
      return forms.map((form) => supplied(marked, supplier, [isMarked && ANY_NUMBER.has(form) ? ANY_TEXT : form]));
    },
  };
}

/** Whether the program that a command runs may come by its input: `xargs sudo`, `parallel`. */
export function takesInput(texts: readonly string[]): boolean {
  const at = texts.findIndex(isTaker);
  return at >= 0 && (isParallel(texts[at]) || texts.slice(at + 1).some((text) => !text.startsWith('-')));
}

function supplierOf(texts: readonly string[]): Supplier | undefined {
  const at = texts.findIndex(isTaker);
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

/** Tell whether a word is a program that makes arguments of its input. */
function isTaker(text: string): boolean {
  return isSupplierName(basename(text));
}

/** What `xargs -I` puts its input in the place of. */
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

/** The words that xargs and parallel take from find, in every form; undefined where they may be anything. */
function takenTexts(texts: readonly string[], producer: readonly ShellWord[]): readonly string[] | undefined {
  const taker = texts.slice(texts.findIndex(isTaker));
  const found = foundTexts(producer);
  if (!found || takesWholeLines(taker)) return found;
  // A part of a path is seldom an option where find looks for plain names: `find . -name '*.pyc' | xargs rm`.
  const names = producer.filter((_, at) => /^-i?name$/.test(producer[at - 1]?.literal ?? ''));
  const isPlain = names.length > 0 && names.every(({ literal }) => /^[\w.*]+$/.test(literal ?? ''));
  return isPlain && !takerOptions(taker).some((option) => DELIMITER.test(option)) ? [ANY_OPERANDS] : undefined;
}

/** Whether xargs makes one argument of a whole path, blanks in it included. Of parallel nobody knows what its marks cut off. */
function takesWholeLines(taker: readonly string[]): boolean {
  if (isParallel(taker[0])) return false;
  const options = takerOptions(taker);
  const delimiters = options.filter((option) => DELIMITER.test(option));
  if (delimiters.length > 0) return delimiters.every((option) => /(?:\\n|\n)$/.test(option));
  if (options.some((option) => /^(?:-[rtpox]*0|--null$)/.test(option))) return true;
  // -n and -L take -I back.
  const isReplaced = options.some((option) => /^(?:-I|--replace=)/.test(option));
  return isReplaced && !options.some((option) => /^(?:-[nLl]|--max-(?:args|lines))/.test(option));
}

/** The options of xargs or parallel, each with its value. */
function takerOptions([program = '', ...rest]: readonly string[]): readonly string[] {
  const options: string[] = [];
  for (let at = 0; rest[at]?.startsWith('-') === true; at++) {
    const option = rest[at] ?? '';
    const hasValue = takesNextWord(basename(program), option);
    options.push(hasValue ? `${option}${rest[++at] ?? ''}` : option);
  }
  return options;
}

/** What find prints, where it begins in one folder: that folder as written, and paths below it, which are no options. */
function foundTexts(finder: readonly ShellWord[]): readonly string[] | undefined {
  const [program, first] = finder;
  if (basename(program?.literal ?? '') !== 'find') return undefined;
  const [start, ...more] = findStarts(finder);
  const isKnown = finder.every(({ literal }) => literal !== undefined) && more.length === 0;
  // Behind `-L` its folders are not looked for; of quotes, backslashes and blanks xargs makes other words.
  const isPlain = !/^-(?:[HLPODf]|files0)/.test(first?.literal ?? '') && !/[\s'"\\]/.test(start?.literal ?? '');
  if (!isKnown || !isPlain || start?.literal === undefined) return undefined;
  return [start.literal, `${start.literal.replace(/\/$/, '')}/${ANY_TEXT}`];
}
