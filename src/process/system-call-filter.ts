/**
 * Filters of system calls (seccomp), as programs for the kernel: one for the sandbox, a stricter one for the jail.
 *
 * A mount or a Landlock rule bounds what a program opens by a path. These bound the rest: sockets, other processes,
 * permissions and times of files, keys, namespaces, the machine's clock.
 *
 * @see seccomp(2)
 */
import {
  isKnownArchitecture,
  type KnownArchitecture,
  type SystemCallName,
  systemCallNumber,
} from './system-call-numbers.ts';

/**
 * Rejected in the sandbox: the server's session keys, tracing and programs in the kernel, page fault handling,
 * io_uring.
 */
const REFUSED_IN_SANDBOX: readonly SystemCallName[] = [
  'add_key', 'request_key', 'keyctl', 'perf_event_open', 'bpf', 'userfaultfd',
  'io_uring_setup', 'io_uring_enter', 'io_uring_register',
]; // prettier-ignore

/** Rejected in the jail of read-only commands, whatever their arguments. */
const REFUSED_IN_JAIL: readonly SystemCallName[] = [
  ...REFUSED_IN_SANDBOX,
  'socket', 'connect', 'bind', 'listen', 'accept', 'accept4', 'sendto', 'sendmsg', 'sendmmsg',
  'chmod', 'fchmod', 'fchmodat', 'fchmodat2', 'chown', 'lchown', 'fchown', 'fchownat', 'utime', 'utimes', 'futimesat',
  'utimensat', 'setxattr', 'lsetxattr', 'fsetxattr', 'removexattr', 'lremovexattr', 'fremovexattr', 'setxattrat',
  'removexattrat', 'truncate', 'file_setattr',
  'ptrace', 'process_vm_readv', 'process_vm_writev', 'process_madvise', 'process_mrelease', 'pidfd_getfd', 'kcmp',
  'migrate_pages', 'move_pages', 'shmget', 'shmat', 'shmctl', 'msgget', 'msgsnd', 'msgrcv', 'msgctl', 'semget',
  'semop', 'semctl', 'semtimedop', 'mq_open', 'mq_unlink',
]; // prettier-ignore

/** Rejected in both kinds of jail: mounts, namespaces, the machine as a whole. */
const REFUSED_IN_EVERY_JAIL: readonly SystemCallName[] = [
  'fanotify_init', 'open_by_handle_at', 'mount', 'umount2', 'pivot_root', 'chroot', 'setns', 'unshare', 'open_tree', 'move_mount', 'fsopen', 'fsconfig',
  'fsmount', 'fspick', 'mount_setattr', 'init_module', 'finit_module', 'delete_module', 'kexec_load',
  'kexec_file_load', 'reboot', 'swapon', 'swapoff', 'quotactl', 'quotactl_fd', 'sethostname', 'setdomainname',
  'settimeofday', 'clock_settime', 'adjtimex', 'clock_adjtime', 'iopl', 'ioperm', 'acct', 'syslog', 'vhangup',
]; // prettier-ignore

/** Allowed only where these arguments are 0: the calling process itself. */
const OWN_PROCESS_ONLY: Readonly<Partial<Record<SystemCallName, readonly number[]>>> = {
  prlimit64: [0],
  setpriority: [0, 1],
  ioprio_set: [1],
  sched_setscheduler: [0],
  sched_setparam: [0],
  sched_setattr: [0],
  sched_setaffinity: [0],
};

/** `TIOCSTI` and `TIOCLINUX`, which inject input into a terminal. */
const TYPING_REQUESTS = [0x5412, 0x541c];
/** High bytes of requests to terminals and pipes (`TCGETS`, `FIONREAD`, `FIOCLEX`). */
const TERMINAL_REQUESTS = 0x5400;
const REQUEST_GROUP = 0xffffff00;
/** `FS_IOC_GETFLAGS` and `FS_IOC_FSGETXATTR`, which `lsattr` reads. */
const READING_REQUESTS = [0x80086601, 0x801c581f];
/** `AF_UNIX`. @see unix(7) */
const LOCAL_FAMILY = 1;
/** Flags of `clone` that create a namespace. @see linux/sched.h */
const NAMESPACE_FLAGS = 0x7e020000;

