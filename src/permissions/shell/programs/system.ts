/** Programs that look at the machine, its processes and its users, without asking the network. */
import type { ParsedArguments } from '../flags.ts';
import { type CommandJudgement, NO_PATHS, type ProgramSpec } from '../program-spec.ts';
import type { ShellWord } from '../word.ts';
import { IP } from './ip.ts';
import { PS } from './ps.ts';

const WHATIS: ProgramSpec = {
  isCoveredWhole: true,
  flags: '-rwl -s= --regex --wildcard --exact --sections=',
  check: namesOnly,
};

/** Options of `systemctl` verbs that only show. */
const UNIT_FLAGS =
  '-alqr -n= -o= -p= -t= --all --full --no-pager --no-legend --plain --type= --state= --property= --value --failed --user --system --quiet --lines= --output= --reverse';

const APT_FLAGS = '-anf --names-only --installed --all-versions --no-all-versions --recurse';

/** System programs by name. */
export const SYSTEM_PROGRAMS: Readonly<Record<string, ProgramSpec>> = {
  date: {
    flags:
      '-uRj -d= -r= -I? -f= -v= --date= --utc --universal --iso-8601? --rfc-3339= --rfc-email --reference= --debug',
    pathFlags: ['-f', '-r', '--reference'],
    // Any other operand sets the clock; on BSD a second one does, whatever it begins with.
    mostOperands: 1,
    check: ({ operands }) =>
      operands.every((word) => word.prefix.startsWith('+')) ? undefined : 'an operand may set the clock',
  },
  cal: { flags: '-13yjMsw -n= -A= -B= -m=', isOpen: true },
  ncal: { flags: '-13yjMbhpwCSJeo -A= -B= -m= -d=', isOpen: true },
  uname: {
    flags:
      '-asnrvmpio --all --kernel-name --nodename --kernel-release --kernel-version --machine --processor --operating-system',
    mostOperands: 0,
  },
  arch: { mostOperands: 0 },
  nproc: { flags: '--all --ignore=', mostOperands: 0 },
  uptime: { flags: '-psV --pretty --since', mostOperands: 0 },
  free: { flags: '-bkmghtwl -s= -c= --human --si --mega --giga --kilo --total --wide --mebi --gibi', mostOperands: 0 },
  whoami: { mostOperands: 0 },
  id: { flags: '-ugGnrzaZ --user --group --groups --name --real --zero', isOpen: true },
  groups: { isOpen: true },
  logname: { mostOperands: 0 },
  users: { mostOperands: 0 },
  tty: { flags: '-s', mostOperands: 0 },
  stty: {
    isCoveredWhole: true,
    flags: '-a --all',
    check: ({ operands }) =>
      operands.every(({ literal }) => literal === 'size' || literal === 'speed')
        ? undefined
        : 'stty may change the terminal',
  },
  uuidgen: { flags: '-r --random', mostOperands: 0 },
  mktemp: {
    isCoveredWhole: true,
    flags: '-udqt -p? --dry-run --directory --quiet --suffix= --tmpdir?',
    check: ({ flags }) => (has(flags, '-u', '--dry-run') ? undefined : 'mktemp makes a file'),
  },
  mountpoint: { flags: '-qdx --quiet --nofollow' },
  'nvidia-smi': {
    flags: '-Lqx -i= -d= --list-gpus --query --id= --display= --query-gpu= --query-compute-apps= --format=',
    mostOperands: 0,
  },
  hostname: { flags: '-sI --short', mostOperands: 0 },
  sleep: { isOpen: true },
  lscpu: { flags: '-abcyxJ -e? -p? --all --json --extended? --parse?' },
  lsblk: {
    flags:
      '-abdflmOpPrtiJSnsT -o= -e= -I= -x= --all --bytes --fs --json --list --output= --paths --noheadings --tree? --nodeps',
  },
  lsusb: { flags: '-tv -s= -d=', mostOperands: 0 },
  lspci: { flags: '-vknmtxbDP -s= -d=', mostOperands: 0 },
  lsmod: { mostOperands: 0 },
  lsmem: { flags: '-abnPrJ -o=' },
  lsns: { flags: '-lnrJ -o= -p= -t=' },
  lsb_release: { flags: '-adrcsi --all --id --release --codename --description --short', mostOperands: 0 },
  ps: PS,
  pgrep: {
    flags:
      '-aclnoivxfwL -d= -g= -G= -P= -s= -t= -u= -U= --full --list-name --list-full --count --newest --oldest --exact --parent= --euid= --delimiter=',
    isOpen: true,
  },
  pidof: { flags: '-sxc -o=', isOpen: true },
  pstree: { flags: '-acphlnstTuAUgGZ -H=', isOpen: true },
  top: {
    isCoveredWhole: true,
    flags: '-bHci1S -n= -d= -p= -u= -o= -w= -E= -e=',
    check: ({ flags }) => (has(flags, '-b') ? undefined : 'top is interactive without -b'),
  },
  vmstat: { flags: '-asdnwtmf -S= -p=', isOpen: true },
  iostat: { flags: '-cdhkmNtVxyz -p?', isOpen: true },
  mpstat: { flags: '-AuV -P=', isOpen: true },
  printenv: { flags: '-0 --null', isOpen: true },
  locale: { flags: '-amckv --all-locales --charmaps', isOpen: true },
  getconf: { flags: '-a -v=', isOpen: true },
  // hosts and networks ask the network.
  getent: { subcommands: verbs('passwd group services protocols shells shadow', '') },
  who: { flags: '-abdHlmqrstTuwp --all --boot --count --heading --mesg --users', operands: 'paths' },
  w: { flags: '-hsfou --no-header --short', isOpen: true },
  last: {
    flags: '-xFwiR -n= -f= -t= -s= -p= --fullnames --fulltimes --limit= --since= --until=',
    hasNumbers: true,
    pathFlags: ['-f'],
  },
  dmesg: {
    flags: '-TtkxuLrPS -l= -f= --ctime --level= --facility= --decode --kernel --userspace --notime --color? --nopager',
    mostOperands: 0,
  },
  journalctl: {
    flags:
      '-krexqalf -u= -n= -b? -o= -p= -S= -U= -g= -t= --no-pager --since= --until= --unit= --user-unit= --lines= --output= --priority= --boot? --dmesg --reverse --grep= ' +
      '--disk-usage --list-boots --user --system --catalog --all --full --no-full --quiet --no-hostname --utc --follow --no-tail --identifier= --facility=',
  },
  systemctl: {
    flags:
      '-al -t= -p= --no-pager --user --system --all --type= --state= --failed --full --no-legend --plain --property=',
    // cat, and show where no property is named, print the environments that units are given.
    subcommands: {
      ...verbs(
        'status is-active is-enabled is-failed list-units list-unit-files list-timers list-sockets list-dependencies get-default is-system-running',
        UNIT_FLAGS,
      ),
      show: { flags: UNIT_FLAGS, check: namesProperties },
    },
  },
  ss: {
    isCoveredWhole: true,
    flags:
      '-tulnpa46xsemoiHOwSbZz0 --tcp --udp --listening --numeric --processes --all --summary --unix --no-header --extended --ipv4 --ipv6',
    check: ({ operands }) => addressesOnly(operands, /[\s()=!<>&|]+/, SS_WORDS),
  },
  netstat: {
    isCoveredWhole: true,
    flags:
      '-tulnparis46eWvoxgM --tcp --udp --listening --numeric --program --all --route --interfaces --statistics --wide',
    mostOperands: 0,
    check: ({ flags }) => (has(flags, '-n', '--numeric') ? undefined : 'netstat looks names up without -n'),
  },
  lsof: {
    isCoveredWhole: true,
    flags: '-nPltaUR -p= -u= -c= -d= -i? -s?',
    check: ({ flags, operands }) =>
      has(flags, '-n')
        ? addressesOnly([...operands, ...flags.flatMap(({ value }) => value ?? [])], /\s+/, LSOF_WORDS)
        : 'lsof looks names up without -n',
  },
  ip: IP,
  // With -a, BSD takes what follows for what is to be done to all.
  ifconfig: {
    isCoveredWhole: true,
    flags: '-as',
    mostOperands: 1,
    check: ({ flags, operands }) =>
      flags.length > 0 && operands.length > 0 ? 'ifconfig may change the network' : undefined,
  },
  arp: {
    isCoveredWhole: true,
    flags: '-nave',
    mostOperands: 0,
    check: ({ flags }) => (has(flags, '-n') ? undefined : 'arp looks names up without -n'),
  },
  route: {
    isCoveredWhole: true,
    flags: '-nve46',
    mostOperands: 0,
    check: ({ flags }) => (has(flags, '-n') ? undefined : 'route looks names up without -n'),
  },
  mount: { isCoveredWhole: true, flags: '-lv', mostOperands: 0 },
  findmnt: {
    flags: '-lnrJDbfikPRuvyA -t= -o= -T= -S= -M= -O= --list --noheadings --json --output= --target= --types= --df',
  },
  sysctl: {
    flags: '-anNeb --all --values --names --ignore --binary',
    // `name=value` writes, with or without -w, and `..` leads out of the kernel's settings.
    check: ({ operands }) =>
      operands.every(({ literal = '=' }) => !literal.includes('=') && !literal.includes('..'))
        ? undefined
        : 'an operand may set a value',
  },
  crontab: {
    isCoveredWhole: true,
    flags: '-l -u=',
    mostOperands: 0,
    check: ({ flags }) => (has(flags, '-l') ? undefined : 'crontab does more than list'),
  },
  atq: { flags: '-q=', mostOperands: 0 },
  // init and reset may run what the terminal description names.
  tput: {
    isCoveredWhole: true,
    flags: '-T=',
    check: ({ operands: [name, ...parameters] }) =>
      /^(?:cols|lines|colors|bold|sgr0|setaf|setab|smul|rmul|rev|dim)$/.test(name?.literal ?? '') &&
      parameters.every((word) => /^\d+$/.test(word.literal ?? '') || word.isInteger === true)
        ? undefined
        : 'tput may change the terminal',
  },
  expr: {
    isCoveredWhole: true,
    judge: (words) => ({ reads: NO_PATHS, ...(words.length === 0 && { problem: 'expr lacks an expression' }) }),
  },
  bc: { flags: '-lqsw --mathlib --quiet --standard --warn', isOpen: true, operands: 'paths' },
  yes: { isOpen: true },
  man: { isCoveredWhole: true, flags: '-kfw -s= --apropos --whatis --where --path --sections=', check: namesOnly },
  whatis: WHATIS,
  apropos: WHATIS,
  dpkg: {
    isCoveredWhole: true,
    flags:
      '-lLsSpV --list --listfiles --status --search --print-avail --get-selections --print-architecture --verify --audit -C',
    check: ({ flags }) => (flags.length > 0 ? undefined : 'dpkg lacks an action'),
  },
  'dpkg-query': {
    isCoveredWhole: true,
    flags: '-lLsSWp -f= --list --listfiles --status --search --show --showformat=',
    check: ({ flags }) => (flags.length > 0 ? undefined : 'dpkg-query lacks an action'),
  },
  rpm: {
    isCoveredWhole: true,
    flags:
      '-qailRcdf --query --all --info --list --requires --provides --whatrequires --changelog --last --scripts --configfiles --docfiles',
    check: ({ flags }) => (has(flags, '-q', '--query') ? undefined : 'rpm does more than query'),
  },
  apt: {
    flags: '-v --version --help',
    subcommands: verbs('list search show policy depends rdepends', `${APT_FLAGS} --upgradable --manual-installed`),
  },
  'apt-cache': { subcommands: verbs('search show policy depends rdepends showpkg madison pkgnames', APT_FLAGS) },
  openssl: { isCoveredWhole: true, judge: judgeOpenssl },
};

