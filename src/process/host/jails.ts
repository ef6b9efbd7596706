/**
 * The jails of a process host, each of which binds a child to the paths of its session before its first instruction.
 *
 * A jail is a ruleset of Landlock under a key that the server gives it. It takes one descriptor; the launcher binds
 * each child to it, and to a filter of system calls, limits and, where the host is root, the rights of nobody.
 */
import { closeSync, readFileSync } from 'node:fs';
import { jailFilter } from '../system-call-filter.ts';
import type { JailRules, JailSupport } from '../process-host.ts';
import { isKnownArchitecture } from '../system-call-numbers.ts';
import { type Landlock, loadLandlock } from './landlock.ts';
import { type LauncherCall, launcherImage } from './launcher.ts';
import type { HostSettings } from './settings.ts';

/** How a child is started in a jail. */
export interface JailEntry {
  /** Path of the launcher, which is given the program and its arguments. */
  readonly launcher: string;
  /** Descriptor of the ruleset, which the child must have as `RULESET_DESCRIPTOR`; undefined where the launcher only limits. */
  readonly ruleset: number | undefined;
  /** User and group it runs as; undefined: those of the host. */
  readonly userId: number | undefined;
}

/** Jails that the host has open, and the ways into them. */
export interface Jails {
  /** The answer to the server's question. */
  readonly answer: JailSupport;
  /** Make a jail, or find it. @throws The errno error. */
  open(jail: JailRules): void;
  /** How to start a child in it; undefined for a jail that was never opened, or made room for others since. */
  entry(key: string): JailEntry | undefined;
  /** Limits and rights alone, for what has another way to bound paths; undefined where the launcher cannot run. */
  readonly limits: JailEntry | undefined;
  /** Options of `ulimit` for the shell of a jailed command: what no launcher has limited before. */
  shellLimits(): string;
}

/** Descriptor under which a child in a jail has the ruleset until the launcher has used it. */
export const RULESET_DESCRIPTOR = 4;

/** Rulesets kept; one takes a descriptor and some 10 KiB of the kernel's memory. */
const MAX_RULESETS = 128;
/** Of the descriptors this process may have, where those are few. */
const RULESETS_SHARE = 8;
/** A user and group that own nothing: `nobody`. */
const NOBODY = 65_534;

/** @see sys/prctl.h */
const PR_SET_PDEATHSIG = 1;
const PR_SET_SECCOMP = 22;
const PR_SET_SECUREBITS = 28;
const PR_SET_NO_NEW_PRIVS = 38;
const PR_CAP_AMBIENT = 47;
const PR_CAP_AMBIENT_RAISE = 2;
const SECBIT_NO_SETUID_FIXUP = 1 << 2;
const SECCOMP_MODE_FILTER = 2;
const SIGKILL = 9;
/** @see linux/capability.h */
const CAP_DAC_READ_SEARCH = 2;
const NEEDED_CAPABILITIES = [CAP_DAC_READ_SEARCH, 6 /* SETGID */, 7 /* SETUID */, 8 /* SETPCAP */];
const CAPABILITY_VERSION_3 = 0x20080522;
/** @see sys/resource.h */
const RLIMIT_CPU = 0;
const RLIMIT_FSIZE = 1;
const RLIMIT_DATA = 2;
const RLIMIT_CORE = 4;

/**
 * Find out what this machine has. Without it `entry` finds nothing, and `answer` says why.
 *
 * @param onClosed Told the key of a jail that made room for others: its descriptor may be another jail's from then on.
 */
export async function loadJails(settings: HostSettings, onClosed: (key: string) => void): Promise<Jails> {
  const landlock = await loadLandlock();
  if (typeof landlock === 'string') return noJails(landlock, settings);
  try {
    return createJails(landlock, settings, onClosed);
  } catch (error) {
    return noJails(
      `its launcher could not be made: ${error instanceof Error ? error.message : String(error)}`,
      settings,
    );
  }
}

/** Without a launcher, the shells that bubblewrap starts limit themselves. */
function noJails(missing: string, settings: HostSettings): Jails {
  const { jailCpuSeconds, jailFileBytes, jailMemoryBytes } = settings;
  return {
    answer: { missing },
    open: () => undefined,
    entry: () => undefined,
    limits: undefined,
    shellLimits: () =>
      `-c 0 -t ${jailCpuSeconds} -f ${inKib(jailFileBytes)} -d ${inKib(jailMemoryBytes)} ${processLimit(settings)}`,
  };
}

function createJails(landlock: Landlock, settings: HostSettings, onClosed: (key: string) => void): Jails {
  const rulesets = new Map<string, OpenRuleset>();
  /** The key of each owner's jail. */
  const keys = new Map<string, string>();
  const most = mostRulesets();
  const userId = mayBecomeNobody() ? NOBODY : undefined;
  const launcher = (calls: readonly LauncherCall[]) => landlock.keepProgram(makeImage(calls));
  const limits = limitCalls(settings);
  const identity = userId === undefined ? [] : nobodyCalls();
  const launchers = {
    reading: launcher([...limits, ...identity, ...jailCalls(true)]),
    writing: launcher(jailCalls(false)),
    // Bubblewrap wants all of its rights, or none.
    limits: launcher(limits),
  };

  function close(key: string): void {
    const jail = rulesets.get(key);
    if (jail === undefined) return;
    rulesets.delete(key);
    if (keys.get(jail.owner) === key) keys.delete(jail.owner);
    onClosed(key);
    closeSync(jail.ruleset);
  }

  return {
    answer: userId === undefined ? {} : { userId },
    open({ key, owner, reads, writes, isReadOnly }) {
      const known = rulesets.get(key);
      if (known) {
        rulesets.delete(key);
        rulesets.set(key, known);
        return;
      }
      const outdated = keys.get(owner);
      rulesets.set(key, { owner, ruleset: landlock.createRuleset({ reads, writes }), isReadOnly });
      keys.set(owner, key);
      if (outdated !== undefined) close(outdated);
      const [oldest] = rulesets.keys();
      if (rulesets.size > most && oldest !== undefined) close(oldest);
    },
    entry(key) {
      const jail = rulesets.get(key);
      if (jail === undefined) return undefined;
      rulesets.delete(key);
      rulesets.set(key, jail);
      const { isReadOnly, ruleset } = jail;
      return isReadOnly
        ? { launcher: launchers.reading, ruleset, userId }
        : { launcher: launchers.writing, ruleset, userId: undefined };
    },
    limits: { launcher: launchers.limits, ruleset: undefined, userId: undefined },
    shellLimits: () => processLimit(settings),
  };
}