/** @see linux/audit.h */
const AUDIT_ARCHITECTURE: Readonly<Record<KnownArchitecture, number>> = { x64: 0xc000003e, arm64: 0xc00000b7 };
/** First number of the x32 ABI, another interface to the same kernel. */
const X32 = 0x40000000;

/** @see linux/bpf_common.h */
const LOAD = 0x20;
const IF_EQUAL = 0x15;
const IF_AT_LEAST = 0x35;
const IF_ANY_BIT = 0x45;
const AND = 0x54;
const JUMP = 0x05;
const RETURN = 0x06;
/** Offsets in `seccomp_data`, the filter's input. @see linux/seccomp.h */
const NUMBER = 0;
const ARCHITECTURE = 4;
const argument = (index: number) => 16 + 8 * index;
const ALLOW = 0x7fff0000;
/** Results with `EPERM`, and with `ENOSYS`, upon which programs continue without the call or use an older one. */
const REFUSE = 0x00050001;
const REFUSE_AS_MISSING = 0x00050026;

/** Instructions that end in a result, for one system call. */
type Rule = readonly [SystemCallName, readonly Buffer[]];

/**
 * Build the filter of the sandbox, as bubblewrap expects it. Programs of another architecture, 32 bits too, may call
 * nothing.
 *
 * @returns `undefined` for an architecture whose numbers are unknown.
 */
export function sandboxFilter(architecture: NodeJS.Architecture): Buffer | undefined {
  if (!isKnownArchitecture(architecture)) return undefined;
  return filter(architecture, [
    ...REFUSED_IN_SANDBOX.map((name): Rule => [name, [instruction(RETURN, REFUSE_AS_MISSING)]]),
    [
      'ioctl',
      [
        instruction(LOAD, argument(1)),
        ...TYPING_REQUESTS.map((request) => returnIf(IF_EQUAL, request, REFUSE_AS_MISSING)),
        instruction(RETURN, ALLOW),
      ],
    ],
  ]);
}

/**
 * Build the filter of a jail.
 *
 * @param isReadOnly True to reject sockets and every change of a file that Landlock does not control.
 * @returns `undefined` for an architecture whose numbers are unknown: then there is no jail.
 */
export function jailFilter(architecture: NodeJS.Architecture, isReadOnly: boolean): Buffer | undefined {
  if (!isKnownArchitecture(architecture)) return undefined;
  const refused = [...(isReadOnly ? REFUSED_IN_JAIL : REFUSED_IN_SANDBOX), ...REFUSED_IN_EVERY_JAIL];
  return filter(architecture, [
    ...refused.map((name): Rule => [name, [instruction(RETURN, REFUSE)]]),
    ...Object.entries(OWN_PROCESS_ONLY).map(([name, indexes]): Rule => {
      const checks = indexes.flatMap((index) => [
        instruction(LOAD, argument(index)),
        instruction(IF_EQUAL, 0, 1, 0),
        instruction(RETURN, REFUSE),
      ]);
      return [name as SystemCallName, [...checks, instruction(RETURN, ALLOW)]];
    }),
    [
      'clone',
      [instruction(LOAD, argument(0)), returnIf(IF_ANY_BIT, NAMESPACE_FLAGS, REFUSE), instruction(RETURN, ALLOW)],
    ],
    ...(isReadOnly ? [localPairsOnly()] : []),
    // Its flags are in memory, which a filter cannot read; with ENOSYS programs fall back to `clone`.
    ['clone3', [instruction(RETURN, REFUSE_AS_MISSING)]],
    ['ioctl', [instruction(LOAD, argument(1)), ...ioctlChecks(isReadOnly)]],
  ]);
}

