/** Programs that show or use the network. */
import { isGiven } from '../flags.ts';
import type { ProgramRecord } from '../program-record.ts';
import { type CommandJudgement, NO_PATHS, type ProgramSpec } from '../program-spec.ts';
import type { ShellWord } from '../word.ts';

/** Words in a filter of ss that name no host; any other may be one, with or without `src` and `dst` before it. */
const SS_WORDS =
  /^(?:and|or|not|state|exclude|src|dst|[sd]port|all|connected|synchronized|bucket|big|established|syn-sent|syn-recv|fin-wait-[12]|time-wait|close-wait|closed|closing|last-ack|listen|listening|eq|ne|[gl][te]|\[?[\d.:*]+\]?(?:\/\d+)?(?::[\w-]+)?|:[\w-]+)?$/;

/** Words of lsof that name no host; +M queries the portmapper. */
const LSOF_WORDS = /^(?!\+\S*M)[^@]*(?:@\[?[\d.:]+\]?(?::[\w,-]+)?)?$/;

/** Read-only usage of ip. */
const IP: ProgramSpec = { judge: judgeIp };

/** Programs about the network. */
export const NETWORK: readonly ProgramRecord[] = [
  {
    names: 'ss',
    reads: {
      flags:
        '-tulnpa46xsemoiHOwSbZz0 --tcp --udp --listening --numeric --processes --all --summary --unix --no-header --extended --ipv4 --ipv6',
      check: ({ operands }) => addressesOnly(operands, /[\s()=!<>&|]+/, SS_WORDS),
    },
    isCoveredWhole: true,
  },
  {
    names: 'netstat',
    reads: {
      flags:
        '-tulnparis46eWvoxgM --tcp --udp --listening --numeric --program --all --route --interfaces --statistics --wide',
      maxOperands: 0,
      check: ({ flags }) => (isGiven(flags, '-n', '--numeric') ? undefined : 'netstat looks names up without -n'),
    },
    isCoveredWhole: true,
  },
  {
    names: 'lsof',
    reads: {
      flags: '-nPltaUR -p= -u= -c= -d= -i? -s?',
      check: ({ flags, operands }) =>
        isGiven(flags, '-n')
          ? addressesOnly([...operands, ...flags.flatMap(({ value }) => value ?? [])], /\s+/, LSOF_WORDS)
          : 'lsof looks names up without -n',
    },
    isCoveredWhole: true,
    ends: (_, words) => !words.some(({ prefix }) => /^[-+]r/.test(prefix)),
    isMetadataOnly: true,
  },
  { names: 'ip', reads: IP, isCoveredWhole: true, isLauncher: true },
  // With -a, BSD applies the remaining operands to all interfaces.
  {
    names: 'ifconfig',
    reads: {
      flags: '-as',
      maxOperands: 1,
      check: ({ flags, operands }) =>
        flags.length > 0 && operands.length > 0 ? 'ifconfig may change the network' : undefined,
    },
    isCoveredWhole: true,
  },
  {
    names: 'arp',
    reads: {
      flags: '-nave',
      maxOperands: 0,
      check: ({ flags }) => (isGiven(flags, '-n') ? undefined : 'arp looks names up without -n'),
    },
    isCoveredWhole: true,
  },
  {
    names: 'route',
    reads: {
      flags: '-nve46',
      maxOperands: 0,
      check: ({ flags }) => (isGiven(flags, '-n') ? undefined : 'route looks names up without -n'),
    },
    isCoveredWhole: true,
  },
  {
    names: 'curl',
    reads: { alone: '--version -V' },
    hasUnrelatedWriteOptions: true,
    isDownloader: true,
    suggests: 'nothing',
    letters: { o: 'output', X: 'request', d: 'data', T: 'upload-file', F: 'form', k: 'insecure' },
  },
  {
    names: 'wget',
    reads: { alone: '--version -V' },
    runsBehind: /^--use-askpass$/,
    hiddenText: [{ words: /^(?:-e|--execute|--config|--use-askpass)/ }],
    outputOptions: /^-P$/,
    hasUnrelatedWriteOptions: true,
    isDownloader: true,
    suggests: 'nothing',
  },
  {
    names: 'ssh',
    reads: { alone: '-V' },
    isLauncher: true,
    valueOptions: '-p -i -l -o -F -J -L -R -D -b -c -E -e -I -m -O -Q -S -W -w',
    hiddenText: [{ words: /^-[FIS]/ }, { words: /PKCS11Provider|SecurityKeyProvider|XAuthLocation|Include\b/i }],
    leadingOperands: 1,
    actingOptions: /^(?:-o.*|-F.*)$/,
    hasUnrelatedWriteOptions: true,
    isJoiner: true,
  },
  {
    names: 'rsync',
    reads: { alone: '--version' },
    runsBehind: /^(?:-\w*e|--rsh|--rsync-path)$/,
    actingOptions: /^(?:-e.*|--rsh.*|--rsync-path.*)$/,
    writesOperands: 'last',
    readsOperands: 'others',
    wholeTreeOptions: /^(?:-[a-zA-Z]*[ra]|--(?:recursive|archive)$)/,
    suggests: 'nothing',
  },
  { names: 'sshpass autossh', isLauncher: true },
  { names: 'ssh-agent', isLauncher: true, hiddenText: [{ words: /^-[DsSw]$/ }] },
  {
    names: 'nc ncat',
    runsBehind: /^(?:-\w*[ce]|--(?:sh-)?exec)$/,
    hiddenText: [{ words: /^(?:-\w*[ce]|--(?:sh-)?exec|--lua-exec)(?:=|$)/ }],
    suggests: 'nothing',
  },
  {
    names: 'netcat',
    runsBehind: /^(?:-\w*[ce]|--(?:sh-)?exec)$/,
    hiddenText: [{ words: /^(?:-\w*[ce]|--(?:sh-)?exec|--lua-exec)(?:=|$)/ }],
  },
  {
    names: 'scp',
    runsBehind: /^-S$/,
    hiddenText: [{ words: /^-[FIS]/ }, { words: /PKCS11Provider|SecurityKeyProvider|XAuthLocation|Include\b/i }],
    writesOperands: 'last',
    readsOperands: 'others',
    wholeTreeOptions: /^-[a-zA-Z]*r/,
    suggests: 'nothing',
  },
  {
    names: 'sftp',
    runsBehind: /^-S$/,
    hiddenText: [
      { words: /^-[FIS]/ },
      { words: /PKCS11Provider|SecurityKeyProvider|XAuthLocation|Include\b/i },
      { words: /^-b/ },
    ],
    suggests: 'nothing',
  },
  {
    names: 'socat',
    runsBehind: /^(?:exec|system|shell):$/i,
    hiddenText: [{ words: /^(?:exec|system|shell)[:,]/i }],
    suggests: 'nothing',
  },
  { names: 'tcpdump', runsBehind: /^-z$/ },
  { names: 'lftp', language: 'program', inlineOptions: /^-[ce]/ },
  {
    names: 'ssh-add',
    hiddenText: [{ words: /PKCS11Provider|SecurityKeyProvider|XAuthLocation|Include\b/i }, { words: /^-[DsSw]$/ }],
  },
  {
    names: 'ssh-keygen',
    hiddenText: [{ words: /PKCS11Provider|SecurityKeyProvider|XAuthLocation|Include\b/i }, { words: /^-[DsSw]$/ }],
    writesOperands: 'all',
    hasReadOptions: true,
  },
  { names: 'nmap', hiddenText: [{ words: /^--?(?:script|sC$|A$|interactive|datadir|servicedb)/ }] },
  { names: 'ftp tnftp', hiddenText: [{ readsCommandsFromInput: true }] },
  { names: 'fetch http https xh aria2c axel', isDownloader: true },
  { names: 'telnet', suggests: 'nothing' },
  { names: 'ping', restartable: /^/ },
];

