/**
 * Every command that a command may run, for deny and ask rules: they must hold behind any launcher.
 *
 * This errs on the side of finding too much. Whatever stands behind a launcher is tried as a command,
 * and any text that could be a script is parsed as one.
 */

import { isInterpreterName, SHELL_NAMES } from './interpreters.ts';
import { isOpen } from './meant-specs.ts';
import { basename, MAX_TRIED_WORDS, namesOf } from './spellings.ts';
import { isMessage, takesNextWord } from './value-options.ts';

/** Programs whose every word may be the program that they run. */
const LAUNCHERS = new Set(
  (
    'timeout nice time stdbuf command builtin exec env xargs sudo doas su pkexec ionice chrt taskset nohup setsid watch busybox toybox strace ltrace gdb chroot flock ' +
    'parallel eval trap alias hash coproc script unshare nsenter runuser setpriv capsh systemd-run start-stop-daemon run-parts cgexec firejail ' +
    'bwrap proxychains npx bunx pnpx uvx ssh entr caffeinate unbuffer expect numactl catchsegv valgrind perf hyperfine faketime fakeroot dbus-run-session xvfb-run tmux screen ' +
    'direnv dotenv dotenvx cross-env source . ip setarch linux32 linux64 i386 x86_64 proot gosu su-exec tini dumb-init choom prlimit cpulimit ' +
    'eatmydata torsocks proxychains4 rlwrap rr ccache mise asdf rbenv pyenv nvm volta fnm op doppler aws-vault envchain ' +
    'corepack sshpass autossh torify tsocks retry nodemon chamber sops lerna ' +
    'aa-exec runcon run0 sg schroot systemd-nspawn systemd-inhibit lxc-attach flatpak-spawn distrobox-enter dbus-launch xinit startx ssh-agent sem ts tsp ' +
    'dtach abduco daemonize daemon s6-setuidgid setuidgid chpst softlimit envdir envuidgid setlock logsave chronic ifne pee mispipe annotate-output ' +
    'distcc sccache icecc bear scan-build watchexec autoexpect memusage uftrace heaptrack fakechroot wine kitty foot'
  )
    .split(' ')
    .concat(SHELL_NAMES),
);

/** Options and words of many programs behind which another one stands. */
const PAGER = /^--?pager$/;
const WRAPPER = /^-wrapper$/;
const TERMINAL = /^(?:-[ex]|--(?:command|execute))$/;
const NETCAT = /^(?:-\w*[ce]|--(?:sh-)?exec)$/;
const MESSENGER = /^exec$/;
const COPY = /^-S$/;

/** Programs that run what stands behind one of their words. */
const RUNNERS = new Map(
  Object.entries({
    ...tableOf('gcc g++ cc c++ cpp gfortran', WRAPPER),
    ...tableOf(
      'xterm uxterm lxterm rxvt urxvt st alacritty konsole gnome-terminal mate-terminal xfce4-terminal lxterminal terminator tilix qterminal sakura ' +
        'termite aterm eterm mlterm x-terminal-emulator cool-retro-term guake tilda',
      TERMINAL,
    ),
    ...tableOf('nc ncat netcat', NETCAT),
    ...tableOf('bat batcat ack ag', PAGER),
    ...tableOf('i3-msg swaymsg hyprctl', MESSENGER),
    ...tableOf('scp sftp', COPY),
    rg: /^--(?:pre|hostname-bin)$/,
    socat: /^(?:exec|system|shell):$/i,
    tcpdump: /^-z$/,
    cmake: /^-E$/,
    tar: /^(?:-\w*[IF]|--(?:use-compress-program|to-command|info-script|new-volume-script|rsh-command|rmt-command))$/,
    sort: /^--compress-program$/,
    split: /^--filter$/,
    zip: /^(?:-TT|--unzip-command)$/,
    man: /^(?:-[PH]|--(?:pager|html))$/,
    rsync: /^(?:-\w*e|--rsh|--rsync-path)$/,
    svn: /^--(?:diff-cmd|diff3-cmd|editor-cmd)$/,
    gpg: /^--(?:agent-program|dirmngr-program|photo-viewer|pinentry-program|keyboxd-program)$/,
    go: /^-?-(?:toolexec|exec|vettool)$/,
    helm: /^--post-renderer$/,
    wget: /^--use-askpass$/,
    machinectl: /^shell$/,
    bun: /^x$/,
    pipx: /^run$/,
    find: /^-(?:exec|execdir|ok|okdir)$/,
    fd: /^-(?:x|X|-exec|-exec-batch)$/,
    fdfind: /^-(?:x|X|-exec|-exec-batch)$/,
    git: /^(?:foreach|run|-[xO]|--(?:exec|extcmd|open-files-in-pager|upload-pack|receive-pack)|--(?:tree|index|msg|env|parent|commit|tag-name)-filter)$/,
    mapfile: /^-C$/,
    readarray: /^-C$/,
    docker: /^(?:run|exec)$/,
    podman: /^(?:run|exec)$/,
    kubectl: /^(?:run|exec|debug)$/,
    python: /^-m$/,
    npm: /^(?:exec|x)$/,
    pnpm: /^(?:exec|dlx)$/,
    yarn: /^(?:exec|dlx)$/,
    bundle: /^exec$/,
    poetry: /^run$/,
    pipenv: /^run$/,
    conda: /^run$/,
    uv: /^run$/,
    nix: /^(?:-c|--command|run)$/,
  }),
);

