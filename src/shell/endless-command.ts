/**
 * Detects commands that never end by themselves.
 *
 * Some of them also end when the reader of their pipe does: `yes | head`.
 */
import type { Command, Redirected, SyntaxNode } from 'unbash';
import { flagTable, parseArguments } from './flags.ts';
import { findRecord } from './programs/index.ts';
import type { Variables } from './variable-values.ts';
import { decodeWord, type ShellWord } from './word.ts';

/** Devices that supply endless bytes; those of the first kind contain no line end either. */
const ZEROS = /^\/dev\/(?:zero|full)$/;
const RANDOM = /^\/dev\/u?random$/;

/** Context that may bound the command. */
export interface EndFacts {
  /** True if it runs under a time limit: `timeout 5 …`. */
  readonly isTimed?: boolean;
  /** True if a reader that ends follows in its pipeline, after nothing but filters that pass their input on. */
  readonly hasEndingReader?: boolean;
  /** Device that is its standard input. */
  readonly inputDevice?: string;
}

/**
 * Every letter, and the long options that decide whether a program ends, so that programs need no table of their own
 * here.
 */
const OPTIONS = flagTable(
  '-0123456789aAbBcCdDeEfFgGhHiIjJklLmMnNoOpPqQrRsStTuUvVwWxXyYzZ --follow? --retry --repeat --head-count? --bytes? --lines? --read-bytes? --length?',
);

/** Explain why a command may never end, or return undefined. @param reads Words that name files it reads. */
export function endlessProblem(
  program: string,
  words: readonly ShellWord[],
  reads: readonly ShellWord[],
  { isTimed, hasEndingReader, inputDevice }: EndFacts,
): string | undefined {
  if (isTimed === true) return undefined;
  const { ends, isEndedByReader } = findRecord(program) ?? {};
  const mayGoOn = ends !== undefined && !(hasEndingReader === true && isEndedByReader === true);
  const isEndless = mayGoOn && !ends(parseArguments(words, { flags: OPTIONS }), words);
  if (
    isEndless ||
    readsForever(program, words, [inputDevice, ...reads.map(({ literal }) => literal)], hasEndingReader === true)
  )
    return `${program} may never end`;
  return undefined;
}

/**
 * Report whether a command that ends follows in the pipeline, after filters that pass their input on:
 * `| tr a b | head -3`.
 */
export function isEndedByFollower(followers: readonly SyntaxNode[], variables: Variables): boolean {
  const end = followers.find(
    (node) => node.type !== 'Command' || findRecord(node.name?.value ?? '')?.isStream !== true,
  );
  if (end?.type !== 'Command' || end.name?.value !== 'head') return false;
  const words = end.args.flatMap((word) => (word.type === 'Word' ? decodeWord(word, variables) : []));
  // With a negative number it reads to the end.
  const text = words.map(({ literal, isInteger }) => literal ?? (isInteger === true ? '0' : '-c -0')).join(' ');
  return !/(?:^| )(?:-\w*[cn] ?|--\w+[= ])-\d/.test(text);
}

/** Return the endless device that is the input of a command or group. */
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
  hasEndingReader: boolean,
): boolean {
  const devices = paths.filter(isEndlessDevice);
  const { isMetadataOnly, boundOption: bound } = findRecord(program) ?? {};
  if (devices.length === 0 || isMetadataOnly === true) return false;
  const isHuge = words.some(({ literal }) => /\d{10}|\d[TPEZYRQ]/.test(literal ?? ''));
  if (bound && !isHuge && words.some(({ literal }) => bound.test(literal ?? ''))) return false;
  // Zeros contain no line end, and a filter may drop them all.
  return !hasEndingReader || (program !== 'cat' && devices.some((path) => ZEROS.test(path ?? '')));
}
