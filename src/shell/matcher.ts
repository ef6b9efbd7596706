/**
 * Matches a command line against the specs of Bash rules.
 *
 * Allowing needs every part covered, and nothing around the parts that writes or evaluates. Denying and asking try
 * every command that may run, whatever launches it.
 */
import type { PermissionMatcher, PermissionPart } from '../tool/tool.ts';
import { flagTable, parseArguments } from './flags.ts';
import { programName } from './judge-command.ts';
import { type OpaqueCommand, opaqueCommands } from './opaque.ts';
import type { ProgramRecord } from './program-record.ts';
import { judgeProgram, type ProgramSpec, type ScriptFacts } from './program-spec.ts';
import { recordOf } from './programs/index.ts';
import type { ReachedCommand, ReachedScript, Reading } from './reach.ts';
import type { AnalysedCommand, ShellAnalysis } from './shell-analysis.ts';
import type { ShellLine } from './shell-line.ts';
import { collapseBlanks, shellSpecs, type ShellSpecs } from './shell-specs.ts';
import { basename } from './spellings.ts';
import type { ShellWord } from './word.ts';
import { unwrap } from './wrappers.ts';
import { literalWord } from './literal-word.ts';

/** Sub-commands of git that use `-c` or `-C` as a harmless option of their own. */
const GIT_LOCAL_C = /^(?:commit|switch|diff|log|show|blame|checkout|branch|grep)$/;

/** Context of a command outside any script. */
const NO_FACTS: ScriptFacts = { changesDirectory: false, functions: new Set() };

/** Create the matcher of one command line; see `PermissionMatcher`. */
export function shellMatcher(line: ShellLine): PermissionMatcher {
  // The reachable commands are computed lazily, since most calls meet no rule that needs them.
  const { analysis, command } = line;
  return {
    get isUnparsable() {
      return analysis.isUnparsable || isUnknown(line.reach.plain) || line.reach.isIncomplete();
    },
    parts: analysis.commands.map((part, at) => toPart(part, () => line.reach.plain.commands[at], analysis)),
    hits: (specs) => findHit(line.reach.plain, shellSpecs(specs)),
    mayHit: (specs) => {
      const { reach } = line;
      const compiled = shellSpecs(specs);
      const open = reach.open();
      // Parts that were left out may match any rule.
      if (reach.isIncomplete()) return specs[0];
      if (open.commands.every(({ readings }) => readings.length === 0)) return undefined;
      return findHit(reach.plain, compiled) === undefined ? findHit(open, compiled) : undefined;
    },
    covers: (specs) => findCover(command, analysis, shellSpecs(specs)),
    opaque: (allowed) => {
      const specs = shellSpecs(allowed);
      if (exactSpec(command, specs) !== undefined) return undefined;
      for (const found of opaqueCommands(line.reach.plain)) if (!isNamed(found, specs)) return found.what;
      return undefined;
    },
  };
}

/** Report whether a spec spells the program that runs hidden text; `*` spells none. */
function isNamed({ words, launcherWords }: OpaqueCommand, specs: ShellSpecs): boolean {
  return (
    words.length > 0 && (spells(words, 0, specs) || spells([...launcherWords, ...words], launcherWords.length, specs))
  );
}

/** @param at Index of the program among the words. */
function spells(words: readonly ShellWord[], at: number, specs: ShellSpecs): boolean {
  const match = specs.match(words.map(wordText).join(' '));
  if (!match || match.spelledWords <= at) return false;
  const isSpelled = words
    .slice(0, match.spelledWords)
    .every(({ literal }) => literal !== undefined && !/\s/.test(literal));
  const program = basename(words[at]?.literal ?? '');
  return isSpelled && !actsBeyondRule(program, words.slice(at + 1), match.spelledWords - at - 1);
}

/** Report whether the script, or a nested one that a shell runs, is not understood. */
function isUnknown({ analysis, commands }: ReachedScript): boolean {
  return (
    analysis.isUnparsable ||
    commands.some(({ readings }) => readings.some(({ shellScripts }) => shellScripts.some(isUnknown)))
  );
}

function toPart(
  part: AnalysedCommand,
  reached: () => ReachedCommand | undefined,
  analysis: ShellAnalysis,
): PermissionPart {
  return {
    text: part.text,
    isReadOnly: part.problem === undefined,
    hits: (specs) => hitsOf(reached() ?? { part, readings: [] }, shellSpecs(specs)),
    covers: (specs) => {
      const spec = coverOf(part, analysis, shellSpecs(specs));
      return spec === undefined ? undefined : [spec];
    },
  };
}

/** @param isScript True to search text that cannot be parsed word by word. */
function findHit({ text, analysis, commands }: ReachedScript, specs: ShellSpecs, isScript = true): string | undefined {
  const whole = specs.match(collapseBlanks(text))?.spec;
  if (whole !== undefined) return whole;
  const found = firstOf(commands, (reached) => hitsOf(reached, specs));
  return found ?? (isScript && analysis.isUnparsable ? firstWordIn(text, specs) : undefined);
}

function hitsOf({ part, readings }: ReachedCommand, specs: ShellSpecs): string | undefined {
  const written = specs.match(collapseBlanks(part.text))?.spec;
  if (written !== undefined) return written;
  return firstOf(
    readings,
    (reading) =>
      firstOf(reading.texts, (text) => specs.match(text)?.spec) ??
      firstOf(reading.launched.commands, specs.matchSemantically) ??
      firstOf(reading.nested, (script) => hitInScript(script, reading, specs)),
  );
}

function hitInScript(script: ReachedScript, { launched }: Reading, specs: ShellSpecs) {
  // A commit message is neither a script nor valid syntax: only text that a shell runs is searched word by word.
  return (
    findHit(script, specs, launched.isLauncher) ?? (launched.isInterpreter ? commandIn(script.text, specs) : undefined)
  );
}

