/**
 * The kernel's calls behind a jail: rulesets of Landlock, programs in memory, limits of a child.
 *
 * @see landlock(7)
 */
import { closeSync, openSync } from 'node:fs';
import { systemCallNumber, isKnownArchitecture } from '../system-call-numbers.ts';

/** Which paths a jail opens. */
export interface PathGrants {
  /** Absolute; what lies there and below may be read and executed. */
  readonly reads: readonly string[];
  /** Absolute; what lies there and below may be read and changed, made and removed. */
  readonly writes: readonly string[];
}

/** The calls. Each throws the errno error. */
export interface Landlock {
  /** Make a ruleset. Paths that do not exist grant nothing. @returns Its descriptor. */
  createRuleset(grants: PathGrants): number;
  /** Keep a program in memory. @returns The path by which this process and its children execute it. */
  keepProgram(image: Buffer): string;
}

/**
 * The first version that bounds signals and abstract UNIX sockets, beside writes, devices and truncation.
 *
 * @see https://docs.kernel.org/userspace-api/landlock.html
 */
const LEAST_VERSION = 6;
const ASK_VERSION = 1;

/** Rights of `landlock_ruleset_attr.handled_access_fs`. @see linux/landlock.h */
const EXECUTE = 1 << 0;
const WRITE_FILE = 1 << 1;
const READ_FILE = 1 << 2;
const READ_FOLDER = 1 << 3;
const TRUNCATE = 1 << 14;
/** All of version 6: the four above, removing, making of eight kinds, moving, truncating, controlling devices. */
const ALL_FILE_RIGHTS = 0xffff;
/** Those of making devices, and of controlling them, are granted nowhere. */
const MAKE_DEVICE_RIGHTS = (1 << 6) | (1 << 11) | (1 << 15);
const FILE_ONLY_RIGHTS = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE;
const READ_RIGHTS = EXECUTE | READ_FILE | READ_FOLDER;
const WRITE_RIGHTS = ALL_FILE_RIGHTS & ~MAKE_DEVICE_RIGHTS;
/** Abstract UNIX sockets and signals reach nobody outside. */
const SCOPED = 0b11;
const PATH_BENEATH = 1;
const RULESET_BYTES = 24;
const PATH_RULE_BYTES = 12;

/** @see fcntl.h, linux/memfd.h */
const O_PATH = 0o10000000;
const O_DIRECTORY = 0o200000;
const MFD_CLOEXEC = 0x1;
const MFD_EXECUTABLE = 0x10;

/** Bytes and open files that any program may write. */
const WRITABLE_DEVICE = '/dev/null';

/**
 * Find out whether this kernel has what a jail needs.
 *
 * @returns Why not, as a clause, where it does not.
 */
export async function loadLandlock(): Promise<Landlock | string> {
  const { arch, platform } = process;
  if (platform !== 'linux') return 'it is not Linux';
  if (!isKnownArchitecture(arch)) return `the numbers of system calls on ${arch} are not known`;
  let koffi: typeof import('koffi').default;
  try {
    ({ default: koffi } = await import('koffi'));
  } catch {
    return 'koffi has no build for this machine';
  }
  const calls = bindCalls(koffi);
  const create = systemCallNumber('landlock_create_ruleset', arch);
  const add = systemCallNumber('landlock_add_rule', arch);
  const version = calls.createRuleset(create, null, 0, ASK_VERSION);
  if (version < LEAST_VERSION) {
    const found = version < 0 ? 'the kernel has no Landlock' : `the kernel has version ${version} of Landlock`;
    return `${found}, and signals are bounded from version ${LEAST_VERSION} on (Linux 6.12)`;
  }

  const failed = (what: string) => Object.assign(new Error(`${what} failed`), { code: `errno ${koffi.errno()}` });

  function grant(ruleset: number, path: string, rights: number): void {
    const opened = openPath(path);
    if (opened === undefined) return;
    const rule = Buffer.alloc(PATH_RULE_BYTES);
    rule.writeBigUInt64LE(BigInt(opened.isFolder ? rights : rights & FILE_ONLY_RIGHTS), 0);
    rule.writeInt32LE(opened.descriptor, 8);
    try {
      if (calls.addRule(add, ruleset, PATH_BENEATH, rule, 0) !== 0) throw failed(`landlock_add_rule for "${path}"`);
    } finally {
      closeSync(opened.descriptor);
    }
  }

  return {
    createRuleset({ reads, writes }) {
      const attributes = Buffer.alloc(RULESET_BYTES);
      attributes.writeBigUInt64LE(BigInt(ALL_FILE_RIGHTS), 0);
      attributes.writeBigUInt64LE(BigInt(SCOPED), 16);
      const ruleset = calls.createRuleset(create, attributes, RULESET_BYTES, 0);
      if (ruleset < 0) throw failed('landlock_create_ruleset');
      try {
        for (const path of reads) grant(ruleset, path, READ_RIGHTS);
        for (const path of writes) grant(ruleset, path, WRITE_RIGHTS);
        grant(ruleset, WRITABLE_DEVICE, READ_FILE | WRITE_FILE);
        return ruleset;
      } catch (error) {
        closeSync(ruleset);
        throw error;
      }
    },
    keepProgram(image) {
      const descriptor = calls.memfdCreate('gauntlet-launcher', MFD_CLOEXEC | MFD_EXECUTABLE);
      if (descriptor < 0) throw failed('memfd_create');
      if (calls.writeBytes(descriptor, image, image.length) !== image.length) throw failed('write');
      // By this process's table: in its own the child has files where this descriptor stood.
      return `/proc/${process.pid}/fd/${descriptor}`;
    },
  };
}

function bindCalls(koffi: typeof import('koffi').default) {
  const own = koffi.load(null);
  const call = (declaration: string) => own.func(declaration) as (...values: unknown[]) => number;
  return {
    createRuleset: call('long syscall(long number, void *attr, size_t bytes, uint32_t flags)'),
    addRule: call('long syscall(long number, int ruleset, int type, void *attr, uint32_t flags)'),
    memfdCreate: call('int memfd_create(str name, unsigned int flags)'),
    writeBytes: call('long write(int descriptor, void *bytes, size_t count)'),
  };
}

/** @returns undefined for what is not there, or what nobody lets us look at. */
function openPath(path: string): { readonly descriptor: number; readonly isFolder: boolean } | undefined {
  for (const isFolder of [true, false]) {
    try {
      return { descriptor: openSync(path, isFolder ? O_PATH | O_DIRECTORY : O_PATH), isFolder };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOTDIR') return undefined;
    }
  }
  return undefined;
}
