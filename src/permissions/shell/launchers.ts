/**
 * Every command that a command may run, for deny and ask rules: they must hold behind any launcher.
 *
 * This errs on the side of finding too much. Whatever stands behind a launcher is tried as a command,
 * and any text that could be a script is parsed as one.
 */

/** Programs whose every word may be the program that they run. */
const LAUNCHERS = new Set(
  (
    'timeout nice time stdbuf command builtin exec env xargs sudo doas su pkexec ionice chrt taskset nohup setsid watch busybox toybox strace ltrace gdb chroot flock ' +
    'parallel bash sh zsh dash ksh mksh fish ash eval trap alias hash coproc script unshare nsenter runuser setpriv capsh systemd-run start-stop-daemon run-parts cgexec firejail ' +
    'bwrap proxychains npx bunx pnpx uvx ssh entr caffeinate unbuffer expect numactl catchsegv valgrind perf hyperfine faketime fakeroot dbus-run-session xvfb-run tmux screen ' +
    'direnv dotenv dotenvx cross-env source . docker podman kubectl ip setarch linux32 linux64 i386 x86_64 proot gosu su-exec tini dumb-init choom prlimit cpulimit ' +
    'eatmydata torsocks proxychains4 rlwrap rr ccache mise asdf rbenv pyenv nvm volta fnm op doppler aws-vault envchain'
  ).split(' '),
);

/** Programs that run what stands behind one of their words. */
const RUNNERS: Readonly<Record<string, RegExp>> = {
  find: /^-(?:exec|execdir|ok|okdir)$/,
  fd: /^-(?:x|X|-exec|-exec-batch)$/,
  fdfind: /^-(?:x|X|-exec|-exec-batch)$/,
  git: /^(?:foreach|run)$/,
  npm: /^(?:exec|x)$/,
  pnpm: /^(?:exec|dlx)$/,
  yarn: /^(?:exec|dlx)$/,
  bundle: /^exec$/,
  poetry: /^run$/,
  pipenv: /^run$/,
  conda: /^run$/,
  uv: /^run$/,
  nix: /^(?:-c|--command|run)$/,
};

/** Programs with a language of their own, in which a command is a word among others. */
const INTERPRETERS = new Set(
  'sed gsed awk gawk mawk nawk perl python python2 python3 ruby node nodejs deno bun php lua tclsh vim vi view ex ed nvim emacs expect gdb make osascript'.split(
    ' ',
  ),
);

/** Shells, and what hands its input to one. */
const SHELLS = /^(?:(?:ba|z|da|k|mk|fi|a|pw)?sh|at|batch|source|\.)$/;

/** Programs about whose sub-commands rules are. */
const SUBCOMMANDED = /^(?:git|gh|npm|pnpm|yarn|docker|podman|kubectl|helm|aws|gcloud|az|cargo|terraform|systemctl)$/;

/** git options that stand before the sub-command and take the next word. */
const GIT_VALUE_OPTIONS = new Set([
  '-C',
  '-c',
  '--git-dir',
  '--work-tree',
  '--namespace',
  '--exec-path',
  '--config-env',
  '--super-prefix',
  '--attr-source',
]);

/** Most words behind a launcher that are tried as programs; with more, nobody can tell what it runs. */
const MOST_TRIED_WORDS = 64;

/** The last part of a path. */
export function basename(program: string): string {
  return program.slice(program.lastIndexOf('/') + 1);
}

/** What one command may run: its own words, and scripts that stand in them. */
export interface LaunchedCommands {
  /** Word lists, the program's name first, paths cut off it. */
  readonly commands: readonly (readonly string[])[];
  /** Texts that may be run by a shell. */
  readonly scripts: readonly string[];
  /** Those texts are scripts, in the shell's language: what cannot be parsed is searched word by word. */
  readonly isLauncher: boolean;
  /** Those texts are in another language, where commands are words among others. */
  readonly isInterpreter: boolean;
}

/**
 * Find all that a command may run.
 *
 * @param words Decoded words; those that cannot be known stand as written.
 * @param acts It does more than read: then any program may run what its options name.
 */
