/** Programs that examine and change the machine, its processes and its users. */
import { isGiven, type ParsedArguments } from '../flags.ts';
import type { ProgramRecord } from '../program-record.ts';
import { type CommandJudgement, NO_PATHS, type ProgramSpec, subcommandsWith } from '../program-spec.ts';
import type { ShellWord } from '../word.ts';

/**
 * ps: three dialects of options, and in one of them an `e` that shows the environment of other processes.
 *
 * Words with a dash that are invalid as UNIX options are parsed again as BSD options: `-auxe` is `auxe`.
 */
const PS: ProgramSpec = {
  judge: (words): CommandJudgement => {
    const problem = psProblem(words);
    return { reads: NO_PATHS, ...(problem !== undefined && { problem }) };
  },
};

/** Long options that are valid on every system. */
const LONG_OPTION =
  /^--(?:forest|headers?|no-headers?|no-heading|deselect|context|cumulative|version|info|help|(?:cols|columns|width|rows|lines|pid|ppid|quick-pid)=[\d,]+|sort=[\w%,+-]+)$/;

/** UNIX options that may be combined in any number, before one whose value is always valid. */
const UNIX_OPTIONS = /^-[AadefFHjlLMNTwy]*(?:[oOpqC].*)?$/s;

/** Options without a value, then one that may take one, and its attached value. */
const BUNDLE = /^-?([^CGgkNOopqstUu]*)(.?)(.*)$/s;

/** Columns to print; on some systems one of them is the environment. */
const COLUMNS = /^(?!.*env)[\w%,=:. -]+$/is;

const SHOWS_ENVIRONMENTS = 'ps may show environments';

/** Options of read-only `systemctl` verbs. */
const UNIT_FLAGS =
  '-alqr -n= -o= -p= -t= --all --full --no-pager --no-legend --plain --type= --state= --property= --value --failed --user --system --quiet --lines= --output= --reverse';

/** Longest duration of a wait or a time limit for the command to count as one that ends. */
const MAX_SECONDS = 3_600;

const UNIT_SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 };

