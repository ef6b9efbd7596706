/**
 * The kernel interfaces behind a jail: Landlock rulesets, and programs in memory.
 *
 * @see landlock(7)
 */
import { closeSync, openSync } from 'node:fs';
import { systemCallNumber, isKnownArchitecture } from '../system-call-numbers.ts';

/** Paths that a jail may access. */
export interface PathGrants {
  /** Absolute paths; they and everything below may be read and executed. */
  readonly reads: readonly string[];
  /** Absolute paths; everything below may be read, changed, created and removed. */
  readonly writes: readonly string[];
}

/** Bindings. Each throws the errno error. */
export interface Landlock {
  /** Create a ruleset. Paths that do not exist grant nothing. @returns Its descriptor. */
  createRuleset(grants: PathGrants): number;
  /** Store a program in memory. @returns The path by which this process and its children execute it. */
  storeProgram(image: Buffer): string;
}

/**
 * First version that restricts signals and abstract UNIX sockets, in addition to writes, devices and truncation.
 *
 * @see https://docs.kernel.org/userspace-api/landlock.html
 */
const MIN_VERSION = 6;
const QUERY_VERSION = 1;

/** Rights of `landlock_ruleset_attr.handled_access_fs`. @see linux/landlock.h */
const EXECUTE = 1 << 0;
const WRITE_FILE = 1 << 1;
const READ_FILE = 1 << 2;
const READ_FOLDER = 1 << 3;
const TRUNCATE = 1 << 14;
/** All rights of version 6: those above, and removing, creating eight kinds of files, moving, and ioctl on devices. */
const ALL_FILE_RIGHTS = 0xffff;
/** Rights to create devices and to use ioctl on them, which are granted nowhere. */
const MAKE_DEVICE_RIGHTS = (1 << 6) | (1 << 11) | (1 << 15);
const FILE_ONLY_RIGHTS = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE;
const READ_RIGHTS = EXECUTE | READ_FILE | READ_FOLDER;
const WRITE_RIGHTS = ALL_FILE_RIGHTS & ~MAKE_DEVICE_RIGHTS;
/** Scopes: abstract UNIX sockets and signals cannot reach processes outside the jail. */
const SCOPED = 0b11;
const PATH_BENEATH = 1;
const RULESET_BYTES = 24;
const PATH_RULE_BYTES = 12;

/** @see fcntl.h, linux/memfd.h */
const O_PATH = 0o10000000;
const O_DIRECTORY = 0o200000;
const MFD_CLOEXEC = 0x1;
const MFD_EXECUTABLE = 0x10;

/** The one device that any program may write. */
const WRITABLE_DEVICE = '/dev/null';

/**
 * Detect whether this kernel supports what a jail needs.
 *
 * @returns The reason, as a clause, if it does not.
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
  const version = calls.createRuleset(create, null, 0, QUERY_VERSION);
  if (version < MIN_VERSION) {
    const found = version < 0 ? 'the kernel has no Landlock' : `the kernel has version ${version} of Landlock`;
    return `${found}, and signals are bounded from version ${MIN_VERSION} on (Linux 6.12)`;
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
    storeProgram(image) {
      const descriptor = calls.memfdCreate('gauntlet-launcher', MFD_CLOEXEC | MFD_EXECUTABLE);
      if (descriptor < 0) throw failed('memfd_create');
      if (calls.writeBytes(descriptor, image, image.length) !== image.length) throw failed('write');
      // Through this process's table: in the child another file has this descriptor.
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

/** @returns `undefined` for a path that does not exist or that we may not access. */
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
