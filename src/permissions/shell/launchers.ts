/**
 * Every command that a command may run, for deny and ask rules: they must hold behind any launcher.
 *
 * This errs on the side of finding too much. Whatever stands behind a launcher is tried as a command,
 * and any text that could be a script is parsed as one.
 */

const LAUNCHERS = new Set(
  (
    'timeout nice time stdbuf command builtin exec env xargs sudo doas su ionice chrt taskset nohup setsid watch busybox toybox strace ltrace gdb chroot flock ' +
    'parallel bash sh zsh dash ksh mksh fish ash eval trap coproc script unshare nsenter runuser setpriv systemd-run cgexec firejail bwrap proxychains ' +
    'npx bunx pnpx uvx ssh entr caffeinate unbuffer expect numactl catchsegv valgrind perf hyperfine faketime fakeroot dbus-run-session xvfb-run tmux screen at batch ' +
    'source . find fd fdfind git awk gawk mawk rg man tar vim vi ex ed nvim python python3 perl ruby node rsync make docker podman kubectl ip'
  ).split(' '),
);

/** Of those, the ones whose arguments are commands only where they look like scripts, not word by word. */
const SCRIPTS_ONLY = new Set(
  'git awk gawk mawk rg man tar vim vi ex ed nvim python python3 perl ruby node rsync make at batch'.split(' '),
);

const FIND_ACTIONS = /^-(?:exec|execdir|ok|okdir|x|X|-exec|-exec-batch)$/;

/** git options that stand before the sub-command, with the number of words they take. */
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
}

/** Find all that a command may run. @param words Decoded words; those that cannot be known stand as written. */
export function launchedCommands(words: readonly string[]): LaunchedCommands {
  const program = basename(words[0] ?? '');
  const own = [program, ...words.slice(1)];
  const commands: (readonly string[])[] = [own];
  if (program === 'git') commands.push(withoutGitOptions(own));
  if (!LAUNCHERS.has(program)) return { commands, scripts: [] };

  const rest = words.slice(1);
  const scripts = rest.filter((word) => /[\s;&|`$()]/.test(word) && word.length > 2);
  if (program === 'eval' || program === 'watch' || program === 'parallel' || program === 'ssh')
    scripts.push(rest.join(' '));
  // An alias that begins with `!` is run by a shell.
  if (program === 'git') scripts.push(...rest.flatMap((word) => /=!(.+)$/s.exec(word)?.[1] ?? []));
  if (program === 'env') scripts.push(...rest.flatMap((word) => /^(?:-S|--split-string=)(.+)$/s.exec(word)?.[1] ?? []));
  if (program === 'find' || program === 'fd' || program === 'fdfind') {
    rest.forEach((word, at) => FIND_ACTIONS.test(word) && commands.push(...behind(rest.slice(at + 1))));
  } else if (!SCRIPTS_ONLY.has(program)) {
    commands.push(...behind(rest));
  }
  return { commands, scripts };
}

/** Every word that is no option may be the program, and what it launches in turn is found the same way. */
function behind(words: readonly string[]): readonly (readonly string[])[] {
  return words.flatMap((word, at) => {
    if (word.startsWith('-') || word === '') return [];
    const inner = [basename(word), ...words.slice(at + 1)];
    return inner[0] === 'git' ? [inner, withoutGitOptions(inner)] : [inner];
  });
}

function withoutGitOptions(words: readonly string[]): readonly string[] {
  let at = 1;
  while (words[at]?.startsWith('-')) at += GIT_VALUE_OPTIONS.has(words[at] ?? '') ? 2 : 1;
  return ['git', ...words.slice(at)];
}
