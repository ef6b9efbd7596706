/**
 * Finds executed text that a command line does not show: script files, input of interpreters, names that arithmetic
 * evaluates. Rules about commands cannot be matched against it.
 *
 * Ordinary programs, known or not, show in their words what they do and are not opaque.
 */
import { joinedCommand, runnerPattern } from './launchers.ts';
import { isShell, shellScripts } from './hidden-program.ts';
import { isInterpreterName, isLauncherName, takesNextWord } from './program-facts.ts';
import type { HiddenText } from './program-record.ts';
import { recordOf } from './programs/index.ts';
import type { ReachedScript } from './reach.ts';
import type { AnalysedCommand, AssignedVariable } from './shell-analysis.ts';
import { basename, MAX_TRIED_WORDS, namesOf } from './spellings.ts';
import type { ShellWord } from './word.ts';

/** One command that executes hidden text. */
export interface OpaqueCommand {
  /** Hidden text, as the subject of a sentence. */
  readonly what: string;
  /** Program that runs it, with its arguments; empty if the shell itself does. */
  readonly words: readonly ShellWord[];
  /** Words before the program: launchers and their options. */
  readonly launcherWords: readonly ShellWord[];
}

/** Options that only print information about the program. */
const INFO_OPTION = /^(?:--?version|-[vVh]|--?help)$/;

/** Programs in folders of the system, which are identified by name. */
const SYSTEM_PROGRAM = /^\/(?:usr\/(?:local\/)?)?s?bin\/[^/]+$|^\/(?:usr\/)?lib(?:32|64|x32)?\/[^/]+$/;

/** Variables that name folders or files whose text is run, or options that do. */
const EXECUTED_VARIABLE =
  /^(?:PATH|LD_\w+|DYLD_\w+|BASH_ENV|ENV|PYTHON(?:STARTUP|PATH|HOME)|PERL5(?:OPT|LIB)|RUBY(?:OPT|LIB)|NODE_PATH|GIT_EXEC_PATH|GIT_CONFIG\w*|LESSOPEN|LESSCLOSE|MAKEFLAGS|MAKEFILES|_?JAVA_(?:TOOL_)?OPTIONS|GCONV_PATH|PS4|PROMPT_COMMAND)$/;

