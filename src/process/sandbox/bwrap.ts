/**
 * Builds the arguments of bubblewrap: a file system that is read-only except for its mounts, without capabilities,
 * other processes or, unless granted, a network.
 */
import { sep } from 'node:path';

/** Access of a command to a path. If mounts are nested, the inner one applies. */
export interface Mount {
  /** Absolute real path that exists. */
  readonly path: string;
  /** Path in the sandbox; the same path by default. */
  readonly appearsAt?: string;
  readonly access: 'write' | 'read' | 'none';
  /** Target of a link that is recreated. */
  readonly linksTo?: string;
  readonly isFolder: boolean;
}

/** Options of `bwrapCommand`. */
export interface BwrapOptions {
  readonly mounts: readonly Mount[];
  readonly hasNetwork: boolean;
  /** Environment variables in addition to those of every child. */
  readonly variables: Readonly<Record<string, string>>;
  /** Descriptor of a filter of system calls; absent if there is none. */
  readonly filterDescriptor: number | undefined;
  /** Size of each temporary folder, in memory. */
  readonly temporaryBytes: number;
}

const ISOLATION = [
  // As root, a sandbox without its own user namespace would not contain anything.
  '--unshare-user', '--disable-userns', '--cap-drop', 'ALL',
  // Invisible processes cannot be traced, signalled or read; all end with the first process.
  '--unshare-pid', '--die-with-parent', '--new-session',
  '--unshare-ipc', '--unshare-uts', '--unshare-cgroup-try',
]; // prettier-ignore

/** Programs and settings that some systems keep below /run, where the sockets of services are too. */
const KEPT_IN_RUN = [
  '/run/systemd/resolve/resolv.conf', '/run/systemd/resolve/stub-resolv.conf', '/run/resolvconf/resolv.conf',
  '/run/NetworkManager/resolv.conf', '/run/current-system', '/run/opengl-driver',
]; // prettier-ignore

/** Folders of which each sandbox has its own, empty. */
const TEMPORARY_FOLDERS = ['/tmp', '/var/tmp', '/dev/shm'];

/**
 * Build the program and arguments that precede the command.
 *
 * @param options Mounts in any order; of two for the same path the last applies.
 */
export function bwrapCommand(options: BwrapOptions): readonly string[] {
  const { mounts, hasNetwork, variables, filterDescriptor, temporaryBytes } = options;
  const temporary = (folder: string) => ['--size', String(temporaryBytes), '--perms', '1777', '--tmpfs', folder];
  const ordered = inOrder(mounts);
  return [
    'bwrap',
    ...ISOLATION,
    ...(filterDescriptor === undefined ? [] : ['--seccomp', String(filterDescriptor)]),
    ...(hasNetwork ? [] : ['--unshare-net']),
    ...['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc'],
    // `core_pattern` and `sysrq-trigger` there require user id 0, not a capability.
    ...['--remount-ro', '/proc'],
    ...TEMPORARY_FOLDERS.flatMap(temporary),
    ...['--tmpfs', '/run', ...KEPT_IN_RUN.flatMap((path) => ['--ro-bind-try', path, path])],
    ...ordered.flatMap(mountArguments),
    // Remounted last, because mounts inside them had to be created first.
    ...['/dev', '/run', ...ordered.filter(isHiddenFolder).map(({ path }) => path)].flatMap((path) => [
      '--remount-ro',
      path,
    ]),
    ...Object.entries({ TMPDIR: '/tmp', ...variables }).flatMap(([name, value]) => ['--setenv', name, value]),
    ...['--chdir', '/', '--'],
  ];
}

/**
 * Build the program and arguments of a jail: a file system that holds only its mounts, without a network.
 *
 * @param mounts In any order; of two for the same path the last applies. @param filterDescriptor Of a filter of system
 *   calls.
 */
export function jailCommand(mounts: readonly Mount[], filterDescriptor = 4): readonly string[] {
  const ordered = inOrder(mounts.filter(({ path }) => !KERNEL_MOUNTS.some((folder) => isBelow(folder, path))));
  return [
    ...['bwrap', ...ISOLATION, '--unshare-net', '--seccomp', String(filterDescriptor)],
    ...['--dev', '/dev', '--proc', '/proc', '--remount-ro', '/proc', '--tmpfs', '/tmp', '--tmpfs', '/run'],
    ...ordered.flatMap(mountArguments),
    ...['/dev', '/tmp', '/run', '/', ...ordered.filter(isHiddenFolder).map(({ path }) => path)].flatMap((path) => [
      '--remount-ro',
      path,
    ]),
    ...['--chdir', '/', '--'],
  ];
}

/** Folders of which a jail has its own. */
const KERNEL_MOUNTS = ['/proc', '/dev'];

function isBelow(folder: string, path: string): boolean {
  return path === folder || path.startsWith(`${folder}/`);
}

/** Sort mounts by depth, so that inner ones follow those that contain them. */
function inOrder(mounts: readonly Mount[]): readonly Mount[] {
  const byTarget = [...new Map(mounts.map((mount) => [targetOf(mount), mount])).values()];
  return byTarget.sort((one, other) => depth(targetOf(one)) - depth(targetOf(other)));
}

function mountArguments(mount: Mount): string[] {
  const { path, access, linksTo } = mount;
  if (linksTo !== undefined) return ['--symlink', linksTo, path];
  if (isHiddenFolder(mount)) return ['--tmpfs', path];
  if (access === 'none') return ['--ro-bind', '/dev/null', path];
  return [access === 'write' ? '--bind' : '--ro-bind', path, targetOf(mount)];
}

function targetOf({ path, appearsAt = path }: Mount): string {
  return appearsAt;
}

function isHiddenFolder({ access, isFolder }: Mount): boolean {
  return access === 'none' && isFolder;
}

function depth(path: string): number {
  return path.split(sep).length;
}
