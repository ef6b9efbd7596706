/**
 * Commands that never end by themselves, whatever they are given: they hold their place until somebody stops them.
 *
 * A reader that ends behind a pipe ends some of them as well: `yes | head`.
 */
import type { Command, Redirected, SyntaxNode } from 'unbash';
import { flagTable, parseArguments } from './flags.ts';
import { findRecord } from './programs/index.ts';
import type { Variables } from './variable-values.ts';
import { decodeWord, type ShellWord } from './word.ts';

/** Devices that give bytes without an end; those of the first kind hold no line end either. */
const ZEROS = /^\/dev\/(?:zero|full)$/;
const RANDOM = /^\/dev\/u?random$/;

/** What is known around such a command. */
export interface EndFacts {
  /** It is stopped after a time: `timeout 5 …`. */
  readonly isTimed?: boolean;
  /** A reader that ends stands behind it in its pipeline, and between them filters that hand on what they get. */
  readonly isCut?: boolean;
  /** The device that its standard input is. */
  readonly inputDevice?: string;
}

/** Every letter, and the long options that say whether a program ends: a table of its own is not needed for that. */
const OPTIONS = flagTable(
  '-0123456789aAbBcCdDeEfFgGhHiIjJklLmMnNoOpPqQrRsStTuUvVwWxXyYzZ --follow? --retry --repeat --head-count? --bytes? --lines? --read-bytes? --length?',
);

/**
 * Why a command may never end, or undefined.
 *
 * @param reads What it reads.
 */
export function endlessProblem(
  program: string,
  words: readonly ShellWord[],
  reads: readonly ShellWord[],
  { isTimed, isCut, inputDevice }: EndFacts,
): string | undefined {
  if (isTimed === true) return undefined;
  const { ends, isEndedByReader } = findRecord(program) ?? {};
  const mayGoOn = ends !== undefined && !(isCut === true && isEndedByReader === true);
  const isEndless = mayGoOn && !ends(parseArguments(words, { flags: OPTIONS }), words);
  if (isEndless || readsForever(program, words, [inputDevice, ...reads.map(({ literal }) => literal)], isCut === true))
    return `${program} may never end`;
  return undefined;
}

/** Whether a command that ends follows in a pipeline, behind filters that hand on what they get: `| tr a b | head -3`. */
export function isCutBy(followers: readonly SyntaxNode[], variables: Variables): boolean {
  const end = followers.find(
    (node) => node.type !== 'Command' || findRecord(node.name?.value ?? '')?.isStream !== true,
  );
  if (end?.type !== 'Command' || end.name?.value !== 'head') return false;
  const words = end.args.flatMap((word) => (word.type === 'Word' ? decodeWord(word, variables) : []));
  // With a negative number it reads to the end.
  const text = words.map(({ literal, isInteger }) => literal ?? (isInteger === true ? '0' : '-c -0')).join(' ');
  return !/(?:^| )(?:-\w*[cn] ?|--\w+[= ])-\d/.test(text);
}

/** The device without an end that a command, or a group of them, is given for its input. */
export function endlessInput({ redirects }: Command | Redirected): string | undefined {
  const inputs = redirects.flatMap((item) =>
    item.type === 'Redirect' && item.operator === '<' ? (item.target?.value ?? []) : [],
  );
  return inputs.find(isEndlessDevice);
}

function isEndlessDevice(path: string | undefined): boolean {
  return path !== undefined && (ZEROS.test(path) || RANDOM.test(path));
}

function readsForever(
  program: string,
  words: readonly ShellWord[],
  paths: readonly (string | undefined)[],
  isCut: boolean,
): boolean {
  const devices = paths.filter(isEndlessDevice);
  const { isLookingOnly, boundOption: bound } = findRecord(program) ?? {};
  if (devices.length === 0 || isLookingOnly === true) return false;
  const isHuge = words.some(({ literal }) => /\d{10}|\d[TPEZYRQ]/.test(literal ?? ''));
  if (bound && !isHuge && words.some(({ literal }) => bound.test(literal ?? ''))) return false;
  // Of zeros no line ever comes, and a filter may drop them all.
  return !isCut || (program !== 'cat' && devices.some((path) => ZEROS.test(path ?? '')));
}
