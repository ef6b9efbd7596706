/**
 * What a rule means, in whatever order a command puts its words: `rm -rf *` is about `rm x --force -R` too.
 *
 * For deny and ask rules alone, so in doubt a rule is meant. Words that nobody can know before they run may stand for
 * what the rule spells; that is another answer.
 */
import { matchesWildcard } from '../base/wildcard.ts';
import { isMessage, takesNextWord } from './program-facts.ts';
import { findRecord, subcommandOf } from './programs/index.ts';

/** In a word: any text. A control character, which stands in no command that is judged. */
export const ANY_TEXT = '\u0001';

/** A word that may become any number of words. */
export const ANY_WORDS = '\u0002';

/** A word that may become any number of words, none of them an option. */
export const ANY_OPERANDS = '\u0003';

/** Specs by what they mean. @returns The first that a command's words, the program's name first, fit. */
export type FindMeant = (words: readonly string[]) => string | undefined;

interface Meaning {
  readonly spec: string;
  readonly program: string;
  readonly operands: readonly string[];
  readonly options: readonly { readonly text: string; readonly place: number }[];
  /** More operands may follow. */
  readonly isOpen: boolean;
  /** Plain words alone: only words that are not known can mean more than they say. */
  readonly isPlain: boolean;
}

/** Letters that say the same as a long option in most programs. */
const LETTERS: Readonly<Record<string, string>> = { f: 'force', r: 'recursive', R: 'recursive', g: 'global' };

/** Words of a command that are looked at. */
const MAX_WORDS = 64;

/** Compile specs; those of one word, and exact ones without options, mean no more than they say where all words are known. */
export function meantSpecs(specs: readonly string[]): FindMeant {
  const meanings = specs.flatMap(meaningOf);
  const spoken = indexByProgram(meanings.filter(({ isPlain }) => !isPlain));
  // Thousands of exact rules cost nothing where they cannot mean more.
  const plain = indexByProgram(meanings.filter(({ isPlain }) => isPlain));
  return (words) => {
    const looked = words.slice(0, MAX_WORDS);
    return findIn(spoken, looked) ?? (plain.size > 0 && looked.some(isOpen) ? findIn(plain, looked) : undefined);
  };
}

type ProgramIndex = ReadonlyMap<string, (words: readonly string[]) => Iterable<Meaning>>;

function indexByProgram(meanings: readonly Meaning[]): ProgramIndex {
  const byProgram = new Map<string, Meaning[]>();
  for (const meaning of meanings) append(byProgram, meaning.program.includes('*') ? '*' : meaning.program, meaning);
  return new Map([...byProgram].map(([program, list]) => [program, indexOf(list)]));
}

function findIn(indexes: ProgramIndex, looked: readonly string[]): string | undefined {
  const [own, any] = [indexes.get(looked[0] ?? ''), indexes.get('*')];
  if (!own && !any) return undefined;
  const given = optionsOf(looked);
  const candidates = [...(own?.(looked) ?? []), ...(any?.(looked) ?? [])];
  return candidates.find((meaning) => isMeant(meaning, looked, given))?.spec;
}

/** Of many rules about one program most name others operands first: those are found by what they spell of it. */
function indexOf(meanings: readonly Meaning[]): (words: readonly string[]) => Iterable<Meaning> {
  const byHead = new Map<string, Meaning[]>();
  for (const meaning of meanings) append(byHead, meaning.operands[0]?.split('*', 1)[0] ?? '', meaning);
  const lengths = [...new Set([...byHead.keys()].map((head) => head.length))];
  return (words) => {
    // Another name for the same, or a word that is not known, begins in another way.
    if (findRecord(words[0] ?? '')?.subcommandNames || words.some(isOpen)) return meanings;
    const heads = new Set(words.flatMap((word) => lengths.map((length) => word.slice(0, length))));
    return [...heads].flatMap((head) => byHead.get(head) ?? []);
  };
}

function append<Item>(lists: Map<string, Item[]>, key: string, item: Item): void {
  const list = lists.get(key);
  if (list) list.push(item);
  else lists.set(key, [item]);
}

function meaningOf(spec: string): readonly Meaning[] {
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

function isMeant(
  { program, operands, options, isOpen: takesMore }: Meaning,
  words: readonly string[],
  given: ReadonlySet<string>,
): boolean {
  if (!matchesWildcard(program, words[0] ?? '')) return false;
  return options.every((option) => isGiven(option, given, words)) && fits(operands, takesMore, words);
}

/** The options of a command: letters by what they mean, words without their values. */
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
    else for (const letter of lettersOf(word)) given.add(meaningOfLetter(letter, words));
  }
  return given;
}

function lettersOf(bundle: string): readonly string[] {
  const letters = /^-([a-zA-Z0-9]+)/.exec(bundle)?.[1] ?? '';
  return letters.length === 1 ? [letters] : [...new Set(letters)];
}

function meaningOfLetter(letter: string, words: readonly string[]): string {
  const [program = '', subcommand = ''] = words;
  const own = subcommandOf(program, subcommand)?.letters ?? findRecord(program)?.letters;
  const name = own?.[letter] ?? LETTERS[letter];
  return name === undefined ? `-${letter}` : `--${name}`;
}

function isGiven(
  { text, place }: Meaning['options'][number],
  given: ReadonlySet<string>,
  words: readonly string[],
): boolean {
  if (given.has(text) || words.includes(ANY_WORDS) || mayBeWord(words[place] ?? '', text)) return true;
  if (text.endsWith('*')) return [...given].some((option) => matchesWildcard(text, option) || isShort(option, text));
  if (text.startsWith('--')) return [...given].some((option) => isShort(option, text));
  // `-rf` may be `-f --recursive`; `-destroy` is one word.
  return text.length <= 5 && lettersOf(text).every((letter) => isMeaningGiven(meaningOfLetter(letter, words), given));
}

function isMeaningGiven(meaning: string, given: ReadonlySet<string>): boolean {
  return given.has(meaning) || [...given].some((option) => isShort(option, meaning));
}

/** `--forc` is short for `--force`; `--f` is for too much. */
function isShort(option: string, whole: string): boolean {
  // `--force` is no `--force-with-lease`.
  return /^--../.test(option) && whole.startsWith(option) && whole[option.length] !== '-';
}

/** Whether the operands begin as the rule's do, options and what may be their values left out. */
function fits(operands: readonly string[], isOpen: boolean, words: readonly string[]): boolean {
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

/** Options, `cargo +nightly` and `make A=b` are no operands. */
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

/** Whether a word holds what may be anything. */
export function isOpen(word: string | undefined): boolean {
  return word !== undefined && [ANY_TEXT, ANY_WORDS, ANY_OPERANDS].some((mark) => word.includes(mark));
}

/** Whether a word that is not all known may turn out as the rule spells it. */
function mayBeWord(word: string, wanted: string): boolean {
  if (!word.includes(ANY_TEXT)) return false;
  if (!wanted.includes('*')) return matchesWildcard(word.replaceAll(ANY_TEXT, '*'), wanted);
  const start = word.slice(0, word.indexOf(ANY_TEXT));
  const fixed = wanted.slice(0, wanted.indexOf('*'));
  return fixed.startsWith(start) || start.startsWith(fixed);
}
