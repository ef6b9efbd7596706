/** What xargs may be given: the words of the commands before it, and of its here-string. For deny rules alone. */
import type { Command, SyntaxNode } from 'unbash';
import { isSupplierName } from './program-facts.ts';
import { basename } from './spellings.ts';
import type { Variables } from './variable-values.ts';
import { decodeWord, type ShellWord } from './word.ts';
import { writtenWord } from './written-word.ts';

/** Most words that are handed on. */
const MAX_FED = 64;

/**
 * Words that a command may be fed which makes arguments of its input.
 *
 * @param producers The commands that are piped into it, first to last.
 */
export function fedWords(
  command: Command,
  words: readonly ShellWord[],
  producers: readonly SyntaxNode[],
  variables: Variables,
): readonly ShellWord[] {
  if (!words.some(({ literal }) => literal !== undefined && isSupplierName(basename(literal)))) return [];
  const printed = producers.flatMap((producer) => {
    const all = producerWords(producer, variables);
    return isFind(all) ? foundBy(all) : all.slice(1);
  });
  return [...printed, ...hereStrings(command, variables)]
    .flatMap((word) => (word.literal === undefined ? [word] : linesOf(word.literal)))
    .filter(({ mayBeFlag, patterns }) => patterns !== undefined && !mayBeFlag)
    .slice(0, MAX_FED);
}

/**
 * Words that a command certainly finds in its input, for it stands in the script: what echo and printf print, and
 * here-strings.
 */
export function printedWords(
  command: Command,
  producers: readonly SyntaxNode[],
  variables: Variables,
): readonly string[] {
  const printed = producers.flatMap((producer) => {
    const [program, ...rest] = producerWords(producer, variables);
    return /^(?:echo|printf)$/.test(basename(program?.literal ?? '')) ? rest : [];
  });
  return [...printed, ...hereStrings(command, variables)]
    .flatMap(({ literal }) => (literal === undefined ? [] : linesOf(literal).map((word) => word.literal ?? '')))
    .slice(0, MAX_FED);
}

function hereStrings(command: Command, variables: Variables): readonly ShellWord[] {
  return command.redirects.flatMap((item) =>
    item.type === 'HereString' && item.target ? decodeWord(item.target, variables) : [],
  );
}

/** The here-document or here-string of a command, where it is written out and the only input. */
export function writtenInput({ redirects }: Command, variables: Variables): string | undefined {
  const [only, ...more] = redirects.filter(({ operator }) => operator.startsWith('<'));
  if (!only || more.length > 0) return undefined;
  if (only.type === 'HereDoc') return only.delimiter?.quoted || !only.body.parts ? only.body.text : undefined;
  if (only.type !== 'HereString' || !only.target) return undefined;
  return decodeWord(only.target, variables)[0]?.literal;
}

/** What find looks for by name, and hands to a loop: `find . -name .env | while read f`. */
export function foundNames(producers: readonly SyntaxNode[], variables: Variables): readonly ShellWord[] {
  return producers
    .map((producer) => producerWords(producer, variables))
    .filter(isFind)
    .flatMap((words) => foundBy(words).filter(({ text }) => text.includes('/')))
    .filter(isBelowHere);
}

/** The decoded words of a simple command, the program's first; none of any other node. */
export function producerWords(producer: SyntaxNode | undefined, variables: Variables): readonly ShellWord[] {
  if (producer?.type !== 'Command' || !producer.name) return [];
  return [producer.name, ...producer.args].flatMap((word) => (word.type === 'Word' ? decodeWord(word, variables) : []));
}

function isFind(words: readonly ShellWord[]): boolean {
  return basename(words[0]?.literal ?? '') === 'find';
}

/** The folders find begins in, as written; the working directory where it is given none. @param words The program's first. */
export function findStarts(words: readonly ShellWord[]): readonly ShellWord[] {
  const starts = writtenStarts(words);
  return starts.length === 0 ? [plainWord('.')] : starts;
}

function writtenStarts(words: readonly ShellWord[]): readonly ShellWord[] {
  const rest = words.slice(1);
  const end = rest.findIndex(({ literal, mayBeFlag }) => mayBeFlag || /^[!()]$/.test(literal ?? ''));
  return end === 0 ? [] : rest.slice(0, end < 0 ? rest.length : end);
}

/** Where find begins, and there the names it looks for. @param words The program's first. */
export function foundBy(words: readonly ShellWord[]): readonly ShellWord[] {
  const rest = words.slice(1);
  const starts = writtenStarts(words);
  const names = rest.flatMap((word, at) =>
    /^-i?(?:name|path|wholename)$/.test(rest[at - 1]?.literal ?? '') ? (word.literal ?? word.patterns?.[0] ?? []) : [],
  );
  const folders = starts.length === 0 ? ['.'] : starts.flatMap(({ patterns }) => patterns ?? []);
  return [
    ...starts,
    ...folders.flatMap((folder) =>
      names.flatMap((name) => [plainWord(`${folder}/${name}`), plainWord(`${folder}/**/${name}`)]),
    ),
  ];
}

/** Whether a word is a path below the working directory: of others a listing's roots say where they lie. */
export function isBelowHere({ patterns }: ShellWord): boolean {
  return patterns?.every((pattern) => !/^[/~]|\.\./.test(pattern)) === true;
}

/** What xargs makes of `'a b\n'`. */
function linesOf(text: string): readonly ShellWord[] {
  return text
    .split(/\s+|\\[nt0]/)
    .filter((part) => part !== '')
    .map(plainWord);
}

function plainWord(text: string): ShellWord {
  return writtenWord(text, text.startsWith('-'));
}
