/**
 * The arguments of bubblewrap: a machine that is read-only but for its mounts, without capabilities, other
 * processes or, unless it is given one, a network.
 */
import { sep } from 'node:path';

/** What a command may do with a path. Where two mounts meet, the deeper one holds. */
export interface Mount {
  /** Absolute real path of something that exists. */
  readonly path: string;
  /** Where it is seen in the sandbox; by default where it is. */
  readonly appearsAt?: string;
  readonly access: 'write' | 'read' | 'none';
  /** A link that is made anew, to this. */
  readonly linksTo?: string;
  readonly isFolder: boolean;
}

/** What differs between sandboxes. */
export interface BwrapOptions {
  readonly mounts: readonly Mount[];
  readonly hasNetwork: boolean;
  /** Environment variables beside those of every child. */
  readonly variables: Readonly<Record<string, string>>;
  /** Of a filter of system calls; absent where there is none. */
  readonly filterDescriptor: number | undefined;
  /** Of each of the temporary folders; memory. */
  readonly temporaryBytes: number;
}

const ISOLATION = [
  // As root without a namespace of users of its own it would be no sandbox.
  '--unshare-user', '--disable-userns', '--cap-drop', 'ALL',
  // Processes that are not seen are not traced, signalled or read; none outlives the first.
  '--unshare-pid', '--die-with-parent', '--new-session',
  '--unshare-ipc', '--unshare-uts', '--unshare-cgroup-try',
]; // prettier-ignore

/** Programs and settings that some systems keep below /run, where everybody's sockets are too. */
const KEPT_IN_RUN = [
  '/run/systemd/resolve/resolv.conf', '/run/systemd/resolve/stub-resolv.conf', '/run/resolvconf/resolv.conf',
  '/run/NetworkManager/resolv.conf', '/run/current-system', '/run/opengl-driver',
]; // prettier-ignore

/** A sandbox has its own, empty. */
const TEMPORARY_FOLDERS = ['/tmp', '/var/tmp', '/dev/shm'];

/**
 * Program and arguments up to the program that runs inside.
 *
 * @param options Mounts in any order; of two for one path the last.
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
    // What the kernel lets root set there (`core_pattern`, `sysrq-trigger`) asks for a user, not a capability.
    ...['--remount-ro', '/proc'],
    ...TEMPORARY_FOLDERS.flatMap(temporary),
    ...['--tmpfs', '/run', ...KEPT_IN_RUN.flatMap((path) => ['--ro-bind-try', path, path])],
    ...ordered.flatMap(mountArguments),
    // Only now, since mounts that lie deeper had to be made in them.
    ...['/dev', '/run', ...ordered.filter(isHiddenFolder).map(({ path }) => path)].flatMap((path) => [
      '--remount-ro',
      path,
    ]),
    ...Object.entries({ TMPDIR: '/tmp', ...variables }).flatMap(([name, value]) => ['--setenv', name, value]),
    ...['--chdir', '/', '--'],
  ];
}

/**
 * Program and arguments of a jail: a machine that holds its mounts and nothing else, without a network.
 *
 * @param mounts In any order; of two for one path the last. @param filterDescriptor Of a filter of system calls.
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

/** It has its own of these. */
const KERNEL_MOUNTS = ['/proc', '/dev'];

function isBelow(folder: string, path: string): boolean {
  return path === folder || path.startsWith(`${folder}/`);
}

/** Deeper mounts after those they lie in. */
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
