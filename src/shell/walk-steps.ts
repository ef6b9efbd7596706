/** Steps that parts of a walk draw from the budget, before the work that they stand for is done. */
import { isFinderName, isLauncherName } from './program-facts.ts';
import { recordOf } from './programs/index.ts';
import { basename, MAX_TRIED_WORDS } from './spellings.ts';
import type { ShellWord } from './word.ts';

/** Steps that each earlier command of a pipeline costs a later one, which looks through it again. */
const PRODUCER_STEPS = 64;

/** Steps that each value of a word costs besides its characters: it may be a path, which is looked up on the disk. */
const VALUE_STEPS = 16;

/** Count the steps of a command in a pipeline. @param place The number of commands before it. */
export function producerSteps(place: number): number {
  return place * PRODUCER_STEPS;
}

/**
 * Count the steps of following words from `start` on: what they may be, in each folder that the shell may be in, and
 * the words before them that they are looked at together with.
 */
export function wordSteps(words: readonly ShellWord[], start: number, bases: readonly string[] | undefined): number {
  let steps = 0;
  for (let at = start; at < words.length; at++) {
    const word = words[at];
    if (word) steps += valueSteps(word) * (bases?.length ?? 1) + pairSteps(words, at);
  }
  return steps;
}

/** Count the other words that this one is looked at with: any word of a launcher may be the program it runs. */
function pairSteps([first]: readonly ShellWord[], at: number): number {
  const program = basename(first?.literal ?? '');
  // They take each of some operands with each of others: folders and the names looked for in them.
  if (isFinderName(program) || recordOf(program)?.isExtractor === true) return 2 * at;
  return isLauncherName(program) && at <= MAX_TRIED_WORDS ? 2 * at : 0;
}

function valueSteps({ literal, text, patterns, roots, guesses }: ShellWord): number {
  if (literal !== undefined) return VALUE_STEPS + literal.length;
  const values = [text, ...(patterns ?? []), ...(roots ?? []), ...(guesses ?? [])];
  return values.reduce((sum, value) => sum + VALUE_STEPS + value.length, 0);
}