function firstOf<Item>(items: readonly Item[], find: (item: Item) => string | undefined): string | undefined {
  for (const item of items) {
    const found = find(item);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Search text that cannot be parsed for the first word of any rule, ignoring quotes and escapes. */
function firstWordIn(command: string, specs: ShellSpecs): string | undefined {
  return firstOf(plainWords(command), (word) => specs.firstWords.get(word) ?? specs.firstWords.get(basename(word)));
}

/** Longest sequence of words that is matched in another language. */
const MAX_RULE_WORDS = 8;

/** Search source text of another language for the words of a command in order: `subprocess.run(['git', 'push'])`. */
function commandIn(text: string, specs: ShellSpecs): string | undefined {
  const words = plainWords(text).map(basename);
  const starts = [...words.keys()].filter((at) => specs.firstWords.has(words[at] ?? ''));
  return firstOf(starts, (at) => specs.match(words.slice(at, at + MAX_RULE_WORDS).join(' '))?.spec);
}

function plainWords(text: string): readonly string[] {
  return text.replace(/\\\n|["'\\]/g, '').split(/[\s;&|()<>`{}[\]$=,:!]+/);
}

function findCover(command: string, analysis: ShellAnalysis, specs: ShellSpecs): readonly string[] | undefined {
  if (analysis.isUnparsable) return undefined;
  const whole = exactSpec(command, specs);
  if (whole !== undefined) return [whole];
  if (analysis.problems.length > 0 || analysis.commands.length === 0) return undefined;
  const found = new Set<string>();
  for (const part of analysis.commands) {
    const spec = coverOf(part, analysis, specs);
    if (spec === undefined && part.problem !== undefined) return undefined;
    if (spec !== undefined) found.add(spec);
  }
  return found.size > 0 ? [...found] : undefined;
}

/**
 * Return the spec that equals the command. A command with quotes must match to the letter, since blanks inside them
 * count.
 */
function exactSpec(command: string, specs: ShellSpecs): string | undefined {
  const whole = specs.matchExact(collapseBlanks(command));
  return whole !== undefined && (whole === command.trim() || !/["'\\]/.test(command)) ? whole : undefined;
}

function coverOf(part: AnalysedCommand, analysis: ShellAnalysis, specs: ShellSpecs): string | undefined {
  for (let words: readonly ShellWord[] | undefined = part.words; words; words = behindTransparent(words)) {
    const spec = coverWords(words, analysis, specs);
    if (spec !== undefined) return spec;
  }
  return undefined;
}

function coverWords(words: readonly ShellWord[], analysis: ShellAnalysis, specs: ShellSpecs): string | undefined {
  const program = programName(words[0]);
  if (program === undefined || /\s/.test(program)) return undefined;
  if (program === 'git' && analysis.changesDirectory) return undefined;
  const texts = [
    program,
    ...words.slice(1).map((word) => (/\s/.test(wordText(word)) ? `'${wordText(word)}'` : wordText(word))),
  ];
  const match = specs.match(texts.join(' '));
  if (!match) return undefined;
  // Words that the rule spells must be literal, and the others must not be options with side effects.
  const isSpelled = words.slice(0, match.spelledWords).every((word) => word.literal !== undefined);
  return isSpelled && !actsBeyondRule(program, words.slice(1), match.spelledWords - 1) ? match.spec : undefined;
}

function behindTransparent(words: readonly ShellWord[]): readonly ShellWord[] | undefined {
  const unwrapped = unwrap(programName(words[0]) ?? '', words.slice(1));
  return unwrapped?.isTransparent && unwrapped.problem === undefined && unwrapped.inner.length > 0
    ? unwrapped.inner
    : undefined;
}

function wordText(word: ShellWord): string {
  return word.literal ?? word.text;
}

/**
 * Report whether an argument beyond the spelled ones makes the program write, run or set something, or may turn into
 * one that does.
 *
 * @param program Any of the program's names: `gsed`, `mawk`.
 * @param spelled Number of `words` that the rule spells.
 */
function actsBeyondRule(program: string, words: readonly ShellWord[], spelled: number): boolean {
  if (spelled >= words.length) return false;
  const record = recordOf(program);
  if (!record) return false;
  if (record.actingOptions) return hasOption(record, record.actingOptions, words, spelled);
  return record.reads !== undefined && !isCoveredWhole(record) && exceedsReading(record.reads, words, spelled);
}

/** Report whether a rule covers every use of a program: people call it to act, or no argument does harm. */
function isCoveredWhole({ isBuiltin, isCoveredWhole, reads }: ProgramRecord): boolean {
  if (isBuiltin === true || isCoveredWhole === true || reads === undefined) return true;
  if (reads.alone !== undefined || reads.subcommands) return true;
  return reads.isOpen === true && reads.maxOperands === undefined;
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

/** Report whether a program that is known to read does more with words that the rule does not spell. */
function exceedsReading(record: ProgramSpec, words: readonly ShellWord[], spelled: number): boolean {
  const isReading = (given: readonly ShellWord[]) => judgeProgram(record, given, NO_FACTS).problem === undefined;
  if (isReading(words)) return false;
  const own = words.slice(0, spelled);
  // Tried with a value appended, since the rule may end with an option that takes one.
  const spellsActing = spelled > 0 && !isReading(own) && !isReading([...own, literalWord('1', false)]);
  if (!spellsActing) return true;
  // `Bash(date -s:*)` covers the side effect it spells; of further options it covers only read-only ones.
  const rest = parseArguments(words.slice(spelled), { ...record, flags: flagTable(record.flags ?? '') });
  return rest.problem !== undefined;
}
