/**
 * The paths that every jail opens for reading: programs, their libraries, and what they look up on their way.
 *
 * Where a folder also holds secrets, its files are named one by one.
 */
import { dirname } from 'node:path';

const PROGRAM_FOLDERS = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin'];

/** Folders where programs are looked for in a jail, whatever the server's own `PATH` says. Node stands last. */
export const JAIL_PATH = [...new Set([...PROGRAM_FOLDERS, dirname(process.execPath)])].join(':');

/** Programs, libraries and data of the system. */
export const SYSTEM_FOLDERS: readonly string[] = [
  '/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32', '/opt', '/nix/store', '/gnu/store',
  '/home/linuxbrew/.linuxbrew', '/run/current-system', '/var/lib/dpkg', '/var/lib/apt', '/var/cache/man',
]; // prettier-ignore

/** Settings of the system that ordinary programs read. Keys, passwords and their shadows are not among them. */
export const SYSTEM_FILES: readonly string[] = [
  'ld.so.cache', 'ld.so.conf', 'ld.so.conf.d', 'ld.so.preload', 'passwd', 'group', 'nsswitch.conf', 'localtime',
  'timezone', 'locale.alias', 'locale.conf', 'default/locale', 'os-release', 'debian_version', 'alpine-release',
  'redhat-release', 'lsb-release', 'hostname', 'hosts', 'host.conf', 'resolv.conf', 'protocols', 'services', 'shells',
  'mime.types', 'magic', 'magic.mime', 'terminfo', 'inputrc', 'manpath.config', 'papersize', 'alternatives',
  'ssl/openssl.cnf', 'ssl/certs', 'ca-certificates', 'ca-certificates.conf', 'pki/tls/openssl.cnf', 'pki/tls/certs',
  'crypto-policies', 'gai.conf', 'fonts', 'python3', 'perl', 'dpkg', 'gitconfig', 'gitattributes',
].map((name) => `/etc/${name}`); // prettier-ignore

/**
 * Folders that the kernel shows as files. A jail's processes are kept from another process's own (its environment,
 * memory, descriptors) by the rule that nobody traces out of a jail.
 */
export const KERNEL_FOLDERS: readonly string[] = [
  '/proc', '/sys/devices/system', '/sys/fs/cgroup', '/sys/class', '/sys/block', '/sys/kernel/mm',
]; // prettier-ignore

/** Devices that give bytes and take none. */
export const DEVICES: readonly string[] = ['/dev/zero', '/dev/full', '/dev/random', '/dev/urandom'];

/** Settings of the user's git, below the home folder; not what it keeps passwords in. */
export const GIT_FILES: readonly string[] = [
  '.gitconfig', '.gitignore', '.gitignore_global', '.gitattributes', '.config/git/config', '.config/git/ignore',
  '.config/git/attributes',
]; // prettier-ignore
