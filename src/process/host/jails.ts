/**
 * The jails of a process host, each of which binds a child to its session's paths before its first instruction.
 *
 * A jail is a Landlock ruleset under a key that the server chose. It takes one descriptor; the launcher binds each
 * child to it, and to a filter of system calls, limits and, if the host is root, the rights of `nobody`.
 */
import { closeSync, readFileSync } from 'node:fs';
import { JAIL_LIMITS, limitOptions, processLimit } from '../jail/limit-options.ts';
import { jailFilter } from '../system-call-filter.ts';
import type { JailRules, JailSupport } from '../process-host.ts';
import { isKnownArchitecture } from '../system-call-numbers.ts';
import { type Landlock, loadLandlock } from './landlock.ts';
import { type LauncherCall, launcherImage } from './launcher.ts';
import type { HostSettings } from './settings.ts';

/** Parameters for starting a child in a jail. */
export interface JailEntry {
  /** Path of the launcher, whose arguments are the program and its arguments. */
  readonly launcher: string;
  /**
   * Descriptor of the ruleset, which the child receives as `RULESET_DESCRIPTOR`; `undefined` if the launcher only sets
   * limits.
   */
  readonly ruleset: number | undefined;
  /** User and group of the child; `undefined`: those of the host. */
  readonly userId: number | undefined;
}

/** Jails that the host has open. */
export interface Jails {
  /** Reply to the server's query for jail support. */
  readonly support: JailSupport;
  /** Open a jail, or mark an open one as used. @throws The errno error. */
  open(jail: JailRules): void;
  /** Parameters for starting a child in the jail; `undefined` if it was never opened or has been evicted. */
  entry(key: string): JailEntry | undefined;
  /**
   * Parameters that only set limits and rights, for a mechanism that bounds paths otherwise; `undefined` if the
   * launcher cannot run.
   */
  readonly limits: JailEntry | undefined;
  /** Options of `ulimit` for the shell of a jailed command: the limits that no launcher has set. */
  shellLimits(): string;
}

/** Descriptor of the ruleset in a jailed child, until the launcher has used it. */
export const RULESET_DESCRIPTOR = 4;

/** Maximum of open rulesets; one takes a descriptor and about 10 KiB of kernel memory. */
const MAX_RULESETS = 128;
/** Descriptors of the host for each ruleset it may open. */
const DESCRIPTORS_PER_RULESET = 8;
/** User and group id of `nobody`, which owns no files. */
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
 * Detect what this machine supports. Without support `entry` finds nothing, and `support` contains the reason.
 *
 * @param onClosed Called with the key of an evicted jail: its descriptor may belong to another jail from then on.
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

/** Without a launcher, the shells that bubblewrap starts set the limits themselves. */
function noJails(missing: string, settings: HostSettings): Jails {
  return {
    support: { missing },
    open: () => undefined,
    entry: () => undefined,
    limits: undefined,
    shellLimits: () => limitOptions(settings),
  };
}

function createJails(landlock: Landlock, settings: HostSettings, onClosed: (key: string) => void): Jails {
  const rulesets = new Map<string, OpenRuleset>();
  /** Key of each owner's jail. */
  const keys = new Map<string, string>();
  const maxRulesets = maxOpenRulesets();
  const userId = mayBecomeNobody() ? NOBODY : undefined;
  const launcher = (calls: readonly LauncherCall[]) => landlock.storeProgram(makeImage(calls));
  const limits = limitCalls(settings);
  const identity = userId === undefined ? [] : nobodyCalls();
  const launchers = {
    reading: launcher([...limits, ...identity, ...jailCalls(true)]),
    writing: launcher(jailCalls(false)),
    // Bubblewrap needs either all of root's rights or none, so its launcher keeps the identity.
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
    support: userId === undefined ? {} : { userId },
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
      if (rulesets.size > maxRulesets && oldest !== undefined) close(oldest);
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
    shellLimits: () => processLimit(),
  };
}

interface OpenRuleset {
  readonly owner: string;
  readonly ruleset: number;
  readonly isReadOnly: boolean;
}

/** Maximum of rulesets, which leaves descriptors for the pipes of children. */
function maxOpenRulesets(): number {
  const [, descriptors] = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'latin1')) ?? [];
  return Math.min(MAX_RULESETS, Math.max(1, Math.floor(Number(descriptors ?? 0) / DESCRIPTORS_PER_RULESET)));
}

function makeImage(calls: readonly LauncherCall[]): Buffer {
  if (!isKnownArchitecture(process.arch)) throw new TypeError(`no launcher for ${process.arch}`);
  return launcherImage(process.arch, calls);
}

/** Limits of each process. Failures are ignored: a lower limit in effect is sufficient. */
function limitCalls({ jailMemoryBytes }: HostSettings): readonly LauncherCall[] {
  const limits = [
    [RLIMIT_CPU, JAIL_LIMITS.cpuSeconds],
    [RLIMIT_FSIZE, JAIL_LIMITS.fileBytes],
    [RLIMIT_DATA, jailMemoryBytes],
    [RLIMIT_CORE, 0],
  ] as const;
  return limits.map(([resource, maximum]) => {
    const limit = Buffer.alloc(16);
    limit.writeBigUInt64LE(BigInt(maximum), 0);
    limit.writeBigUInt64LE(BigInt(maximum), 8);
    return { name: 'prlimit64', arguments: [0, resource, limit, 0], mayFail: true };
  });
}

/**
 * Change from root to `nobody`, keeping the right to read every folder: the kernel does not limit the number of root's
 * processes. Programs that follow gain no rights from their files, because a jail sets no_new_privs.
 */
function nobodyCalls(): readonly LauncherCall[] {
  const header = Buffer.alloc(8);
  header.writeUInt32LE(CAPABILITY_VERSION_3, 0);
  const rights = Buffer.alloc(24);
  // Low words of the effective, permitted and inheritable sets.
  for (const at of [0, 4, 8]) rights.writeUInt32LE(1 << CAP_DAC_READ_SEARCH, at);
  return [
    // Keeps capabilities when the user changes. `access` takes them into account, and git relies on it below a private
    // home folder.
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
    // After the change of user, which resets it. The thread that starts children lives as long as the host.
    { name: 'prctl', arguments: [PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0] },
    { name: 'prctl', arguments: [PR_SET_SECCOMP, SECCOMP_MODE_FILTER, { filter }] },
  ];
}

/** True if this process is root with the capabilities that the change needs; in a container they may be missing. */
function mayBecomeNobody(): boolean {
  if (process.getuid?.() !== 0) return false;
  const [, held = '0'] = /^CapEff:\s*([0-9a-f]+)/m.exec(readFileSync('/proc/self/status', 'latin1')) ?? [];
  const capabilities = BigInt(`0x${held}`);
  return NEEDED_CAPABILITIES.every((each) => ((capabilities >> BigInt(each)) & 1n) === 1n);
}
