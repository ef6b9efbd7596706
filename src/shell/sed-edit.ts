/**
 * Recognises `sed -i SCRIPT FILE` where its effect is certain, so that the edit can be shown before it is made.
 *
 * The same script, as a filter, turns the file's text into the new text.
 */
import { parse } from 'unbash';
import { flagTable, parseArguments } from './flags.ts';
import { scriptProblem } from './programs/sed.ts';
import type { ShellLine } from './shell-line.ts';
import type { ShellWord } from './word.ts';

/** An edit in place. */
export interface SedEdit {
  /** Arguments of sed as a filter of the file's text; it reads and writes no other file. */
  readonly filter: readonly string[];
  /** File name as spelled. */
  readonly file: string;
}

/** Options that neither print elsewhere, name the file, nor follow links. */
const FLAGS = flagTable(
  '-nErsz -i? -e= --quiet --silent --in-place? --expression= --regexp-extended --separate --null-data',
);

/** Commands whose result depends on the file name or the terminal, or that end the file early. */
const NON_FILTER_COMMANDS = 'FqQlz';

const SCRIPT_FLAGS = new Set(['-e', '--expression']);
const IN_PLACE = new Set(['-i', '--in-place']);

/** Parse a command line as an edit. @returns undefined if it is anything else, or its effect is not certain. */
export function sedEdit(line: ShellLine): SedEdit | undefined {
  const [program, ...words] = onlyCommand(line) ?? [];
  if (program?.literal !== 'sed') return undefined;
  const { flags, operands, problem } = parseArguments(words, { flags: FLAGS });
  const inPlace = flags.filter(({ name }) => IN_PLACE.has(name));
  // A suffix keeps the old file under another name.
  if (problem !== undefined || inPlace.length === 0 || inPlace.some(({ value }) => value)) return undefined;

  const given = flags.filter(({ name }) => SCRIPT_FLAGS.has(name)).map(({ value }) => value);
  const scripts = given.length > 0 ? given : operands.slice(0, 1);
  const [file, ...more] = given.length > 0 ? operands : operands.slice(1);
  const texts = scripts.map((script) => script?.literal ?? 'unknown');
  if (!file?.literal || more.length > 0 || scriptProblem(texts.join('\n'), NON_FILTER_COMMANDS) !== undefined)
    return undefined;
  const plain = flags.map(({ name }) => name).filter((name) => !IN_PLACE.has(name) && !SCRIPT_FLAGS.has(name));
  return { filter: ['--sandbox', ...plain, ...texts.flatMap((text) => ['-e', text])], file: file.literal };
}

/** Return the words of a line that consists of one command with literal words. */
function onlyCommand({ command, analysis }: ShellLine): readonly ShellWord[] | undefined {
  const { commands, problems, isUnparsable } = analysis;
  const [only, ...further] = commands;
  if (!only || further.length > 0 || problems.length > 0 || isUnparsable) return undefined;
  const [statement, ...others] = parse(command).commands;
  const node = statement?.command;
  if (others.length > 0 || statement?.background || node?.type !== 'Command') return undefined;
  const isBare = node.prefix.length === 0 && node.suffix.every(({ type }) => type === 'Word');
  return isBare && only.words.every(({ literal }) => literal !== undefined) ? only.words : undefined;
}