interface OpenRuleset {
  readonly owner: string;
  readonly ruleset: number;
  readonly isReadOnly: boolean;
}

/** Most rulesets: pipes of children need descriptors too. */
function mostRulesets(): number {
  const [, descriptors] = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'latin1')) ?? [];
  return Math.min(MAX_RULESETS, Math.max(1, Math.floor(Number(descriptors ?? 0) / RULESETS_SHARE)));
}

function makeImage(calls: readonly LauncherCall[]): Buffer {
  if (!isKnownArchitecture(process.arch)) throw new TypeError(`no launcher for ${process.arch}`);
  return launcherImage(process.arch, calls);
}

/** Bounds of each process. A lower one that holds already is as good. */
function limitCalls({ jailCpuSeconds, jailFileBytes, jailMemoryBytes }: HostSettings): readonly LauncherCall[] {
  const limits = [
    [RLIMIT_CPU, jailCpuSeconds],
    [RLIMIT_FSIZE, jailFileBytes],
    [RLIMIT_DATA, jailMemoryBytes],
    [RLIMIT_CORE, 0],
  ] as const;
  return limits.map(([resource, most]) => {
    const limit = Buffer.alloc(16);
    limit.writeBigUInt64LE(BigInt(most), 0);
    limit.writeBigUInt64LE(BigInt(most), 8);
    return { name: 'prlimit64', arguments: [0, resource, limit, 0], mayFail: true };
  });
}

/**
 * From root to nobody, who may still look into every folder: root's processes cannot be bounded in number. The programs
 * that follow gain no right from their files, since nobody in a jail gains any.
 */
function nobodyCalls(): readonly LauncherCall[] {
  const header = Buffer.alloc(8);
  header.writeUInt32LE(CAPABILITY_VERSION_3, 0);
  const rights = Buffer.alloc(24);
  // Effective, permitted and inheritable, the low half of each.
  for (const at of [0, 4, 8]) rights.writeUInt32LE(1 << CAP_DAC_READ_SEARCH, at);
  return [
    // The change of user takes no rights away, and `access` counts them, upon which git relies below a closed home.
    { name: 'prctl', arguments: [PR_SET_SECUREBITS, SECBIT_NO_SETUID_FIXUP] },
    { name: 'setgroups', arguments: [0, 0] },
    { name: 'setresgid', arguments: [NOBODY, NOBODY, NOBODY] },
    { name: 'setresuid', arguments: [NOBODY, NOBODY, NOBODY] },
    { name: 'capset', arguments: [header, rights] },
    { name: 'prctl', arguments: [PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_DAC_READ_SEARCH, 0, 0] },
  ];
}

function jailCalls(isReadOnly: boolean): readonly LauncherCall[] {
  const filter = jailFilter(process.arch, isReadOnly);
  if (filter === undefined) throw new TypeError(`no filter of system calls for ${process.arch}`);
  return [
    { name: 'prctl', arguments: [PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0] },
    { name: 'landlock_restrict_self', arguments: [RULESET_DESCRIPTOR, 0] },
    { name: 'close', arguments: [RULESET_DESCRIPTOR] },
    // Behind the change of user, which takes it back. The thread that starts children lives as long as the host.
    { name: 'prctl', arguments: [PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0] },
    { name: 'prctl', arguments: [PR_SET_SECCOMP, SECCOMP_MODE_FILTER, { filter }] },
  ];
}

/** Whether this is root with the rights that the change takes; in a container it may be without. */
function mayBecomeNobody(): boolean {
  if (process.getuid?.() !== 0) return false;
  const [, held = '0'] = /^CapEff:\s*([0-9a-f]+)/m.exec(readFileSync('/proc/self/status', 'latin1')) ?? [];
  const capabilities = BigInt(`0x${held}`);
  return NEEDED_CAPABILITIES.every((each) => ((capabilities >> BigInt(each)) & 1n) === 1n);
}

/** The kernel counts all processes of a user, so the bound moves with those that run already. */
function processLimit({ jailProcesses }: HostSettings): string {
  return `-u ${tasksOfTheMachine() + jailProcesses}`;
}

/** The unit of `ulimit`. */
function inKib(bytes: number): number {
  return Math.ceil(bytes / 1_024);
}

/** Threads of all users, which bounds those of one from above; 0 where nobody tells. */
function tasksOfTheMachine(): number {
  try {
    return Number(/\/(\d+)/.exec(readFileSync('/proc/loadavg', 'latin1'))?.[1] ?? 0);
  } catch {
    // No /proc: the bound is then the setting alone.
    return 0;
  }
}
