/**
 * Parses options by a table in one line of text, which lists the options and whether they take a value.
 *
 * `-ab` two options; `-n=` one that takes a value; `-i?` one with an optional attached value; `--name`, `--name=` and
 * `--name?` likewise; `--arg==` takes the next two words. Abbreviations of long options are unknown options.
 */
import type { ShellWord } from './word.ts';
import { literalWord } from './literal-word.ts';

/** Value syntax of an option. */
export type ValueKind = 'none' | 'required' | 'optional' | 'pair';

/** The options of one program by name, dashes included. */
export type FlagTable = ReadonlyMap<string, ValueKind>;

/** An option as it was given. */
export interface GivenFlag {
  readonly name: string;
  /** Absent if the option takes no value, or none was attached. For a pair, the second word. */
  readonly value?: ShellWord;
}

/** Arguments sorted into options and operands. */
export interface ParsedArguments {
  readonly flags: readonly GivenFlag[];
  readonly operands: readonly ShellWord[];
  /** Set if the arguments cannot be told apart, or contain an option that is not in the table. */
  readonly problem?: string;
}

/** Rules for parsing arguments. */
export interface FlagSyntax {
  readonly flags: FlagTable;
  /** True if no word after the first operand is an option. */
  readonly stopsAtOperand?: boolean;
  /** True if no option of the program writes, runs or connects, so words that may turn out to be options do no harm. */
  readonly isOpen?: boolean;
  /** True if `-5` and `+5` are options. */
  readonly hasNumbers?: boolean;
}

const tables = new Map<string, FlagTable>();

/** Parse a line of options; results are cached by line. */
export function flagTable(line: string): FlagTable {
  let table = tables.get(line);
  if (!table) tables.set(line, (table = parseTable(line)));
  return table;
}

const VALUE_KINDS: Readonly<Record<string, ValueKind>> = { '==': 'pair', '=': 'required', '?': 'optional' };

function parseTable(line: string): FlagTable {
  const table = new Map<string, ValueKind>();
  for (const token of line.split(/\s+/).filter((text) => text !== '')) {
    const name = token.replace(/(?:==?|\?)$/, '');
    const kind = VALUE_KINDS[token.slice(name.length)] ?? 'none';
    // `-ab=` would silently give -a a value, too, which then hides the word after it.
    if (kind !== 'none' && !/^(?:--.+|-.)$/.test(name))
      throw new TypeError(`Option "${token}" of a table names several`);
    for (const option of name.startsWith('--') ? [name] : [...name.slice(1)].map((letter) => `-${letter}`)) {
      if ((table.get(option) ?? kind) !== kind)
        throw new TypeError(`Option "${option}" of a table takes a value and takes none`);
      table.set(option, kind);
    }
  }
  return table;
}

/** Sort arguments into options and operands. */
export function parseArguments(words: readonly ShellWord[], syntax: FlagSyntax): ParsedArguments {
  const flags: GivenFlag[] = [];
  const operands: ShellWord[] = [];
  let problem: string | undefined;
  let isPastOptions = false;
  for (let index = 0; index < words.length; index++) {
    const word = words[index] as ShellWord;
    const isOption = !isPastOptions && word.mayBeFlag && word.literal !== '-';
    if (!isOption) {
      operands.push(word);
      isPastOptions ||= syntax.stopsAtOperand === true;
      continue;
    }
    if (word.literal === '--') {
      isPastOptions = true;
    } else if (word.literal === undefined) {
      const flag = attachedValue(word, syntax);
      if (flag) flags.push(flag);
      else operands.push(word);
      if (!flag && !syntax.isOpen) problem ??= `"${word.text}" may turn into an option`;
    } else if (syntax.hasNumbers && /^-\d+$/.test(word.literal)) {
      flags.push({ name: '-#' });
    } else {
      const taken = takeFlag(word.literal, words.slice(index + 1, index + 3), syntax);
      flags.push(...taken.flags);
      problem ??= taken.problem;
      index += taken.usedNext;
    }
  }
  return { flags, operands, ...(problem !== undefined && { problem }) };
}

