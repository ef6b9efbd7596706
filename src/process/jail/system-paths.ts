/**
 * Paths that every jail opens for reading: programs, their libraries, and the settings they look up.
 *
 * In a folder that also holds secrets, the readable files are listed one by one.
 */
import { dirname } from 'node:path';

const PROGRAM_FOLDERS = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin'];

/** Search path of programs in a jail, whatever the server's own `PATH` is. Node's folder comes last. */
export const JAIL_PATH = [...new Set([...PROGRAM_FOLDERS, dirname(process.execPath)])].join(':');

/** Programs, libraries and data of the system. */
export const SYSTEM_FOLDERS: readonly string[] = [
  '/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32', '/opt', '/nix/store', '/gnu/store',
  '/home/linuxbrew/.linuxbrew', '/run/current-system', '/var/lib/dpkg', '/var/lib/apt', '/var/cache/man',
]; // prettier-ignore

/** System settings that ordinary programs read. Keys and password files are excluded. */
export const SYSTEM_FILES: readonly string[] = [
  'ld.so.cache', 'ld.so.conf', 'ld.so.conf.d', 'ld.so.preload', 'passwd', 'group', 'nsswitch.conf', 'localtime',
  'timezone', 'locale.alias', 'locale.conf', 'default/locale', 'os-release', 'debian_version', 'alpine-release',
  'redhat-release', 'lsb-release', 'hostname', 'hosts', 'host.conf', 'resolv.conf', 'protocols', 'services', 'shells',
  'mime.types', 'magic', 'magic.mime', 'terminfo', 'inputrc', 'manpath.config', 'papersize', 'alternatives',
  'ssl/openssl.cnf', 'ssl/certs', 'ca-certificates', 'ca-certificates.conf', 'pki/tls/openssl.cnf', 'pki/tls/certs',
  'crypto-policies', 'gai.conf', 'fonts', 'python3', 'perl', 'dpkg', 'gitconfig', 'gitattributes',
].map((name) => `/etc/${name}`); // prettier-ignore

/**
 * Folders that the kernel presents as files. A jailed process cannot read another process's environment, memory or
 * descriptors, because it may not trace processes outside the jail.
 */
export const KERNEL_FOLDERS: readonly string[] = [
  '/proc', '/sys/devices/system', '/sys/fs/cgroup', '/sys/class', '/sys/block', '/sys/kernel/mm',
]; // prettier-ignore

/** Devices that produce bytes and accept none. */
export const DEVICES: readonly string[] = ['/dev/zero', '/dev/full', '/dev/random', '/dev/urandom'];

/** Settings of the user's git, below the home folder, without its credentials. */
export const GIT_FILES: readonly string[] = [
  '.gitconfig', '.gitignore', '.gitignore_global', '.gitattributes', '.config/git/config', '.config/git/ignore',
  '.config/git/attributes',
]; // prettier-ignore