function tableOf(programs: string, pattern: RegExp): Readonly<Record<string, RegExp>> {
  return Object.fromEntries(programs.split(' ').map((program) => [program, pattern]));
}

/** Programs whose words behind `--` are operands of a sub-command, and no command. */
const SUBCOMMANDED =
  /^(?:git|gh|npm|pnpm|yarn|docker|podman|kubectl|helm|aws|gcloud|az|cargo|terraform|systemctl|pip|pipx|gem|brew|apt|apt-get|dnf|yum|apk|composer|go|rustup|dotnet)$/;

/** Most places behind launchers where a program may stand, and most words it is given there that are looked at. */
const MAX_STARTS = 2 * MAX_TRIED_WORDS;
const MAX_LAUNCHED_WORDS = MAX_TRIED_WORDS;

/** The dynamic loader, which runs the program it is given. */
const LOADER = /^ld[\w.-]*\.so(?:\.\d+)*$/;

/** What runs in a container is not run here. */
const CONTAINERS = /^(?:docker|podman|kubectl)$/;

/** Whether every word of this program may be what it runs. */
export function isLauncherName(program: string): boolean {
  return LAUNCHERS.has(program) || LAUNCHERS.has(namesOf([program]).at(-1)?.[0] ?? '') || LOADER.test(program);
}

/** The words behind which this program runs another one on this machine. */
export function runnerPattern(program: string): RegExp | undefined {
  return CONTAINERS.test(program) ? undefined : RUNNERS.get(program);
}

/** Whether this program may run what its words, or the files that they name, say. */
export function runsItsWords(program: string): boolean {
  return isLauncherName(program) || isInterpreterName(program) || RUNNERS.has(program);
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

/** Commands remembered: one is looked at from several sides, for its paths, its rules and its warnings, within a call. */
const MAX_REMEMBERED = 32;
const remembered = new Map<string, LaunchedCommands>();

/**
 * Find all that a command may run.
 *
 * @param words Decoded words; those that cannot be known stand as written.
 * @param acts It does more than read: then any program may run what its options name.
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
  const runner = RUNNERS.get(namesOf([program]).at(-1)?.[0] ?? '') ?? RUNNERS.get(program);
  const isLauncher = isLauncherName(program) || (runner !== undefined && rest.some((word) => runner.test(word)));
  const isInterpreter = acts && isInterpreterName(program);
  const own = [program, ...rest];
  const commands = [...namesOf(own)];
  if (!acts && !isLauncher && !isInterpreterName(program)) return { commands, scripts: [], isLauncher, isInterpreter };

  // `command -v rm` looks it up.
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
  // `chamber exec x -- rm y`: whatever the program, what stands there is often a command.
  const dashes = rest.indexOf('--');
  if (acts && dashes >= 0 && !SUBCOMMANDED.test(program))
    commands.push([basename(rest[dashes + 1] ?? ''), ...rest.slice(dashes + 2)]);
  // Each of its targets is a command of its own.
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
  // With words that nobody can know it is no script that can be parsed; behind parallel each word was tried as a program.
  if (joined !== '' && !(program === 'parallel' && isOpen(joined))) scripts.push(joined);
  return { commands, scripts, isLauncher, isInterpreter };
}

/**
 * The command that one word holds, with its arguments or behind the option: `-wrapper rm,x`, `-zrm`, `EXEC:rm`.
 *
 * @param runner The words behind which the program runs another one.
 */
export function joinedCommand(word: string, before: string | undefined, runner: RegExp): readonly string[] {
  const [, option = '', value = ''] = /^(-[a-zA-Z](?=[^=])|--?[\w-]+(?==)|[a-zA-Z]+:)=?(.*)$/s.exec(word) ?? [];
  const text = runner.test(option) ? value : runner.test(before ?? '') && /[\s,]/.test(word) ? word : '';
  return text === '' ? [] : text.split(/[\s,]+/, MAX_TRIED_WORDS);
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
