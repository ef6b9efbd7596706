/**
 * Words that a command hands to the program it runs and that do not stand among its own: xargs and parallel take them
 * from their input, find and fd from what they find. For deny and ask rules.
 */
import type { Command, SyntaxNode } from 'unbash';
import { findStarts, isTaker, printedWords, producerWords } from './fed-words.ts';
import { ANY_TEXT, ANY_WORDS } from './meant-specs.ts';
import { basename, FINDERS } from './spellings.ts';
import type { Variables } from './variable-values.ts';
import type { ShellWord } from './word.ts';

/** The words of one command with those that it supplies. */
export interface SuppliedWords {
  /** With words that stand in the script, one variant for each way they may be divided. */
  readonly known: readonly (readonly string[])[];
  /** With a mark where a word comes that nobody can know. @param texts Its own words, marks in them. */
  open(texts: readonly string[]): readonly string[];
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

/** Options of find and fd behind which a program stands. */
const RUNS_NEXT = /^-(?:exec|execdir|ok|okdir|x|X|-exec|-exec-batch)$/;

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
  const found = foundText(words, isPathInput ? producerWords(producers[0], variables) : []);
  return {
    known: printed.slice(0, MAX_VARIANTS).map((_, at) => supplied(texts, supplier, printed.slice(at))),
    open: (marked) => supplied(marked, supplier, [found ?? (holdsMark(marked, supplier) ? ANY_TEXT : ANY_WORDS)]),
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
  const runs = FINDERS.test(basename(texts[0] ?? '')) && texts.some((text) => RUNS_NEXT.test(text));
  return runs ? { mark: BRACES, mayAppend: false, end: texts.length } : undefined;
}

function isParallel(text: string | undefined): boolean {
  return basename(text ?? '') === 'parallel';
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

/** A path as find prints it, where it begins in one folder: it is no option, and seldom a sub-command. */
function foundText(words: readonly ShellWord[], producer: readonly ShellWord[]): string | undefined {
  const finder = [words, producer].find(([first]) => basename(first?.literal ?? '') === 'find');
  const [start, ...more] = finder ? findStarts(finder) : [];
  const isKnown = finder?.every(({ literal }) => literal !== undefined) === true && more.length === 0;
  if (!isKnown || start?.literal === undefined) return undefined;
  return start.literal.endsWith('/') ? `${start.literal}${ANY_TEXT}` : `${start.literal}/${ANY_TEXT}`;
}
