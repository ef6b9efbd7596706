/** One command in the other words that a rule may spell it with. */
import { takesNextWord } from './value-options.ts';

/** Most words of a command that are tried in turn; with more, nobody can tell what it runs. */
export const MAX_TRIED_WORDS = 64;

/** Programs that find files, and may run another one for each. */
export const FINDERS = /^(?:find|fd|fdfind)$/;

/** Words before a sub-command that change nothing about it: `docker container run`, `yarn workspace NAME publish`. */
const WITHIN = new Map([
  ['docker', /^(?:container|image)$/],
  ['podman', /^(?:container|image)$/],
  ['git', /^(?:lfs|subtree)$/],
  ['yarn', /^workspace$/],
]);

/** `python3.11` is python3, and python; `bash-5.2` is bash. */
const VERSIONED =
  /^((?:i?python|pypy|pip|ruby|perl|php|lua|luajit|node|nodejs|bash|zsh|ksh|tclsh|guile|ghc)(?=-?\d))-?(\d+)((?:\.\d+)*)$/;

/** Other names of a program: a version behind it, the GNU one of several, a smaller one of its kind. */
const SUFFIXED = /^(gcc|g\+\+|cpp|clang|clang\+\+)-\d+(?:\.\d+)*$/;
const GNU = new RegExp(
  '^g(sed|make|tar|find|xargs|grep|egrep|fgrep|cat|tac|nl|head|tail|wc|cut|paste|tr|sort|uniq|comm|join|fold|fmt|pr|expand|' +
    'unexpand|od|base64|base32|basenc|(?:md5|sha1|sha224|sha256|sha384|sha512|b2|ck)?sum|seq|shuf|split|csplit|numfmt|factor|tsort|' +
    'ls|dir|vdir|stat|du|df|readlink|realpath|basename|dirname|date|env|timeout|nice|nohup|stdbuf|chroot|tee|truncate|shred|' +
    'rm|rmdir|unlink|cp|mv|ln|link|dd|install|mkdir|mkfifo|mknod|mktemp|touch|sync|chmod|chown|chgrp|kill|id|who|uptime|hostid|printenv)$',
);
const AWKS = /^[gmn]awk$/;

/** The last part of a path, without what Windows adds. */
export function basename(program: string): string {
  const name = program.slice(program.lastIndexOf('/') + 1);
  return name.endsWith('.exe') ? name.slice(0, -'.exe'.length) : name;
}

/** The command under each of its names: `git-push` is `git push`. */
export function namesOf(words: readonly string[]): readonly (readonly string[])[] {
  const [program = '', ...rest] = words;
  if (program === 'hub') return [words, ['git', ...rest]];
  if (program === 'git' && rest[0] === 'send-pack') return [words, ['git', 'push', ...rest.slice(1)]];
  if (program.startsWith('git-')) return [words, ['git', program.slice('git-'.length), ...rest]];
  if (WITHIN.get(program)?.test(rest[0] ?? '')) return [words, [program, ...rest.slice(program === 'yarn' ? 2 : 1)]];
  const [, name, major = '', minor] = /\d$/.test(program) ? (VERSIONED.exec(program) ?? []) : [];
  const same = name === undefined ? otherName(program) : undefined;
  if (same !== undefined) return [words, [same, ...rest]];
  if (name === undefined) return [words];
  return [words, ...(minor === '' ? [] : [[`${name}${major}`, ...rest]]), [name, ...rest]];
}

function otherName(program: string): string | undefined {
  if (AWKS.test(program)) return 'awk';
  return SUFFIXED.exec(program)?.[1] ?? GNU.exec(program)?.[1];
}

/** The command without the options before its sub-command. */
export function spellings(words: readonly string[]): readonly (readonly string[])[] {
  const [program = ''] = words;
  return operandStarts(words).map((at) => (at === 1 ? words : [program, ...words.slice(at)]));
}

const FIRST: readonly number[] = [1];

/** Where the words may begin that follow a program and its options: one place for each of its `spellings`. */
export function operandStarts(words: readonly string[]): readonly number[] {
  if (!words[1]?.startsWith('-')) return FIRST;
  const [program = ''] = words;
  if (program === 'git') return [1, behindGitOptions(words)];
  // Which options take a value is not always known: the word behind one may be that, or the sub-command.
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