/**
 * Allow pairs of local sockets, with which Node talks to its children. They are connected to each other from the start,
 * and the calls that would connect one elsewhere, name an address or send a descriptor are refused.
 */
function localPairsOnly(): Rule {
  return [
    'socketpair',
    [instruction(LOAD, argument(0)), returnIf(IF_EQUAL, LOCAL_FAMILY, ALLOW), instruction(RETURN, REFUSE)],
  ];
}

function ioctlChecks(isReadOnly: boolean): readonly Buffer[] {
  const typing = TYPING_REQUESTS.map((request) => returnIf(IF_EQUAL, request, REFUSE));
  if (!isReadOnly) return [...typing, instruction(RETURN, ALLOW)];
  return [
    ...typing,
    ...READING_REQUESTS.map((request) => returnIf(IF_EQUAL, request, ALLOW)),
    instruction(AND, REQUEST_GROUP),
    returnIf(IF_EQUAL, TERMINAL_REQUESTS, ALLOW),
    instruction(RETURN, REFUSE),
  ];
}

/** Prefix the rules with a check of the architecture; a call without a rule is allowed. */
function filter(architecture: KnownArchitecture, rules: readonly Rule[]): Buffer {
  const numbered = rules.flatMap(([name, instructions]) => {
    const number = systemCallNumber(name, architecture);
    return number === undefined ? [] : [{ number, instructions: Buffer.concat(instructions) }];
  });
  return Buffer.concat([
    instruction(LOAD, ARCHITECTURE),
    instruction(IF_EQUAL, AUDIT_ARCHITECTURE[architecture], 1, 0),
    instruction(RETURN, REFUSE_AS_MISSING),
    instruction(LOAD, NUMBER),
    returnIf(IF_AT_LEAST, X32, REFUSE_AS_MISSING),
    decide(numbered.sort((one, other) => one.number - other.number)),
  ]);
}

interface NumberedRule {
  readonly number: number;
  readonly instructions: Buffer;
}

/** Maximum of rules that are tested one after another. */
const MAX_LINEAR_RULES = 3;

/**
 * Build a binary tree over the numbers. The kernel runs a new filter once for each system call there is: a list of a
 * hundred rules costs each start of a jailed program 0.25 ms, a tree almost nothing.
 */
function decide(rules: readonly NumberedRule[]): Buffer {
  if (rules.length <= MAX_LINEAR_RULES) {
    const linear = rules.map(({ number, instructions }) =>
      Buffer.concat([instruction(IF_EQUAL, number, 0, instructions.length / INSTRUCTION_BYTES), instructions]),
    );
    return Buffer.concat([...linear, instruction(RETURN, ALLOW)]);
  }
  const middle = Math.floor(rules.length / 2);
  const lower = decide(rules.slice(0, middle));
  return Buffer.concat([
    instruction(IF_AT_LEAST, rules[middle]?.number ?? 0, 0, 1),
    instruction(JUMP, lower.length / INSTRUCTION_BYTES),
    lower,
    decide(rules.slice(middle)),
  ]);
}

function returnIf(condition: number, value: number, result: number): Buffer {
  return Buffer.concat([instruction(condition, value, 0, 1), instruction(RETURN, result)]);
}

const INSTRUCTION_BYTES = 8;

/** @param whenTrue Instructions to skip if the condition holds; `whenFalse` if it does not. */
function instruction(code: number, value: number, whenTrue = 0, whenFalse = 0): Buffer {
  const bytes = Buffer.alloc(INSTRUCTION_BYTES);
  bytes.writeUInt16LE(code, 0);
  bytes.writeUInt8(whenTrue, 2);
  bytes.writeUInt8(whenFalse, 3);
  bytes.writeUInt32LE(value >>> 0, 4);
  return bytes;
}
