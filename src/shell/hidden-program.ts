/**
 * Detects commands whose words do not show which program runs: `eval "$x"`, `sudo $x`, `echo … | sh`. No rule can be
 * matched against them.
 */
import { launchedCommands } from './launchers.ts';
import { ANY_TEXT, ANY_WORDS, hasPlaceholder } from './semantic-match.ts';
import { wordTemplates } from './word-templates.ts';
import { isFinderName, isLauncherName, isShellName, takesNextWord } from './program-facts.ts';
import { recordOf } from './programs/index.ts';
import { basename, MAX_TRIED_WORDS, spellings } from './spellings.ts';
import { takesInput } from './supplied-words.ts';
import type { ShellWord } from './word.ts';

/** Report whether the words of a command that does more than read leave its program unknown. */
export function hidesProgram(words: readonly ShellWord[]): boolean {
  if (words[0]?.literal === undefined) return true;
  const texts = words.map((word) => word.literal ?? word.roots?.[0] ?? wordTemplates(word)[0] ?? '');
  const { commands, isLauncher } = launchedCommands(texts);
  if (isLauncher && texts.length > MAX_TRIED_WORDS) return true;
  const program = basename(texts[0] ?? '');
  const runsNext = isFinderName(program);
  const runner = recordOf(program)?.runsBehind;
  if (
    runsNext &&
    texts.some(
      (text, at) => runner?.test(texts[at - 1] ?? '') === true && (hasPlaceholder(text) || text.includes('{}')),
    )
  )
    return true;
  const isFed = takesInput(texts);
  const placeholder = isFed ? inputMark(texts) : runsNext ? '{}' : undefined;
  if (commands.some((command) => hidesInner(command, placeholder))) return true;
  // `xargs sudo`: the program comes from standard input.
  return isFed && launchedCommands([...texts, ANY_TEXT]).commands.some((command) => hidesInner(command, placeholder));
}

/** Return the text that `xargs -I` replaces by its input. */
function inputMark(texts: readonly string[]): string {
  const at = texts.findIndex((text) => text.startsWith('-I'));
  return (at < 0 ? undefined : texts[at]?.slice(2) || texts[at + 1]) ?? '{}';
}

function holds(text: string, mark: string | undefined): boolean {
  return mark !== undefined && text.includes(mark);
}

function runsScripts(program: string): boolean {
  return isShellName(program) || recordOf(program)?.isShellFeeder === true;
}

/** Report whether a launcher joins its words to a script. */
function joinsWords(program: string): boolean {
  return recordOf(program)?.isJoiner === true;
}

/** Report whether a word names a program that runs scripts. */
export function isShell({ literal }: ShellWord): boolean {
  const name = basename(literal ?? '');
  return runsScripts(name) || joinsWords(name);
}

/** List the scripts among the words of commands that a shell runs. */
export function shellScripts(commands: readonly (readonly string[])[]): readonly string[] {
  return commands.flatMap(([program = '', ...rest]) => {
    if (program === 'trap') return rest.slice(0, 1);
    if (joinsWords(program)) return [rest.slice(program === 'ssh' ? 1 : 0).join(' ')];
    return runsScripts(program) ? scriptOf(rest) : [];
  });
}

function hidesInner([program = '', ...rest]: readonly string[], placeholder: string | undefined): boolean {
  if (program === 'git') return hasPlaceholder(spellings([program, ...rest]).at(-1)?.[1]);
  // `npx eslint .` sources nothing.
  if (/^(?:source|\.)$/.test(program) && rest.length === 0) return false;
  if (runsScripts(program)) return hidesScript(rest, placeholder);
  if (/^(?:make|crontab)$/.test(program)) return rest.includes('-');
  if (!isLauncherName(program)) return false;
  const from = innerAt(program, rest);
  if (joinsWords(program)) return rest.slice(from).some(hasPlaceholder);
  return hasPlaceholder(rest[from]) || (program === 'xargs' && holds(rest[from] ?? '', placeholder));
}

function hidesScript(rest: readonly string[], placeholder: string | undefined): boolean {
  const [script] = scriptOf(rest);
  if (script !== undefined) return hasPlaceholder(script) || holds(script, placeholder);
  const isInput = (word: string) => word.startsWith('-') || /^(?:now|\/dev\/(?:stdin|fd\/0))$/.test(word);
  const operands = rest.filter((_word, at) => !/^[-+][oO]$|^--(?:rc|init-)file$/.test(rest[at - 1] ?? ''));
  return rest.includes('-s') || rest.includes(ANY_WORDS) || operands.every(isInput);
}

/** Return the script of `sh -ec SCRIPT`. */
function scriptOf(words: readonly string[]): readonly string[] {
  const at = words.findIndex((word) => /^-\w*c\w*$/.test(word));
  return at < 0
    ? []
    : words
        .slice(at + 1)
        .filter((word) => !/^[-+]/.test(word))
        .slice(0, 1);
}

/** Return the index of the inner program among a launcher's words. */
function innerAt(program: string, words: readonly string[]): number {
  let leading = recordOf(program)?.leadingOperands ?? 0;
  let at = 0;
  for (; at < words.length; at++) {
    const word = words[at] ?? '';
    if (word.startsWith('-')) at += takesNextWord(program, word) ? 1 : 0;
    else if (!/^[^=]+=/.test(word) && leading-- <= 0) break;
  }
  return at;
}