/** Programs about the machine. */
export const SYSTEM: readonly ProgramRecord[] = [
  {
    names: 'date',
    isGnu: true,
    reads: {
      flags:
        '-uRj -d= -r= -I? -f= -v= --date= --utc --universal --iso-8601? --rfc-3339= --rfc-email --reference= --debug',
      pathFlags: ['-f', '-r', '--reference'],
      // Any other operand sets the clock; on BSD any second operand does.
      maxOperands: 1,
      check: ({ operands }) =>
        operands.every((word) => word.prefix.startsWith('+')) ? undefined : 'an operand may set the clock',
    },
  },
  { names: 'cal', reads: { flags: '-13yjMsw -n= -A= -B= -m=', isOpen: true } },
  { names: 'ncal', reads: { flags: '-13yjMbhpwCSJeo -A= -B= -m= -d=', isOpen: true } },
  {
    names: 'uname',
    reads: {
      flags:
        '-asnrvmpio --all --kernel-name --nodename --kernel-release --kernel-version --machine --processor --operating-system',
      maxOperands: 0,
    },
  },
  { names: 'arch whoami logname users lsmod', reads: { maxOperands: 0 } },
  { names: 'nproc', reads: { flags: '--all --ignore=', maxOperands: 0 } },
  { names: 'uptime', isGnu: true, reads: { flags: '-psV --pretty --since', maxOperands: 0 } },
  {
    names: 'free',
    reads: {
      flags: '-bkmghtwl -s= -c= --human --si --mega --giga --kilo --total --wide --mebi --gibi',
      maxOperands: 0,
    },
    ends: ({ flags }) => !isGiven(flags, '-s') || isGiven(flags, '-c'),
  },
  {
    names: 'id',
    isGnu: true,
    reads: { flags: '-ugGnrzaZ --user --group --groups --name --real --zero', isOpen: true },
  },
  { names: 'groups', reads: { isOpen: true } },
  { names: 'tty', reads: { flags: '-s', maxOperands: 0 } },
  {
    names: 'stty',
    reads: {
      flags: '-a --all',
      check: ({ operands }) =>
        operands.every(({ literal }) => literal === 'size' || literal === 'speed')
          ? undefined
          : 'stty may change the terminal',
    },
    isCoveredWhole: true,
  },
  { names: 'uuidgen', reads: { flags: '-r --random', maxOperands: 0 } },
  {
    names: 'nvidia-smi',
    reads: {
      flags: '-Lqx -i= -d= --list-gpus --query --id= --display= --query-gpu= --query-compute-apps= --format=',
      maxOperands: 0,
    },
  },
  { names: 'hostname', reads: { flags: '-sI --short', maxOperands: 0 } },
  {
    names: 'sleep',
    reads: { isOpen: true },
    ends: (_, words) => words.every(({ literal }) => literal === undefined || isShortTime(literal)),
    isConstant: true,
    restartable: /^/,
  },
  { names: 'lscpu', reads: { flags: '-abcyxJ -e? -p? --all --json --extended? --parse?' } },
  { names: 'lsusb', reads: { flags: '-tv -s= -d=', maxOperands: 0 } },
  { names: 'lspci', reads: { flags: '-vknmtxbDP -s= -d=', maxOperands: 0 } },
  { names: 'lsmem', reads: { flags: '-abnPrJ -o=' } },
  { names: 'lsns', reads: { flags: '-lnrJ -o= -p= -t=' } },
  {
    names: 'lsb_release',
    reads: { flags: '-adrcsi --all --id --release --codename --description --short', maxOperands: 0 },
  },
  { names: 'ps', reads: PS, isCoveredWhole: true },
  {
    names: 'pgrep',
    reads: {
      flags:
        '-aclnoivxfwL -d= -g= -G= -P= -s= -t= -u= -U= --full --list-name --list-full --count --newest --oldest --exact --parent= --euid= --delimiter=',
      isOpen: true,
    },
    answers: { 1: 'no process matched' },
  },
  { names: 'pidof', reads: { flags: '-sxc -o=', isOpen: true } },
  { names: 'pstree', reads: { flags: '-acphlnstTuAUgGZ -H=', isOpen: true } },
  {
    names: 'top',
    reads: {
      flags: '-bHci1S -n= -d= -p= -u= -o= -w= -E= -e=',
      check: ({ flags }) => (isGiven(flags, '-b') ? undefined : 'top is interactive without -b'),
    },
    isCoveredWhole: true,
    ends: ({ flags }) => isGiven(flags, '-n'),
  },
  {
    names: 'vmstat',
    reads: { flags: '-asdnwtmf -S= -p=', isOpen: true },
    ends: ({ operands }) => operands.length !== 1,
  },
  { names: 'iostat', reads: { flags: '-cdhkmNtVxyz -p?', isOpen: true }, ends: endsAfterCount },
  { names: 'mpstat', reads: { flags: '-AuV -P=', isOpen: true }, ends: endsAfterCount },
  { names: 'printenv', isGnu: true, reads: { flags: '-0 --null', isOpen: true } },
  { names: 'locale', reads: { flags: '-amckv --all-locales --charmaps', isOpen: true } },
  { names: 'getconf', reads: { flags: '-a -v=', isOpen: true } },
  // `hosts` and `networks` query the network.
  { names: 'getent', reads: { subcommands: subcommandsWith('passwd group services protocols shells shadow', '') } },
  {
    names: 'who',
    isGnu: true,
    reads: { flags: '-abdHlmqrstTuwp --all --boot --count --heading --mesg --users', operands: 'paths' },
  },
  { names: 'w', reads: { flags: '-hsfou --no-header --short', isOpen: true } },
  {
    names: 'last',
    reads: {
      flags: '-xFwiR -n= -f= -t= -s= -p= --fullnames --fulltimes --limit= --since= --until=',
      hasNumbers: true,
      pathFlags: ['-f'],
    },
  },
  {
    names: 'dmesg',
    reads: {
      flags:
        '-TtkxuLrPS -l= -f= --ctime --level= --facility= --decode --kernel --userspace --notime --color? --nopager',
      maxOperands: 0,
    },
  },
  {
    names: 'journalctl',
    reads: {
      flags:
        '-krexqalf -u= -n= -b? -o= -p= -S= -U= -g= -t= --no-pager --since= --until= --unit= --user-unit= --lines= --output= --priority= --boot? --dmesg --reverse --grep= ' +
        '--disk-usage --list-boots --user --system --catalog --all --full --no-full --quiet --no-hostname --utc --follow --no-tail --identifier= --facility=',
    },
    ends: ({ flags }) => !isGiven(flags, '-f', '--follow'),
    restartable: /^/,
  },
  {
    names: 'systemctl',
    reads: {
      flags:
        '-al -t= -p= --no-pager --user --system --all --type= --state= --failed --full --no-legend --plain --property=',
      // `cat`, and `show` without a property, print the environments of units.
      subcommands: {
        ...subcommandsWith(
          'status is-active is-enabled is-failed list-units list-unit-files list-timers list-sockets list-dependencies get-default is-system-running',
          UNIT_FLAGS,
        ),
        show: { flags: UNIT_FLAGS, check: namesProperties },
      },
    },
    hasOperandsBehindDashes: true,
    suggests: 'subcommand',
  },
  {
    names: 'sysctl',
    reads: {
      flags: '-anNeb --all --values --names --ignore --binary',
      // `name=value` writes, with or without -w, and `..` leads out of the kernel's settings.
      check: ({ operands }) =>
        operands.every(({ literal = '=' }) => !literal.includes('=') && !literal.includes('..'))
          ? undefined
          : 'an operand may set a value',
    },
  },
  {
    names: 'crontab',
    reads: {
      flags: '-l -u=',
      maxOperands: 0,
      check: ({ flags }) => (isGiven(flags, '-l') ? undefined : 'crontab does more than list'),
    },
    isCoveredWhole: true,
    hiddenText: 'always',
    suggests: 'nothing',
  },
  { names: 'atq', reads: { flags: '-q=', maxOperands: 0 } },
  // `init` and `reset` may run a program that the terminal description names.
  {
    names: 'tput',
    reads: {
      flags: '-T=',
      check: ({ operands: [name, ...parameters] }) =>
        /^(?:cols|lines|colors|bold|sgr0|setaf|setab|smul|rmul|rev|dim)$/.test(name?.literal ?? '') &&
        parameters.every((word) => /^\d+$/.test(word.literal ?? '') || word.isInteger === true)
          ? undefined
          : 'tput may change the terminal',
    },
    isCoveredWhole: true,
  },
  {
    names: 'openssl',
    reads: { judge: judgeOpenssl },
    isCoveredWhole: true,
    hiddenText: [{ words: /^--?(?:engine|provider|provider-path|config|engine_impl|ssl_client_engine)$|^engine$/ }],
  },
  {
    names: 'gpg',
    reads: { alone: '--version' },
    runsBehind: /^--(?:agent-program|dirmngr-program|photo-viewer|pinentry-program|keyboxd-program)$/,
  },
  { names: 'nginx', reads: { alone: '-v -V' } },
  { names: 'systemd', reads: { alone: '--version' } },
  { names: 'perf', reads: { alone: '--version' }, isLauncher: true, hiddenText: [{ words: /^(?:script|trace)$/ }] },
  { names: 'hostid', isGnu: true },
  { names: 'machinectl', runsBehind: /^shell$/ },
  { names: 'bpftrace stap', language: 'program', inlineOptions: /^-e/ },
  { names: 'dtrace', language: 'program', inlineOptions: /^-\w*n/ },
  { names: 'logrotate anacron supervisord procmail supervisorctl sshd', hiddenText: 'always' },
  {
    names: 'pkill killall',
    warnings: [{ words: /^(?:.* )?-(?:9|KILL|SIGKILL)/, sentence: 'Ends processes without letting them finish' }],
    suggests: 'nothing',
  },
  { names: 'shutdown reboot', warnings: [{ words: /^/, sentence: 'Stops the machine' }], suggests: 'nothing' },
  { names: 'halt poweroff', warnings: [{ words: /^/, sentence: 'Stops the machine' }] },
  { names: 'init', warnings: [{ words: /^[06]/, sentence: 'Stops the machine' }] },
  { names: 'at batch', suggests: 'nothing', isShellFeeder: true },
  { names: 'inotifywait', restartable: /^/ },
];