/** Reject filters that may name a host, which is looked up. @param known Matches words that name none. */
function addressesOnly(words: readonly ShellWord[], between: RegExp, known: RegExp): string | undefined {
  const areKnown = words.every(({ literal }) => literal?.split(between).every((text) => known.test(text)));
  return areKnown ? undefined : 'a host may be looked up';
}

const IP_OBJECTS = /^(?:a|addr|address|l|link|r|ro|route|n|neigh|neighbour|neighbor|rule|ru|maddr|tunnel)$/;
const IP_VERBS = /^(?:show|list|lst|ls|s|sh|get)$/;

/** Judge `ip [options] object [show …]`; any other verb changes the network. */
function judgeIp(words: readonly ShellWord[]): CommandJudgement {
  const texts = words.map((word) => word.literal);
  const at = texts.findIndex(
    (text) =>
      text === undefined ||
      !/^-(?:[46osdhjpc]|br|brief|json|pretty|details|stats|statistics|color|oneline|human|family|[46])$/.test(text),
  );
  const [object = '', verb] = at < 0 ? [] : texts.slice(at);
  const isShown = verb === undefined ? texts.length === at + 1 : IP_VERBS.test(verb);
  // `ip link s` is `ip link set`; for all other objects it is `show`.
  const isKnown = IP_OBJECTS.test(object) && isShown && !(verb === 's' && object.startsWith('l'));
  const isLiteral = texts.every((text) => text !== undefined);
  return { reads: NO_PATHS, ...(!(isKnown && isLiteral) && { problem: 'ip may change the network' }) };
}
