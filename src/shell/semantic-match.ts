/**
 * Matches rules by meaning, whatever the order of options and operands: `rm -rf *` matches `rm x --force -R`, too.
 *
 * For deny and ask rules only, so doubtful cases match. Words with unknown parts may become the words of a rule;
 * callers treat such a match as a separate answer.
 */
import { matchesWildcard } from '../base/wildcard.ts';
import { isMessage, takesNextWord } from './program-facts.ts';
import { findRecord, subcommandOf } from './programs/index.ts';

/** Placeholder within a word: any text. A control character, which no judged command contains. */
export const ANY_TEXT = '\u0001';

/** Placeholder for any number of words. */
export const ANY_WORDS = '\u0002';

/** Placeholder for any number of words, none of them an option. */
export const ANY_OPERANDS = '\u0003';

/** Matcher compiled from specs. @returns The first spec that a command's words, program first, match. */
export type SemanticMatcher = (words: readonly string[]) => string | undefined;

interface ParsedSpec {
  readonly spec: string;
  readonly program: string;
  readonly operands: readonly string[];
  readonly options: readonly { readonly text: string; readonly place: number }[];
  /** True if more operands may follow. */
  readonly isOpen: boolean;
  /** True if there are only literal operands: such a spec matches more than its text only where words are unknown. */
  readonly isPlain: boolean;
}

/** Letters that are short for a long option in most programs. */
const LETTERS: Readonly<Record<string, string>> = { f: 'force', r: 'recursive', R: 'recursive', g: 'global' };

/** Upper bound of the words of a command that are examined. */
const MAX_WORDS = 64;

/**
 * Compile specs. One-word specs are left out, and exact specs without options apply only where a word is unknown: they
 * match nothing else beyond their text.
 */
export function compileSemanticMatcher(specs: readonly string[]): SemanticMatcher {
  const meanings = specs.flatMap(parseSpec);
  const general = indexByProgram(meanings.filter(({ isPlain }) => !isPlain));
  // Kept apart so that thousands of exact rules cost nothing where they cannot match.
  const plain = indexByProgram(meanings.filter(({ isPlain }) => isPlain));
  return (words) => {
    const examined = words.slice(0, MAX_WORDS);
    return (
      findIn(general, examined) ??
      (plain.size > 0 && examined.some(hasPlaceholder) ? findIn(plain, examined) : undefined)
    );
  };
}

type ProgramIndex = ReadonlyMap<string, (words: readonly string[]) => Iterable<ParsedSpec>>;

function indexByProgram(meanings: readonly ParsedSpec[]): ProgramIndex {
  const byProgram = new Map<string, ParsedSpec[]>();
  for (const meaning of meanings) append(byProgram, meaning.program.includes('*') ? '*' : meaning.program, meaning);
  return new Map([...byProgram].map(([program, list]) => [program, indexOf(list)]));
}

function findIn(indexes: ProgramIndex, looked: readonly string[]): string | undefined {
  const [own, any] = [indexes.get(looked[0] ?? ''), indexes.get('*')];
  if (!own && !any) return undefined;
  const given = optionsOf(looked);
  const candidates = [...(own?.(looked) ?? []), ...(any?.(looked) ?? [])];
  return candidates.find((meaning) => isSemanticMatch(meaning, looked, given))?.spec;
}

/** Index the rules of one program by the literal start of their first operand, since most rules name other operands. */
function indexOf(meanings: readonly ParsedSpec[]): (words: readonly string[]) => Iterable<ParsedSpec> {
  const byHead = new Map<string, ParsedSpec[]>();
  for (const meaning of meanings) append(byHead, meaning.operands[0]?.split('*', 1)[0] ?? '', meaning);
  const lengths = [...new Set([...byHead.keys()].map((head) => head.length))];
  return (words) => {
    // An alias or an unknown word begins differently.
    if (findRecord(words[0] ?? '')?.subcommandNames || words.some(hasPlaceholder)) return meanings;
    const heads = new Set(words.flatMap((word) => lengths.map((length) => word.slice(0, length))));
    return [...heads].flatMap((head) => byHead.get(head) ?? []);
  };
}

function append<Item>(lists: Map<string, Item[]>, key: string, item: Item): void {
  const list = lists.get(key);
  if (list) list.push(item);
  else lists.set(key, [item]);
}

function parseSpec(spec: string): readonly ParsedSpec[] {
  const text = spec.trim().replace(/\s*(?::\*| \*)$/, '');
  const words = text.split(/\s+/);
  const [program = '', ...rest] = words;
  const isOption = (word: string) => /^-./.test(word) && word !== '--';
  const options = words.flatMap((word, place) => (place > 0 && isOption(word) ? [{ text: word, place }] : []));
  const isOpen = text !== spec.trim() || text.endsWith('*');
  if (rest.length === 0) return [];
  const operands = rest.filter((word) => !isOption(word) && word !== '--');
  return [{ spec, program, operands, options, isOpen, isPlain: !isOpen && options.length === 0 }];
}

function isSemanticMatch(
  { program, operands, options, isOpen: takesMore }: ParsedSpec,
  words: readonly string[],
  given: ReadonlySet<string>,
): boolean {
  if (!matchesWildcard(program, words[0] ?? '')) return false;
  return options.every((option) => isGiven(option, given, words)) && operandsMatch(operands, takesMore, words);
}

/** List the options of a command: letters as their long names, words without their values. */
function optionsOf(words: readonly string[]): ReadonlySet<string> {
  const given = writtenOptions(words);
  // `git branch -D` is short for both.
  if (given.has('-D')) given.add('--delete').add('--force');
  else if (given.has('--delete') && given.has('--force')) given.add('-D');
  return given;
}