function namesProperties({ flags }: ParsedArguments): string | undefined {
  const named = flags.filter(({ name }) => name === '-p' || name === '--property');
  const areKnown = named.every(({ value }) => /^(?!.*environment)[\w,]+$/is.test(value?.literal ?? ''));
  return named.length > 0 && areKnown ? undefined : 'systemctl may show environments';
}

const OPENSSL_OPTIONS =
  /^-(?:noout|text|subject|issuer|dates|enddate|startdate|serial|fingerprint|pubkey|modulus|sha256|sha1|md5|ext|purpose|hash|email|alias)$/;

/** Judge openssl: `version` and `x509 -in FILE -noout …` only read. */
function judgeOpenssl(words: readonly ShellWord[]): CommandJudgement {
  const [verb, ...rest] = words;
  if (verb?.literal === 'version') {
    return rest.every((word) => /^-[abdefopvr]$/.test(word.literal ?? ''))
      ? { reads: NO_PATHS }
      : { reads: NO_PATHS, problem: 'openssl may do more than print its version' };
  }
  const reads: ShellWord[] = [];
  for (let at = 0; at < rest.length; at++) {
    const text = rest[at]?.literal ?? '';
    const next = rest[at + 1];
    // A value that looks like a URI may load an engine.
    if (text === '-in' && !next?.isSplit && next?.patterns?.every((path) => !path.includes(':'))) {
      reads.push(next);
      at++;
    } else if (!OPENSSL_OPTIONS.test(text)) {
      return { reads, problem: 'openssl may write or connect' };
    }
  }
  return verb?.literal === 'x509' ? { reads } : { reads, problem: 'openssl may write or connect' };
}

