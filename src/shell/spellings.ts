/** Equivalent spellings of one command, as rules may write it. */
import { takesNextWord } from './program-facts.ts';
import { findRecord, plainName } from './programs/index.ts';

/** Upper bound of the words of a command that are tried in turn; with more, its program counts as unknown. */
export const MAX_TRIED_WORDS = 64;

/** Return the last part of a path, without `.exe`. */
export function basename(program: string): string {
  const name = program.slice(program.lastIndexOf('/') + 1);
  return name.endsWith('.exe') ? name.slice(0, -'.exe'.length) : name;
}

/** List the command under each of its names: `git-push` is `git push`, `python3.11` is python3 and python. */
export function namesOf(words: readonly string[]): readonly (readonly string[])[] {
  const [program = '', ...rest] = words;
  if (program === 'git' && rest[0] === 'send-pack') return [words, ['git', 'push', ...rest.slice(1)]];
  if (program.startsWith('git-')) return [words, ['git', program.slice('git-'.length), ...rest]];
  const group = findRecord(program)?.commandGroup;
  if (group?.words.test(rest[0] ?? '') === true) return [words, [program, ...rest.slice(group.length)]];
  const plain = plainName(program);
  if (plain === undefined) return [words];
  const major = program.startsWith(plain) ? /^-?(\d+)\./.exec(program.slice(plain.length))?.[1] : undefined;
  return [words, ...(major === undefined ? [] : [[`${plain}${major}`, ...rest]]), [plain, ...rest]];
}

/** List the command with and without the options before its sub-command. */
export function spellings(words: readonly string[]): readonly (readonly string[])[] {
  const [program = ''] = words;
  return operandStarts(words).map((at) => (at === 1 ? words : [program, ...words.slice(at)]));
}

const FIRST: readonly number[] = [1];

/** List the indexes where the words after a program's own options may begin: one for each of its `spellings`. */
export function operandStarts(words: readonly string[]): readonly number[] {
  if (!words[1]?.startsWith('-')) return FIRST;
  const [program = ''] = words;
  if (program === 'git') return [1, behindGitOptions(words)];
  // For an option that is in no table, the next word may be its value or the sub-command.
  const starts = new Set(FIRST);
  for (const at of starts) {
    if (starts.size > MAX_TRIED_WORDS || !words[at]?.startsWith('-')) continue;
    if (!takesNextWord(program, words[at] ?? '')) starts.add(at + 1);
    if (words[at + 1]?.startsWith('-') === false) starts.add(at + 2);
  }
  return [...starts];
}

function behindGitOptions(words: readonly string[]): number {
  let at = 1;
  while (words[at]?.startsWith('-')) at += takesNextWord('git', words[at] ?? '') ? 2 : 1;
  return at;
}