export function launchedCommands(words: readonly string[], acts = true): LaunchedCommands {
  const program = basename(words[0] ?? '');
  const rest = words.slice(1);
  const isLauncher = LAUNCHERS.has(program);
  const isInterpreter = acts && INTERPRETERS.has(program);
  const own = [program, ...rest];
  const commands = [...spellings(own)];
  if (!acts && !isLauncher && !INTERPRETERS.has(program)) return { commands, scripts: [], isLauncher, isInterpreter };

  const values = rest.flatMap(possibleValues);
  if (isLauncher) commands.push(...behind(rest));
  const runner = Object.hasOwn(RUNNERS, program) ? RUNNERS[program] : undefined;
  if (runner) rest.forEach((word, at) => runner.test(word) && commands.push(...behind(rest.slice(at + 1))));
  // `--pre=rm`, `alias ls=rm`, `-c alias.p=push`.
  if (acts)
    commands.push(...rest.flatMap((word) => /^[\w.-]+=([^\s=]+)$/.exec(word)?.[1] ?? []).map((one) => [basename(one)]));
  if (program === 'git')
    commands.push(
      ...rest.flatMap((word) => /^(?:-c)?alias\.[^=]+=([^!].*)/s.exec(word)?.[1] ?? []).map((alias) => ['git', alias]),
    );
  const scripts = values.filter((value) => value.length > 2 && /[\s;&|`$()]/.test(value));
  if (/^(?:eval|watch|parallel|ssh)$/.test(program)) scripts.push(rest.join(' '));
  return { commands, scripts, isLauncher, isInterpreter };
}

/** Whether a command is a shell that runs what it is piped, or git with a sub-command that is not written out. */
export function hidesCommand(words: readonly string[]): boolean {
  const { commands, isLauncher } = launchedCommands(words);
  if (isLauncher && words.length > MOST_TRIED_WORDS) return true;
  // The sub-command comes by the input.
  if (/^(?:xargs|parallel)$/.test(basename(words[0] ?? '')) && SUBCOMMANDED.test(basename(words.at(-1) ?? '')))
    return true;
  return commands.some(([program = '', ...rest]) => {
    if (program === 'git') return /[$`]/.test(rest.find((word) => !word.startsWith('-')) ?? '') && rest[0] !== '-C';
    if (!SHELLS.test(program)) return false;
    return (
      rest.includes('-s') || rest.every((word) => word.startsWith('-') || /^(?:now|\/dev\/(?:stdin|fd\/0))$/.test(word))
    );
  });
}

/** The word, and what may be the value of an option or an assignment in it. */
function possibleValues(word: string): readonly string[] {
  if (!/^[-:+!]|=/.test(word)) return [word];
  const values = [word, word.replace(/^(?:-\w*S|-\w|[:+]*!)/, '')];
  for (let at = word.indexOf('='), most = 3; at >= 0 && most > 0; at = word.indexOf('=', at + 1), most--)
    values.push(word.slice(at + 1).replace(/^!/, ''));
  return [...new Set(values)];
}

/** Every word that is no option may be the program, and what it launches in turn is found the same way. */
function behind(words: readonly string[]): readonly (readonly string[])[] {
  return words.slice(0, MOST_TRIED_WORDS).flatMap((word, at) => {
    if (word.startsWith('-') || word === '') return [];
    return spellings([basename(word), ...words.slice(at + 1)]);
  });
}

/** One command as rules may spell it: without the options before its sub-command, and `git-push` as `git push`. */
function spellings(words: readonly string[]): readonly (readonly string[])[] {
  const [program = ''] = words;
  if (program === 'git') return [words, withoutGitOptions(words)];
  if (program.startsWith('git-')) return [words, ['git', program.slice('git-'.length), ...words.slice(1)]];
  if (!words[1]?.startsWith('-')) return [words];
  // Which options take a value is not known: the word behind one may be that, or the sub-command.
  const starts = new Set([1]);
  for (const at of starts) {
    if (starts.size > MOST_TRIED_WORDS || !words[at]?.startsWith('-')) continue;
    starts.add(at + 1);
    if (words[at + 1]?.startsWith('-') === false) starts.add(at + 2);
  }
  return [...starts].map((at) => [program, ...words.slice(at)]);
}

function withoutGitOptions(words: readonly string[]): readonly string[] {
  let at = 1;
  while (words[at]?.startsWith('-')) at += GIT_VALUE_OPTIONS.has(words[at] ?? '') ? 2 : 1;
  return ['git', ...words.slice(at)];
}