/** Report whether a duration in the syntax of sleep and timeout, such as `90` or `1.5m`, is at most an hour. */
export function isShortTime(text: string): boolean {
  const [, number = '', unit = 's'] = /^(\d{1,6}(?:\.\d*)?|\.\d+)([smhd])?$/.exec(text) ?? [];
  return number !== '' && Number(number) * (UNIT_SECONDS[unit] ?? 1) <= MAX_SECONDS;
}

/** Report whether a count limits the output: `iostat 1` continues, `iostat 1 3` ends. */
function endsAfterCount({ operands }: ParsedArguments): boolean {
  return operands.filter(({ literal }) => literal === undefined || /^\d+$/.test(literal)).length !== 1;
}

function psProblem(words: readonly ShellWord[]): string | undefined {
  const texts = words.map(({ literal, isInteger }) => literal ?? (isInteger === true ? '0' : undefined));
  let hasDashedE = false;
  let mayBeReadAgain = false;
  for (let at = 0; at < texts.length; at++) {
    const text = texts[at];
    if (text === undefined) return 'an argument of ps cannot be known';
    if (/^\d[\d,]*$/.test(text)) continue;
    if (text.startsWith('--')) {
      mayBeReadAgain ||= !LONG_OPTION.test(text);
      continue;
    }
    const isUnix = text.startsWith('-');
    const [, options = '', option = '', attached = ''] = BUNDLE.exec(text) ?? [];
    if (options.includes('E') || (!isUnix && options.includes('e'))) return SHOWS_ENVIRONMENTS;
    // In the BSD dialect u, g and others take no value, so an `e` after them is an option as well.
    if (!isUnix && /[GgNsUu]/.test(option) && attached.includes('e')) return SHOWS_ENVIRONMENTS;
    const takesNext = attached === '' && (isUnix ? option !== '' : /[kOopqtU]/.test(option));
    const value = takesNext ? texts[++at] : attached;
    if (takesNext && value === undefined) return 'an argument of ps cannot be known';
    if (/[oO]/.test(option) && !COLUMNS.test(value ?? '')) return SHOWS_ENVIRONMENTS;
    hasDashedE ||= text.includes('e');
    const isNumber = !/[pq]/.test(option) || /^[\d,]+$/.test(value ?? '');
    mayBeReadAgain ||= !isUnix || !UNIX_OPTIONS.test(text) || !isNumber;
  }
  return hasDashedE && mayBeReadAgain ? SHOWS_ENVIRONMENTS : undefined;
}