/** Options of Node that load a file first. */
const LOADING_OPTION = /(?:^|[\s"'])(?:-r|--(?:require|import|(?:experimental-)?loader))\b/;

/** A PATH that consists of the system's folders. */
const SYSTEM_PATH =
  /^(?:(?:\/usr(?:\/local)?)?\/s?bin|\$PATH|\$\{PATH\})(?::(?:(?:\/usr(?:\/local)?)?\/s?bin|\$PATH|\$\{PATH\}))*$/;

/** Values of options of ssh and git that name a program to run. */
const RUNNING_TEXT =
  /(?:Proxy|Local|Remote|KnownHosts)Command\b|^ext::|(?:core\.hooksPath|include\.path|--exec-path)=/i;

/** Commands of sqlite3 that run programs, or read files with further commands. */
const DATABASE_COMMAND = /^\s*\.(?:sh|sy|r|l|i|o|w)|\\!|\bload_extension\b/im;

const DATABASES = /^(?:psql|mysql|mariadb)$/;

/** Find the text that a line runs and does not show. */
export function* opaqueCommands({ analysis, commands }: ReachedScript): Generator<OpaqueCommand> {
  for (const what of analysis.evaluations) yield { what, words: [], launcherWords: [] };
  const variable = analysis.assigned.find(isExecutedVariable);
  if (variable) yield { what: `What "${variable.name}" makes programs run`, words: [], launcherWords: [] };
  for (const { part, readings } of commands) {
    if (part.problem === undefined) continue;
    yield* opaqueParts(part);
    for (const { shellScripts: scripts } of readings) for (const script of scripts) yield* opaqueCommands(script);
  }
}

function* opaqueParts(part: AnalysedCommand): Generator<OpaqueCommand> {
  const { words } = part;
  const variable = words.map(assignmentIn).find((found) => found && isExecutedVariable(found));
  if (variable) yield { what: `What "${variable.name}" makes programs run`, words: [], launcherWords: [] };
  for (const start of [...programPlaces(words)].slice(0, MAX_TRIED_WORDS)) {
    const inner = words.slice(start);
    const what = opaqueText(inner, part);
    if (what !== undefined) yield { what, words: inner, launcherWords: words.slice(0, start) };
    else yield* joinedOpaque(inner, part, words.slice(0, start));
  }
}

/** Find programs joined to an option or to arguments in one word: `--pre=./x`. */
function* joinedOpaque(
  words: readonly ShellWord[],
  part: AnalysedCommand,
  launcherWords: readonly ShellWord[],
): Generator<OpaqueCommand> {
  const texts = words.map(textOf);
  const runner = runnerPattern(nameOf(texts[0]));
  if (!runner) return;
  for (const [at, text] of texts.entries()) {
    const joined = at > 0 ? joinedCommand(text, texts[at - 1], runner) : [];
    const what = joined.length > 0 ? opaqueText(joined.map(plain), part) : undefined;
    if (what !== undefined) yield { what, words, launcherWords };
  }
}

function assignmentIn({ text }: ShellWord): AssignedVariable | undefined {
  const [, name, value = ''] = /^["']?(\w+)\+?=(.*)$/s.exec(text) ?? [];
  return name === undefined ? undefined : { name, value };
}

function isExecutedVariable({ name, value }: AssignedVariable): boolean {
  if (name === 'NODE_OPTIONS') return LOADING_OPTION.test(value);
  return EXECUTED_VARIABLE.test(name) && !(name === 'PATH' && SYSTEM_PATH.test(value.replaceAll('"', '')));
}

/** Return the possible indexes of programs: the first word, and the programs that launchers run in turn. */
function programPlaces(words: readonly ShellWord[]): ReadonlySet<number> {
  const places = new Set([0]);
  for (const at of places) {
    // A line with more positions counts as not understood, whatever it runs.
    if (places.size > MAX_TRIED_WORDS) break;
    const program = nameOf(textOf(words[at]));
    const runner = runnerPattern(program);
    if (runner) words.forEach((word, place) => place > at && runner.test(textOf(word)) && places.add(place + 1));
    if (isLauncherName(program) && !isShell(plain(program)))
      for (const place of innerPlaces(program, words, at)) places.add(place);
  }
  return places;
}

/**
 * List the operands of a launcher that may be its program. After an option that is in no table, both readings count.
 */
function innerPlaces(program: string, words: readonly ShellWord[], start: number): readonly number[] {
  const places: number[] = [];
  let leading = recordOf(program)?.leadingOperands ?? 0;
  for (let at = start + 1; at < words.length; at++) {
    const text = textOf(words[at]);
    if (text.startsWith('-')) at += takesNextWord(program, text) ? 1 : 0;
    else if (!/^\w+=/.test(text) && leading-- <= 0) {
      places.push(at);
      if (!textOf(words[at - 1]).startsWith('-')) break;
    }
  }
  return places;
}

/** Describe the text that a program runs and its words do not show, or return undefined. */
function opaqueText(words: readonly ShellWord[], part: AnalysedCommand): string | undefined {
  const [first, ...rest] = words;
  const path = textOf(first);
  const name = basename(path);
  const given = rest.map(textOf);
  const [program = name, ...texts] = namesOf([name, ...given]).at(-1) ?? [];
  const shown = `"${[path, ...given].join(' ').slice(0, MAX_SHOWN_CHARS)}"`;
  const what = `What ${shown} runs`;
  if (path.includes('/') && !SYSTEM_PROGRAM.test(path)) return what;
  if (texts.some((text) => RUNNING_TEXT.test(text))) return what;
  if (recordOf(program)?.isEvaluating === true)
    return isEvaluated(program, rest) ? `What "${program}" evaluates` : undefined;
  if (texts.length > 0 && texts.every((text) => INFO_OPTION.test(text))) return undefined;
  if (/^(?:crontab|source|\.)$/.test(program) && texts.every((text) => /^-[lr]$/.test(text)))
    return program === 'crontab' && texts.length === 0 ? what : undefined;
  if (program === 'enable') return texts.some((text) => /^-\w*f/.test(text)) ? what : undefined;
  if (runsHiddenText(program, texts, part.input)) return what;
  if (/^(?:sqlite3|duckdb)$/.test(program))
    return texts.length < 2 || texts.some((text) => DATABASE_COMMAND.test(text)) ? what : undefined;
  if (isShell(plain(program))) return isShellOpaque(program, texts, part) ? what : undefined;
  const { hiddenText, inlineOptions: inline } = recordOf(program) ?? {};
  // The record is complete for this program.
  if (hiddenText !== undefined) return undefined;
  if (inline) return isInlineText(program, inline, texts, part.input) ? undefined : what;
  return isInterpreterName(program) && !isLauncherName(program) ? what : undefined;
}

/** Longest part of a command that is shown in a question. */
const MAX_SHOWN_CHARS = 80;

/** Report whether the text is inline, or in a literal here-document, and precedes any file name. */
function isInlineText(program: string, inline: RegExp, texts: readonly string[], input: string | undefined): boolean {
  // The operands of a database client are not scripts, and its meta commands run programs.
  if (DATABASES.test(program))
    return (
      !DATABASE_COMMAND.test([...texts, input].join('\n')) &&
      (texts.some((text) => inline.test(text)) || input !== undefined)
    );
  for (const text of texts) {
    if (inline.test(text)) return true;
    if (!text.startsWith('-') || text === '--') return false;
  }
  return input !== undefined;
}

function isShellOpaque(program: string, texts: readonly string[], { input }: AnalysedCommand): boolean {
  if (/^(?:eval|watch|trap|ssh)$/.test(program)) return program === 'ssh' && isBareConnection(texts);
  if (/^(?:at|batch)$/.test(program))
    return !texts.some((text) => /^-[lrdc]$/.test(text)) && (input === undefined || texts.includes('-f'));
  if (shellScripts([[program, ...texts]]).length > 0) return false;
  const operands = texts.filter((text) => !text.startsWith('-'));
  return operands.length > 0 || input === undefined;
}

/** Report whether ssh runs standard input, as `ssh host` does. */
function isBareConnection(texts: readonly string[]): boolean {
  const operands = texts.filter((text, at) => !text.startsWith('-') && !takesNextWord('ssh', texts[at - 1] ?? ''));
  return operands.length < 2 && !texts.some((text) => /^-\w*[NOGV]/.test(text));
}

/**
 * Report whether a builtin evaluates a subscript in a name, which runs commands: `printf -v`, `declare -n`, `[ -v ]`.
 */
function isEvaluated(program: string, words: readonly ShellWord[]): boolean {
  const texts = words.map(textOf);
  // A name refers to the variable's text, which is evaluated in turn.
  if (program === 'let') return words.some(({ literal }) => literal === undefined || !/^(?:\w+=)?\d+$/.test(literal));
  if (/^(?:declare|typeset|local)$/.test(program) && texts.some((text) => /^-\w*[ni]/.test(text))) return true;
  if (/^(?:mapfile|readarray)$/.test(program)) return texts.some((text) => /^-\w*C/.test(text));
  return words.some(({ literal }, at) => {
    const isNamed = /^(?:test|\[|printf)$/.test(program);
    const isName = !isNamed || /^-[vR]$/.test(texts[at - 1] ?? '');
    return isName && (literal === undefined ? isNamed : /\[[^\]]*[$`]/.test(literal));
  });
}

/**
 * Report whether a program runs text that its words do not show, according to its record.
 *
 * @param texts Words without the program.
 * @param input Literal standard input.
 */
function runsHiddenText(program: string, texts: readonly string[], input: string | undefined): boolean {
  const uses = recordOf(program)?.hiddenText;
  return uses === 'always' || uses?.some((use) => hidesText(use, program, texts, input)) === true;
}

function hidesText(use: HiddenText, program: string, texts: readonly string[], input: string | undefined): boolean {
  const { words, command, unless, readsCommandsFromInput } = use;
  if (readsCommandsFromInput === true && input !== undefined) return false;
  if (words && !texts.some((text) => words.test(text))) return false;
  if (!command) return unless?.test(texts.join(' ')) !== true;
  return commandPlaces(program, texts).some(
    (at) => command.test(texts[at] ?? '') && unless?.test(texts.slice(at + 1).join(' ')) !== true,
  );
}

/** List the possible indexes of the sub-command. After an option that is in no table, both readings count. */
function commandPlaces(program: string, texts: readonly string[]): readonly number[] {
  const places: number[] = [];
  for (let at = 0; at < texts.length; at++) {
    const text = texts[at] ?? '';
    if (/^[-+]/.test(text)) at += takesNextWord(program, text) ? 1 : 0;
    else if (places.push(at) && !/^[-+]/.test(texts[at - 1] ?? '')) break;
  }
  return places;
}

/** Return the name of a program without path and version. */
function nameOf(path = ''): string {
  const name = basename(path);
  return namesOf([name]).at(-1)?.[0] ?? name;
}

function textOf(word: ShellWord | undefined): string {
  return word?.literal ?? word?.patterns?.[0] ?? word?.prefix ?? '';
}

function plain(literal: string): Pick<ShellWord, 'literal'> & ShellWord {
  return { text: literal, literal, prefix: literal, isSplit: false, mayBeFlag: false };
}
