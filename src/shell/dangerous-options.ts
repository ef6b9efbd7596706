/** Words by which a program does more than read: an allow rule for the program does not cover them unless it spells them. */
import { flagTable, parseArguments } from './flags.ts';
import type { ProgramRecord } from './program-record.ts';
import { judgeProgram, type ProgramSpec, type ScriptFacts } from './program-spec.ts';
import { recordOf } from './programs/index.ts';
import type { ShellWord } from './word.ts';
import { writtenWord } from './written-word.ts';

/** Sub-commands of git for which `-c` and `-C` name something harmless. */
const GIT_LOCAL_C = /^(?:commit|switch|diff|log|show|blame|checkout|branch|grep)$/;

/** A command by itself. */
const NO_FACTS: ScriptFacts = { changesDirectory: false, functions: new Set() };

/**
 * Whether any argument beyond what the rule spells makes the program write, run or set something, or may turn into one
 * that does.
 *
 * @param program Under any of its names: `gsed`, `mawk`.
 * @param spelled How many of `words` the rule itself spells.
 */
export function actsBeyondRule(program: string, words: readonly ShellWord[], spelled: number): boolean {
  if (spelled >= words.length) return false;
  const record = recordOf(program);
  if (!record) return false;
  if (record.actingOptions) return hasOption(record, record.actingOptions, words, spelled);
  return record.reads !== undefined && !isCoveredWhole(record) && exceedsReading(record.reads, words, spelled);
}

/** Programs that are called to act, and those of which no word does harm. */
function isCoveredWhole({ isBuiltin, isCoveredWhole, reads }: ProgramRecord): boolean {
  if (isBuiltin === true || isCoveredWhole === true || reads === undefined) return true;
  if (reads.alone !== undefined || reads.subcommands) return true;
  return reads.isOpen === true && reads.mostOperands === undefined;
}

function hasOption({ names }: ProgramRecord, acting: RegExp, words: readonly ShellWord[], spelled: number): boolean {
  let subcommandAt = -1;
  return words.some((word, at) => {
    if (subcommandAt < 0 && !word.mayBeFlag) subcommandAt = at;
    if (at < spelled) return false;
    if (word.literal === undefined) return word.mayBeFlag;
    const isLocal =
      names === 'git' && subcommandAt >= 0 && subcommandAt < at && GIT_LOCAL_C.test(words[subcommandAt]?.literal ?? '');
    if (isLocal && /^-[cC]/.test(word.literal)) return false;
    return acting.test(word.literal);
  });
}

/** Whether a program that is known to read does more with these words, and the rule does not say so. */
function exceedsReading(record: ProgramSpec, words: readonly ShellWord[], spelled: number): boolean {
  const isReading = (given: readonly ShellWord[]) => judgeProgram(record, given, NO_FACTS).problem === undefined;
  if (isReading(words)) return false;
  const own = words.slice(0, spelled);
  // With a value behind it, since the rule may end with an option that takes one.
  const spellsActing = spelled > 0 && !isReading(own) && !isReading([...own, writtenWord('1', false)]);
  if (!spellsActing) return true;
  // `Bash(date -s:*)` is about what acts; of further options it covers those that only read.
  const rest = parseArguments(words.slice(spelled), { ...record, flags: flagTable(record.flags ?? '') });
  return rest.problem !== undefined;
}