/** Report whether one of these options was given. */
export function isGiven(flags: readonly GivenFlag[], ...names: readonly string[]): boolean {
  return flags.some(({ name }) => names.includes(name));
}

/** Parse `--lines="$n"` and `-n"$n"`: one word whose option is literal. */
function attachedValue(word: ShellWord, { flags }: FlagSyntax): GivenFlag | undefined {
  if (word.isSplit) return undefined;
  const long = /^(--[\w-]+)=/.exec(word.prefix)?.[1];
  if (long !== undefined) return (flags.get(long) ?? 'none') === 'none' ? undefined : { name: long, value: word };
  const short = /^-\w/.exec(word.prefix)?.[0];
  return short !== undefined && flags.get(short) === 'required' ? { name: short, value: word } : undefined;
}

interface TakenFlags {
  readonly flags: readonly GivenFlag[];
  /** Number of following words that are the option's value. */
  readonly usedNext: number;
  readonly problem?: string;
}

function takeFlag(text: string, next: readonly ShellWord[], syntax: FlagSyntax): TakenFlags {
  return text.startsWith('--') ? takeLong(text, next, syntax) : takeShort(text, next[0], syntax);
}

function takeLong(text: string, [next, second]: readonly ShellWord[], syntax: FlagSyntax): TakenFlags {
  const equals = text.indexOf('=');
  const name = equals < 0 ? text : text.slice(0, equals);
  const kind = syntax.flags.get(name);
  if (kind === undefined || (kind === 'none' && equals >= 0)) return unknownFlag(name);
  if (equals >= 0) return { flags: [{ name, value: literalWord(text.slice(equals + 1), false) }], usedNext: 0 };
  if (kind === 'pair') return { flags: [{ name, ...(second && { value: second }) }], usedNext: 2 };
  return kind === 'required' ? takeNext([], name, next, syntax) : { flags: [{ name }], usedNext: 0 };
}

function takeShort(text: string, next: ShellWord | undefined, syntax: FlagSyntax): TakenFlags {
  const flags: GivenFlag[] = [];
  for (let at = 1; at < text.length; at++) {
    const name = `-${text[at] ?? ''}`;
    const kind = syntax.flags.get(name);
    if (kind === undefined) return unknownFlag(name);
    const rest = text.slice(at + 1);
    if (kind === 'required' && rest === '') return takeNext(flags, name, next, syntax);
    if (kind !== 'none') {
      flags.push(rest === '' ? { name } : { name, value: literalWord(rest, false) });
      break;
    }
    flags.push({ name });
  }
  return { flags, usedNext: 0 };
}

/** Take the next word as the value. A value that may vanish or split would change the meaning of the words after it. */
function takeNext(
  flags: readonly GivenFlag[],
  name: string,
  next: ShellWord | undefined,
  syntax: FlagSyntax,
): TakenFlags {
  if (!next) return { flags, usedNext: 0, problem: `option "${name}" lacks its value` };
  const problem = syntax.isOpen ? undefined : valueProblem(name, next);
  return { flags: [...flags, { name, value: next }], usedNext: 1, ...(problem !== undefined && { problem }) };
}

/**
 * Explain why a value is unsafe, or return undefined. Versions differ on whether an option's value is optional; a next
 * word that looks like an option is then parsed as one. `sort -t -` is the only such value that all versions agree on.
 */
function valueProblem(name: string, value: ShellWord): string | undefined {
  if (value.isSplit) return `the value of option "${name}" may become several words`;
  return value.mayBeFlag && value.literal !== '-' && !value.isInteger
    ? `the value of option "${name}" may be an option itself`
    : undefined;
}

function unknownFlag(name: string): TakenFlags {
  return { flags: [], usedNext: 0, problem: `option "${name}" is not known to only read` };
}