function writtenOptions(words: readonly string[]): Set<string> {
  const end = words.indexOf('--');
  const given = new Set<string>();
  for (const [at, word] of words.slice(0, end < 0 ? words.length : end).entries()) {
    // `git push origin +main` forces.
    if (words[0] === 'git' && /^\+./.test(word)) given.add('--force');
    if (!/^-./.test(word) || isMessage(words[0] ?? '', words[at - 1])) continue;
    given.add(word);
    if (word.startsWith('--')) given.add(word.replace(/=.*/s, ''));
    else for (const letter of lettersOf(word)) given.add(longNameOfLetter(letter, words));
  }
  return given;
}

function lettersOf(bundle: string): readonly string[] {
  const letters = /^-([a-zA-Z0-9]+)/.exec(bundle)?.[1] ?? '';
  return letters.length === 1 ? [letters] : [...new Set(letters)];
}

function longNameOfLetter(letter: string, words: readonly string[]): string {
  const [program = '', subcommand = ''] = words;
  const own = subcommandOf(program, subcommand)?.letters ?? findRecord(program)?.letters;
  const name = own?.[letter] ?? LETTERS[letter];
  return name === undefined ? `-${letter}` : `--${name}`;
}

function isGiven(
  { text, place }: ParsedSpec['options'][number],
  given: ReadonlySet<string>,
  words: readonly string[],
): boolean {
  if (given.has(text) || words.includes(ANY_WORDS) || mayBeWord(words[place] ?? '', text)) return true;
  if (text.endsWith('*'))
    return [...given].some((option) => matchesWildcard(text, option) || isAbbreviation(option, text));
  if (text.startsWith('--')) return [...given].some((option) => isAbbreviation(option, text));
  // `-rf` may be `-f --recursive`; `-destroy` is one word.
  return text.length <= 5 && lettersOf(text).every((letter) => isOptionGiven(longNameOfLetter(letter, words), given));
}

function isOptionGiven(meaning: string, given: ReadonlySet<string>): boolean {
  return given.has(meaning) || [...given].some((option) => isAbbreviation(option, meaning));
}

/** Report whether an option abbreviates another: `--forc` for `--force`; `--f` is ambiguous. */
function isAbbreviation(option: string, whole: string): boolean {
  // `--force` does not abbreviate `--force-with-lease`.
  return /^--../.test(option) && whole.startsWith(option) && whole[option.length] !== '-';
}

/** Report whether the operands begin with those of the rule, skipping options and their possible values. */
function operandsMatch(operands: readonly string[], isOpen: boolean, words: readonly string[]): boolean {
  const [program = ''] = words;
  const failed = new Set<number>();
  const from = (at: number, next: number, isPastOptions: boolean): boolean => {
    const key = at * (operands.length + 1) + next;
    if (failed.has(key)) return false;
    const found = step(at, next, isPastOptions);
    if (!found) failed.add(key);
    return found;
  };
  const step = (at: number, next: number, isPastOptions: boolean): boolean => {
    const word = words[at];
    const wanted = operands[next];
    if (wanted === undefined && isOpen) return true;
    if (word === undefined) return wanted === undefined || operands.slice(next).every((rest) => rest === '*');
    if (word === ANY_WORDS || word === ANY_OPERANDS) return true;
    if (word === '--' && !isPastOptions) return from(at + 1, next, true);
    if (isSkipped(program, word) && !isPastOptions) {
      const isValueNext = words[at + 1]?.startsWith('-') === false && !word.includes('=');
      if (isValueNext && from(at + 2, next, false)) return true;
      return !(isValueNext && takesNextWord(program, word)) && from(at + 1, next, false);
    }
    if (wanted === '*' && (from(at, next + 1, isPastOptions) || from(at + 1, next, isPastOptions))) return true;
    return (
      wanted !== undefined && isOperand(program, wanted, word, next === 0) && from(at + 1, next + 1, isPastOptions)
    );
  };
  return from(1, 0, false);
}

/** Report whether a word is not an operand: options, `cargo +nightly`, `make A=b`. */
function isSkipped(program: string, word: string): boolean {
  return /^-./.test(word) || findRecord(program)?.skippedOperands?.test(word) === true;
}

function isOperand(program: string, wanted: string, word: string, isFirst: boolean): boolean {
  if (matchesWildcard(wanted, word) || mayBeWord(word, wanted)) return true;
  const names = findRecord(program)?.subcommandNames;
  if (!names || !isFirst) return false;
  const nameOf = (spelled: string) => (Object.hasOwn(names, spelled) ? names[spelled] : spelled);
  return nameOf(word) === nameOf(wanted) || (word.length >= 3 && wanted.startsWith(word));
}

/** Report whether a word contains a placeholder. */
export function hasPlaceholder(word: string | undefined): boolean {
  return word !== undefined && [ANY_TEXT, ANY_WORDS, ANY_OPERANDS].some((mark) => word.includes(mark));
}

/** Report whether a word with unknown parts may become the word of the rule. */
function mayBeWord(word: string, wanted: string): boolean {
  if (!word.includes(ANY_TEXT)) return false;
  if (!wanted.includes('*')) return matchesWildcard(word.replaceAll(ANY_TEXT, '*'), wanted);
  const start = word.slice(0, word.indexOf(ANY_TEXT));
  const fixed = wanted.slice(0, wanted.indexOf('*'));
  return fixed.startsWith(start) || start.startsWith(fixed);
}
