/**
 * Matches a command line against the specs of Bash rules.
 *
 * Allowing needs every part covered, and nothing around the parts that writes or evaluates. Denying and
 * asking try every command that may run, whatever launches it.
 */
import type { PermissionMatcher, PermissionPart } from '../../contract/tool.ts';
import type { AnalysedCommand, ShellAnalysis } from './script-walk.ts';
import { analysisOf } from './classify.ts';
import { hasDangerousOption } from './dangerous-options.ts';
import { isShell, shellScripts } from './hidden-program.ts';
import { programName } from './judge-command.ts';
import { collapseBlanks, shellSpecs, type ShellSpecs } from './shell-specs.ts';
import { createReadings, type Reading, type Readings } from './readings.ts';
import { basename } from './spellings.ts';
import { unwrap } from './wrappers.ts';
import type { ShellWord } from './word.ts';

/** Scripts within scripts that deny rules follow; each level has to be quoted in the one before. */
const MOST_NESTING = 6;

/** A matcher for one command line; see `PermissionMatcher`. */
export function shellMatcher(command: string): PermissionMatcher {
  const analysis = analysisOf(command);
  const readings = createReadings();
  return {
    ...(isUnknown(analysis, readings, MOST_NESTING) && { isUnparsable: true }),
    parts: analysis.commands.map((part) => toPart(part, analysis, readings)),
    hits: (specs) => findHit(command, analysis, { specs: shellSpecs(specs), readings: readings.plain }, MOST_NESTING),
    mayHit: (specs) => {
      if (analysis.commands.every((part) => readings.open(part).length === 0)) return undefined;
      const find = (read: Search['readings']) =>
        findHit(command, analysis, { specs: shellSpecs(specs), readings: read }, MOST_NESTING);
      return find(readings.plain) === undefined ? find(readings.open) : undefined;
    },
    covers: (specs) => findCover(command, analysis, shellSpecs(specs)),
  };
}

/** Whether it, or a script in its words, cannot be understood. */
function isUnknown(analysis: ShellAnalysis, readings: Readings, depth: number): boolean {
  if (analysis.isUnparsable || depth === 0) return analysis.isUnparsable;
  return analysis.commands.some(
    (part) =>
      part.words.some(isShell) &&
      readings
        .plain(part)
        .some(
          ({ isLauncher, commands }) =>
            isLauncher && shellScripts(commands).some((script) => isUnknown(analysisOf(script), readings, depth - 1)),
        ),
  );
}

function toPart(part: AnalysedCommand, analysis: ShellAnalysis, readings: Readings): PermissionPart {
  return {
    text: part.text,
    isReadOnly: part.problem === undefined,
    hits: (specs) => hitsOf(part, { specs: shellSpecs(specs), readings: readings.plain }, MOST_NESTING),
    covers: (specs) => {
      const spec = coverOf(part, analysis, shellSpecs(specs));
      return spec === undefined ? undefined : [spec];
    },
  };
}

/** What is looked for, and how words are read that are not written out. */
interface Search {
  readonly specs: ShellSpecs;
  readonly readings: (part: AnalysedCommand) => readonly Reading[];
}

function findHit(command: string, analysis: ShellAnalysis, search: Search, depth: number): string | undefined {
  const { specs } = search;
  const whole = specs.match(collapseBlanks(command))?.spec;
  if (whole !== undefined) return whole;
  for (const part of analysis.commands) {
    const spec = hitsOf(part, search, depth);
    if (spec !== undefined) return spec;
  }
  return analysis.isUnparsable ? firstWordIn(command, specs) : undefined;
}

function hitsOf(part: AnalysedCommand, search: Search, depth: number): string | undefined {
  const { specs, readings } = search;
  const written = specs.match(collapseBlanks(part.text))?.spec;
  if (written !== undefined) return written;
  for (const reading of readings(part)) {
    const spec =
      firstOf(reading.texts, (text) => specs.match(text)?.spec) ?? firstOf(reading.commands, specs.findMeant);
    if (spec !== undefined) return spec;
    const scripts = depth > 0 ? [...reading.scripts, ...part.settings] : [];
    const nested = firstOf(scripts, (script) => hitInScript(script, reading, search, depth - 1));
    if (nested !== undefined) return nested;
  }
  return undefined;
}

function hitInScript(
  script: string,
  { isLauncher, isInterpreter }: Reading,
  search: Search,
  depth: number,
): string | undefined {
  const analysis = analysisOf(script);
  // A commit message is no script, and often no syntax either: only what a shell is handed is searched word by word.
  const known = isLauncher ? analysis : { ...analysis, isUnparsable: false };
  return findHit(script, known, search, depth) ?? (isInterpreter ? commandIn(script, search.specs) : undefined);
}

function firstOf<Item>(items: readonly Item[], find: (item: Item) => string | undefined): string | undefined {
  for (const item of items) {
    const found = find(item);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** What cannot be parsed is searched for the first word of any rule, quotes and escapes taken out. */
function firstWordIn(command: string, specs: ShellSpecs): string | undefined {
  return firstOf(plainWords(command), (word) => specs.firstWords.get(word) ?? specs.firstWords.get(basename(word)));
}

/** Most words of a rule that are looked for in another language. */
const MOST_RULE_WORDS = 8;

/** `subprocess.run(['git', 'push'])`: the words of a command, one after another. */
function commandIn(text: string, specs: ShellSpecs): string | undefined {
  const words = plainWords(text).map(basename);
  const starts = [...words.keys()].filter((at) => specs.firstWords.has(words[at] ?? ''));
  return firstOf(starts, (at) => specs.match(words.slice(at, at + MOST_RULE_WORDS).join(' '))?.spec);
}

function plainWords(text: string): readonly string[] {
  return text.replace(/\\\n|["'\\]/g, '').split(/[\s;&|()<>`{}[\]$=,:!]+/);
}

function findCover(command: string, analysis: ShellAnalysis, specs: ShellSpecs): readonly string[] | undefined {
  if (analysis.isUnparsable) return undefined;
  const whole = specs.matchExact(collapseBlanks(command));
  // Blanks inside quotes mean something: the text must be the rule's to the letter where it has any.
  if (whole !== undefined && (whole === command.trim() || !/["'\\]/.test(command))) return [whole];
  if (analysis.problems.length > 0 || analysis.commands.length === 0) return undefined;
  const found = new Set<string>();
  for (const part of analysis.commands) {
    const spec = coverOf(part, analysis, specs);
    if (spec === undefined && part.problem !== undefined) return undefined;
    if (spec !== undefined) found.add(spec);
  }
  return found.size > 0 ? [...found] : undefined;
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
  // What the rule spells must be written out, and what it does not spell must not be an option that acts.
  const isSpelled = words.slice(0, match.spelledWords).every((word) => word.literal !== undefined);
  return isSpelled && !hasDangerousOption(program, words.slice(1), match.spelledWords - 1) ? match.spec : undefined;
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