/** Sub-commands of one shape. */
function verbs(names: string, flags: string): Readonly<Record<string, ProgramSpec>> {
  return Object.fromEntries(names.split(' ').map((name) => [name, { flags }]));
}

function namesProperties({ flags }: ParsedArguments): string | undefined {
  const named = flags.filter(({ name }) => name === '-p' || name === '--property');
  const areKnown = named.every(({ value }) => /^(?!.*environment)[\w,]+$/is.test(value?.literal ?? ''));
  return named.length > 0 && areKnown ? undefined : 'systemctl may show environments';
}

function has(flags: ParsedArguments['flags'], ...names: readonly string[]): boolean {
  return flags.some((flag) => names.includes(flag.name));
}

/** Words of a filter of ss: any other may be a host, with or without `src` and `dst` before it. */
const SS_WORDS =
  /^(?:and|or|not|state|exclude|src|dst|[sd]port|all|connected|synchronized|bucket|big|established|syn-sent|syn-recv|fin-wait-[12]|time-wait|close-wait|closed|closing|last-ack|listen|listening|eq|ne|[gl][te]|\[?[\d.:*]+\]?(?:\/\d+)?(?::[\w-]+)?|:[\w-]+)?$/;

/** Words of lsof that name no host; +M asks the portmapper. */
const LSOF_WORDS = /^(?!\+\S*M)[^@]*(?:@\[?[\d.:]+\]?(?::[\w,-]+)?)?$/;

