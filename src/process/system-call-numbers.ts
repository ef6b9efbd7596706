/**
 * Numbers of the kernel's system calls on the processors that filters and launcher support.
 *
 * Source: `asm/unistd_64.h` (x64) and `asm-generic/unistd.h` (arm64) of Linux 6.x. A call that arm64 lacks is null.
 */

/** Processors with known numbers. */
export type KnownArchitecture = 'x64' | 'arm64';

const NUMBERS = {
  // Sockets.
  socket: [41, 198], socketpair: [53, 199], connect: [42, 203], bind: [49, 200], listen: [50, 201], accept: [43, 202],
  accept4: [288, 242], sendto: [44, 206], sendmsg: [46, 211], sendmmsg: [307, 269],
  // Attributes of files.
  chmod: [90, null], fchmod: [91, 52], fchmodat: [268, 53], fchmodat2: [452, 452], chown: [92, null],
  lchown: [94, null], fchown: [93, 55], fchownat: [260, 54], utime: [132, null], utimes: [235, null],
  futimesat: [261, null], utimensat: [280, 88], setxattr: [188, 5], lsetxattr: [189, 6], fsetxattr: [190, 7],
  removexattr: [197, 14], lremovexattr: [198, 15], fremovexattr: [199, 16], setxattrat: [463, 463],
  removexattrat: [466, 466], truncate: [76, 45], file_setattr: [469, 469],
  // Other processes.
  ptrace: [101, 117], process_vm_readv: [310, 270], process_vm_writev: [311, 271], process_madvise: [440, 440],
  process_mrelease: [448, 448], pidfd_getfd: [438, 438], kcmp: [312, 272], migrate_pages: [256, 238],
  move_pages: [279, 239], setpriority: [141, 140], ioprio_set: [251, 30], sched_setscheduler: [144, 119],
  sched_setparam: [142, 118], sched_setattr: [314, 274], sched_setaffinity: [203, 122], prlimit64: [302, 261],
  // IPC objects that outlive a process, or are shared by a name that is not a path.
  shmget: [29, 194], shmat: [30, 196], shmctl: [31, 195], msgget: [68, 186], msgsnd: [69, 189], msgrcv: [70, 188],
  msgctl: [71, 187], semget: [64, 190], semop: [65, 193], semctl: [66, 191], semtimedop: [220, 192],
  mq_open: [240, 180], mq_unlink: [241, 181],
  // Parts of the kernel that ordinary programs do not use and where escapes have started.
  add_key: [248, 217], request_key: [249, 218], keyctl: [250, 219], bpf: [321, 280], perf_event_open: [298, 241],
  userfaultfd: [323, 282], io_uring_setup: [425, 425], io_uring_enter: [426, 426], io_uring_register: [427, 427],
  fanotify_init: [300, 262], open_by_handle_at: [304, 265],
  // Namespaces and mounts.
  mount: [165, 40], umount2: [166, 39], pivot_root: [155, 41], chroot: [161, 51], setns: [308, 268],
  unshare: [272, 97], open_tree: [428, 428], move_mount: [429, 429], fsopen: [430, 430], fsconfig: [431, 431],
  fsmount: [432, 432], fspick: [433, 433], mount_setattr: [442, 442], clone: [56, 220], clone3: [435, 435],
  // The machine as a whole.
  init_module: [175, 105], finit_module: [313, 273], delete_module: [176, 106], kexec_load: [246, 104],
  kexec_file_load: [320, 294], reboot: [169, 142], swapon: [167, 224], swapoff: [168, 225], quotactl: [179, 60],
  quotactl_fd: [443, 443], sethostname: [170, 161], setdomainname: [171, 162], settimeofday: [164, 170],
  clock_settime: [227, 112], adjtimex: [159, 171], clock_adjtime: [305, 266], iopl: [172, null], ioperm: [173, null],
  acct: [163, 89], syslog: [103, 116], vhangup: [153, 58],
  // Calls of a jail's launcher, and calls that are allowed in part.
  ioctl: [16, 29], prctl: [157, 167], close: [3, 57], capset: [126, 91], setgroups: [116, 159], setresgid: [119, 149],
  setresuid: [117, 147], landlock_create_ruleset: [444, 444], landlock_add_rule: [445, 445],
  landlock_restrict_self: [446, 446],
} as const satisfies Readonly<Record<string, readonly [number, number | null]>>; // prettier-ignore

/** A system call by its name in the manual. */
export type SystemCallName = keyof typeof NUMBERS;

/** True if the numbers of a processor are known. */
export function isKnownArchitecture(architecture: NodeJS.Architecture): architecture is KnownArchitecture {
  return architecture === 'x64' || architecture === 'arm64';
}

/** Number of a call; `undefined` if the processor's kernel lacks it. */
export function systemCallNumber(name: SystemCallName, architecture: KnownArchitecture): number | undefined {
  const [x64, arm64] = NUMBERS[name];
  return (architecture === 'x64' ? x64 : arm64) ?? undefined;
}
