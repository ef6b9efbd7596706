/** Budget steps of the parts of a syntax tree walk, drawn before the work is done. */
import { isFinderName, isLauncherName } from './program-facts.ts';
import { recordOf } from './programs/index.ts';
import { basename, MAX_TRIED_WORDS } from './spellings.ts';
import type { ShellWord } from './word.ts';

/** Steps that each earlier command of a pipeline costs a later one, which inspects it again. */
const PRODUCER_STEPS = 64;

/** Steps that each value of a word costs besides its characters: it may be a path, which is looked up on the disk. */
const VALUE_STEPS = 16;

/** Count the steps of a command in a pipeline. @param place Number of commands before it. */
export function producerSteps(place: number): number {
  return place * PRODUCER_STEPS;
}

/**
 * Count the steps of the words from `start` on: each of their values, in each possible working directory, and the
 * earlier words that they are combined with.
 */
export function wordSteps(words: readonly ShellWord[], start: number, bases: readonly string[] | undefined): number {
  let steps = 0;
  for (let at = start; at < words.length; at++) {
    const word = words[at];
    if (word) steps += valueSteps(word) * (bases?.length ?? 1) + pairSteps(words, at);
  }
  return steps;
}

/** Count the words that this one is combined with: any word of a launcher may be the program it runs. */
function pairSteps([first]: readonly ShellWord[], at: number): number {
  const program = basename(first?.literal ?? '');
  // These programs combine operands pairwise: folders and the names searched in them.
  if (isFinderName(program) || recordOf(program)?.isExtractor === true) return 2 * at;
  return isLauncherName(program) && at <= MAX_TRIED_WORDS ? 2 * at : 0;
}

function valueSteps({ literal, text, patterns, roots, guesses }: ShellWord): number {
  if (literal !== undefined) return VALUE_STEPS + literal.length;
  const values = [text, ...(patterns ?? []), ...(roots ?? []), ...(guesses ?? [])];
  return values.reduce((sum, value) => sum + VALUE_STEPS + value.length, 0);
}