/** A filter may name a host, which is looked up. @param known Matches a word that names none. */
function addressesOnly(words: readonly ShellWord[], between: RegExp, known: RegExp): string | undefined {
  const areKnown = words.every(({ literal }) => literal?.split(between).every((text) => known.test(text)));
  return areKnown ? undefined : 'a host may be looked up';
}

function namesOnly({ operands }: ParsedArguments): string | undefined {
  return operands.every((word) => word.literal !== undefined && /^\w[\w.+:-]*$/.test(word.literal))
    ? undefined
    : 'an operand may be a file';
}

const OPENSSL_OPTIONS =
  /^-(?:noout|text|subject|issuer|dates|enddate|startdate|serial|fingerprint|pubkey|modulus|sha256|sha1|md5|ext|purpose|hash|email|alias)$/;

/** `openssl version` and `openssl x509 -in FILE -noout …`. */
function judgeOpenssl(words: readonly ShellWord[]): CommandJudgement {
  const [verb, ...rest] = words;
  if (verb?.literal === 'version') {
    return rest.every((word) => /^-[abdefopvr]$/.test(word.literal ?? ''))
      ? { reads: NO_PATHS }
      : { reads: NO_PATHS, problem: 'openssl may do more than tell its version' };
  }
  const reads: ShellWord[] = [];
  for (let at = 0; at < rest.length; at++) {
    const text = rest[at]?.literal ?? '';
    const next = rest[at + 1];
    // What looks like a URI may load an engine.
    if (text === '-in' && !next?.isSplit && next?.patterns?.every((path) => !path.includes(':'))) {
      reads.push(next);
      at++;
    } else if (!OPENSSL_OPTIONS.test(text)) {
      return { reads, problem: 'openssl may write or connect' };
    }
  }
  return verb?.literal === 'x509' ? { reads } : { reads, problem: 'openssl may write or connect' };
}
