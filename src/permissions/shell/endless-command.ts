/**
 * Commands that never end by themselves, whatever they are given: they hold their place until somebody stops them.
 *
 * A reader that ends behind a pipe ends some of them as well: `yes | head`.
 */
import type { Command, Redirected, SyntaxNode } from 'unbash';
import { flagTable, type GivenFlag, parseArguments, type ParsedArguments } from './flags.ts';
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

/** Options by which some end, and others do not; the options that take a value here need no table of their own. */
const ENDS: Readonly<Record<string, (given: ParsedArguments, words: readonly ShellWord[]) => boolean>> = {
  tail: ({ flags }) => !flags.some(({ name }) => /^(?:-[fF]|--follow|--retry)$/.test(name)),
  journalctl: ({ flags }) => !isGiven(flags, '-f', '--follow'),
  top: ({ flags }) => isGiven(flags, '-n'),
  free: ({ flags }) => !isGiven(flags, '-s') || isGiven(flags, '-c'),
  vmstat: ({ operands }) => operands.length !== 1,
  iostat: endsAfterCount,
  mpstat: endsAfterCount,
  lsof: (_, words) => !words.some(({ prefix }) => /^[-+]r/.test(prefix)),
  sleep: (_, words) => words.every(({ literal }) => literal === undefined || isShortTime(literal)),
  factor: (_, words) => words.every(({ literal }) => (literal?.length ?? 0) <= MAX_FACTORED_DIGITS),
  printf: (_, words) => !isWidePadding(words.map(({ literal }) => literal ?? '')),
};

/** Longest number that is factored in moments. */
const MAX_FACTORED_DIGITS = 24;

/** Longest time that a command may wait, or be given, for it to count as one that ends. */
const MAX_SECONDS = 3_600;
const UNIT_SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 };

/** Whether a duration as sleep and timeout take it, `90`, `1.5m`, is short enough to wait for. */
export function isShortTime(text: string): boolean {
  const [, number = '', unit = 's'] = /^(\d{1,6}(?:\.\d*)?|\.\d+)([smhd])?$/.exec(text) ?? [];
  return number !== '' && Number(number) * (UNIT_SECONDS[unit] ?? 1) <= MAX_SECONDS;
}

/** `printf %9999999d`, and `%*d` with a number like that. */
function isWidePadding([format = '', ...rest]: readonly string[]): boolean {
  return /%[-+ #0']*[\d.*]*\d{7}/.test(format) || (format.includes('*') && rest.some((text) => /^-?\d{7}/.test(text)));
}

/** The same of those that a reader which ends does end. */
const ENDS_UNLESS_CUT: typeof ENDS = {
  yes: () => false,
  seq: (_, words) => words.every(({ literal }) => !/inf|nan|e\+?\d|\d{10}/i.test(literal ?? '')),
  shuf: ({ flags }) => !isGiven(flags, '-r', '--repeat') || isGiven(flags, '-n', '--head-count'),
};

/** Options of those above, and of those that read no more than a number of bytes. */
const OPTIONS = flagTable(
  '-0123456789aAbBcCdDeEfFgGhHiIjJklLmMnNoOpPqQrRsStTuUvVwWxXyYzZ --follow? --retry --repeat --head-count? --bytes? --lines? --read-bytes? --length?',
);

/** Options that bound what is read, by program. */
const BOUNDS: Readonly<Record<string, RegExp>> = {
  head: /^(?:-\w*c|--bytes)/,
  od: /^(?:-\w*N|--read-bytes)/,
  xxd: /^-l/,
  hexdump: /^(?:-\w*n|--length)/,
  hd: /^-\w*n/,
  cmp: /^(?:-\w*n|--bytes)/,
  read: /^-\w*[nN]/,
  shuf: /^--random-source/,
  sort: /^--random-source/,
};

/** Programs that look at a device, and read nothing of it. */
const LOOKS_ONLY = /^(?:ls|dir|vdir|stat|file|test|\[|readlink|realpath|namei|find|echo|printf|lsof|true|false|:)$/;

/** Filters that hand on what they get as they get it. */
const STREAMS = /^(?:cat|tr|fold|cut|base(?:32|64)|nl|od|xxd|hexdump|hd|strings|rev|sed|grep)$/;

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
  const ends = own(ENDS, program) ?? (isCut === true ? undefined : own(ENDS_UNLESS_CUT, program));
  const isEndless = ends !== undefined && !ends(parseArguments(words, { flags: OPTIONS }), words);
  if (isEndless || readsForever(program, words, [inputDevice, ...reads.map(({ literal }) => literal)], isCut === true))
    return `${program} may never end`;
  return undefined;
}

/** Whether a command that ends follows in a pipeline, behind filters that hand on what they get: `| tr a b | head -3`. */
export function isCutBy(followers: readonly SyntaxNode[], variables: Variables): boolean {
  const end = followers.find((node) => node.type !== 'Command' || !STREAMS.test(node.name?.value ?? ''));
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
  if (devices.length === 0 || LOOKS_ONLY.test(program)) return false;
  const bound = own(BOUNDS, program);
  const isHuge = words.some(({ literal }) => /\d{10}|\d[TPEZYRQ]/.test(literal ?? ''));
  if (bound && !isHuge && words.some(({ literal }) => bound.test(literal ?? ''))) return false;
  // Of zeros no line ever comes, and a filter may drop them all.
  return !isCut || (program !== 'cat' && devices.some((path) => ZEROS.test(path ?? '')));
}

function own<T>(table: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}

function isGiven(flags: readonly GivenFlag[], ...names: readonly string[]): boolean {
  return flags.some(({ name }) => names.includes(name));
}

/** `iostat 1` goes on, `iostat 1 3` ends. */
function endsAfterCount({ operands }: ParsedArguments): boolean {
  return operands.filter(({ literal }) => literal === undefined || /^\d+$/.test(literal)).length !== 1;
}
