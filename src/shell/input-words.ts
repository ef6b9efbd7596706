/** Words that xargs may read: those of the commands before it, and of its here-string. For deny rules only. */
import type { Command, SyntaxNode } from 'unbash';
import { isSupplierName } from './program-facts.ts';
import { basename } from './spellings.ts';
import type { Variables } from './variable-values.ts';
import { decodeWord, type ShellWord } from './word.ts';
import { literalWord } from './literal-word.ts';

/** Upper bound of the words returned. */
const MAX_INPUT_WORDS = 64;

/**
 * List the words that a command may read if it turns its input into arguments.
 *
 * @param producers Commands piped into it, in order.
 */
export function inputWords(
  command: Command,
  words: readonly ShellWord[],
  producers: readonly SyntaxNode[],
  variables: Variables,
): readonly ShellWord[] {
  if (!words.some(({ literal }) => literal !== undefined && isSupplierName(basename(literal)))) return [];
  const printed = producers.flatMap((producer) => {
    const all = producerWords(producer, variables);
    return isFind(all) ? findOutputWords(all) : all.slice(1);
  });
  return [...printed, ...hereStrings(command, variables)]
    .flatMap((word) => (word.literal === undefined ? [word] : splitInput(word.literal)))
    .filter(({ mayBeFlag, patterns }) => patterns !== undefined && !mayBeFlag)
    .slice(0, MAX_INPUT_WORDS);
}

/**
 * List the words that a command certainly reads, since they are literal in the script: the output of echo and printf,
 * and here-strings.
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
    .flatMap(({ literal }) => (literal === undefined ? [] : splitInput(literal).map((word) => word.literal ?? '')))
    .slice(0, MAX_INPUT_WORDS);
}

function hereStrings(command: Command, variables: Variables): readonly ShellWord[] {
  return command.redirects.flatMap((item) =>
    item.type === 'HereString' && item.target ? decodeWord(item.target, variables) : [],
  );
}

/** Return the here-document or here-string of a command, if it is literal and the only input. */
export function writtenInput({ redirects }: Command, variables: Variables): string | undefined {
  const [only, ...more] = redirects.filter(({ operator }) => operator.startsWith('<'));
  if (!only || more.length > 0) return undefined;
  if (only.type === 'HereDoc') return only.delimiter?.quoted || !only.body.parts ? only.body.text : undefined;
  if (only.type !== 'HereString' || !only.target) return undefined;
  return decodeWord(only.target, variables)[0]?.literal;
}

/** List the paths that find searches by name and passes to a loop: `find . -name .env | while read f`. */
export function namesForLoop(producers: readonly SyntaxNode[], variables: Variables): readonly ShellWord[] {
  return producers
    .map((producer) => producerWords(producer, variables))
    .filter(isFind)
    .flatMap((words) => findOutputWords(words).filter(({ text }) => text.includes('/')))
    .filter(isBelowHere);
}

/** Decode the words of a simple command, program first; empty for any other node. */
export function producerWords(producer: SyntaxNode | undefined, variables: Variables): readonly ShellWord[] {
  if (producer?.type !== 'Command' || !producer.name) return [];
  return [producer.name, ...producer.args].flatMap((word) => (word.type === 'Word' ? decodeWord(word, variables) : []));
}

function isFind(words: readonly ShellWord[]): boolean {
  return basename(words[0]?.literal ?? '') === 'find';
}

/** List the start folders of find as written; the working directory by default. @param words Program first. */
export function findStarts(words: readonly ShellWord[]): readonly ShellWord[] {
  const starts = writtenStarts(words);
  return starts.length === 0 ? [plainWord('.')] : starts;
}

function writtenStarts(words: readonly ShellWord[]): readonly ShellWord[] {
  const rest = words.slice(1);
  const end = rest.findIndex(({ literal, mayBeFlag }) => mayBeFlag || /^[!()]$/.test(literal ?? ''));
  return end === 0 ? [] : rest.slice(0, end < 0 ? rest.length : end);
}

/**
 * List the paths that find may print: its start folders, and there the names it searches.
 *
 * @param words Program first.
 */
export function findOutputWords(words: readonly ShellWord[]): readonly ShellWord[] {
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

/**
 * Report whether a word is a path below the working directory. Paths elsewhere are covered by the roots of a listing.
 */
export function isBelowHere({ patterns }: ShellWord): boolean {
  return patterns?.every((pattern) => !/^[/~]|\.\./.test(pattern)) === true;
}

/** Split literal input as xargs does: `'a b\n'`. */
function splitInput(text: string): readonly ShellWord[] {
  return text
    .split(/\s+|\\[nt0]/)
    .filter((part) => part !== '')
    .map(plainWord);
}

function plainWord(text: string): ShellWord {
  return literalWord(text, text.startsWith('-'));
}
