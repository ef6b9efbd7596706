/**
 * Finds every command that a command may run, for deny and ask rules, which must hold behind any launcher.
 *
 * The search overestimates: any word after a launcher is tried as a command, and any text that could be a script is
 * parsed as one.
 */

import { hasPlaceholder } from './semantic-match.ts';
import { isInterpreterName, isLauncherName, isMessage, takesNextWord } from './program-facts.ts';
import { recordOf } from './programs/index.ts';
import { basename, MAX_TRIED_WORDS, namesOf } from './spellings.ts';

/** Upper bounds of the positions behind launchers that are tried as a program, and of the words examined from each. */
const MAX_STARTS = 2 * MAX_TRIED_WORDS;
const MAX_LAUNCHED_WORDS = MAX_TRIED_WORDS;

/** Return the pattern of words after which this program runs another one on this machine. */
export function runnerPattern(program: string): RegExp | undefined {
  const record = recordOf(program);
  return record?.isContainerRunner === true ? undefined : record?.runsBehind;
}

/** Commands that one command may run: its own words, and scripts among them. */
export interface LaunchedCommands {
  /** Word lists, each with the program's name first, without its path. */
  readonly commands: readonly (readonly string[])[];
  /** Texts that a shell may run. */
  readonly scripts: readonly string[];
  /** True if those texts are in the shell's language: text that cannot be parsed is then searched word by word. */
  readonly isLauncher: boolean;
  /** True if those texts are in another language, in which commands are embedded words. */
  readonly isInterpreter: boolean;
}

/** Cache size. Within a call a command is examined several times: for its paths, its rules and its warnings. */
const MAX_REMEMBERED = 32;
const remembered = new Map<string, LaunchedCommands>();

/**
 * Find all commands that a command may run.
 *
 * @param words Decoded words; unknown words keep their source text.
 * @param acts True if it does more than read: then any program may run the values of its options.
 */
export function launchedCommands(words: readonly string[], acts = true): LaunchedCommands {
  const key = `${String(acts)} ${words.length} ${words.join('\0')}`;
  let found = remembered.get(key);
  if (!found) {
    if (remembered.size >= MAX_REMEMBERED) remembered.clear();
    remembered.set(key, (found = findLaunched(words, acts)));
  }
  return found;
}

function findLaunched(words: readonly string[], acts: boolean): LaunchedCommands {
  const program = basename(words[0] ?? '');
  const rest = words.slice(1);
  const record = recordOf(program);
  const runner = record?.runsBehind;
  const isLauncher = isLauncherName(program) || (runner !== undefined && rest.some((word) => runner.test(word)));
  const isInterpreter = acts && isInterpreterName(program);
  const own = [program, ...rest];
  const commands = [...namesOf(own)];
  if (!acts && !isLauncher && !isInterpreterName(program)) return { commands, scripts: [], isLauncher, isInterpreter };

  // `command -v rm` only looks it up.
  if (program === 'command' && /^-p?[vV]/.test(rest[0] ?? ''))
    return { commands: [own], scripts: [], isLauncher, isInterpreter };

  const values = rest.flatMap((word, at) => (isMessage(program, rest[at - 1]) ? [] : possibleValues(word)));
  const starts = isLauncherName(program) ? [0] : [];
  if (runner) rest.forEach((word, at) => runner.test(word) && starts.push(at + 1));
  commands.push(...behind(rest, starts));
  if (runner)
    rest.forEach((word, at) => {
      const [path, ...more] = joinedCommand(word, rest[at - 1], runner);
      if (path !== undefined) commands.push(...namesOf([basename(path), ...more]));
    });
  // `chamber exec x -- rm y`: the words after `--` are often a command, whatever the program.
  const dashes = rest.indexOf('--');
  if (acts && dashes >= 0 && record?.hasOperandsBehindDashes !== true)
    commands.push([basename(rest[dashes + 1] ?? ''), ...rest.slice(dashes + 2)]);
  // Rules name targets one at a time.
  if (program === 'make')
    commands.push(
      ...rest.flatMap((target, at) => (takesNextWord(program, rest[at - 1] ?? '') ? [] : [[program, target]])),
    );
  // `--pre=rm`, `alias ls=rm`, `-c alias.p=push`.
  if (acts)
    commands.push(
      ...rest.flatMap((word) => /^[\w.:-]+=([^\s=]+)$/.exec(word)?.[1] ?? []).map((one) => [basename(one)]),
    );
  if (program === 'git')
    commands.push(
      ...rest.flatMap((word) => /^(?:-c)?alias\.[^=]+=([^!].*)/s.exec(word)?.[1] ?? []).map((alias) => ['git', alias]),
    );
  const scripts = values.filter((value) => value.length > 2 && /[\s;&|`$()]/.test(value));
  const joined = /^(?:eval|watch|parallel|ssh)$/.test(program) ? rest.join(' ') : '';
  // With placeholders the joined text is not a script that can be parsed; for parallel each word was already tried as a
  // program.
  if (joined !== '' && !(program === 'parallel' && hasPlaceholder(joined))) scripts.push(joined);
  return { commands, scripts, isLauncher, isInterpreter };
}

/**
 * Split the command inside one word, joined to its arguments or to the option: `-wrapper rm,x`, `-zrm`, `EXEC:rm`.
 *
 * @param runner Words after which the program runs another one.
 */
export function joinedCommand(word: string, before: string | undefined, runner: RegExp): readonly string[] {
  const [, option = '', value = ''] = /^(-[a-zA-Z](?=[^=])|--?[\w-]+(?==)|[a-zA-Z]+:)=?(.*)$/s.exec(word) ?? [];
  const text = runner.test(option) ? value : runner.test(before ?? '') && /[\s,]/.test(word) ? word : '';
  return text === '' ? [] : text.split(/[\s,]+/, MAX_TRIED_WORDS);
}

/** List the word itself, and the parts of it that may be the value of an option or an assignment. */
function possibleValues(word: string): readonly string[] {
  if (!/^[-:+!]|=/.test(word)) return [word];
  const values = [word, word.replace(/^(?:-\w*S|-\w|[:+]*!)/, '')];
  for (let at = word.indexOf('='), most = 3; at >= 0 && most > 0; at = word.indexOf('=', at + 1), most--)
    values.push(word.slice(at + 1).replace(/^!/, ''));
  return [...new Set(values)];
}

/** Try each word that is not an option as the program, and the words after it as its arguments. */
function behind(words: readonly string[], starts: readonly number[]): readonly (readonly string[])[] {
  const tried = new Set<number>();
  for (const start of starts) {
    const end = Math.min(words.length, start + MAX_TRIED_WORDS);
    for (let at = start; at < end && tried.size < MAX_STARTS; at++) tried.add(at);
  }
  const found: (readonly string[])[] = [];
  for (const at of tried) {
    const word = words[at] ?? '';
    if (word === '' || word.startsWith('-')) continue;
    found.push(...namesOf([basename(word), ...words.slice(at + 1, at + MAX_LAUNCHED_WORDS)]));
  }
  return found;
}
