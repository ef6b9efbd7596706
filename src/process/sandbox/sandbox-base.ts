/**
 * The common part of all sandboxes of a server: hidden paths, command line and filter.
 */
import { realpathSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Limits } from '../../../config/limits.ts';
import type { ShellLauncher } from '../process-host.ts';
import { sandboxFilter } from '../system-call-filter.ts';
import { bwrapCommand, type BwrapOptions, type Mount } from './bwrap.ts';

/** Secrets below a home folder. */
const SECRETS_IN_HOME = [
  '.ssh',
  '.gnupg',
  '.aws',
  '.azure',
  '.kube',
  '.config/gcloud',
  '.config/gh',
  '.config/glab-cli',
  '.config/hub',
  '.config/op',
  '.config/rclone',
  '.netrc',
  '.git-credentials',
  '.config/git/credentials',
  '.docker/config.json',
  '.config/containers/auth.json',
  '.npmrc',
  '.yarnrc.yml',
  '.pypirc',
  '.cargo/credentials',
  '.cargo/credentials.toml',
  '.gem/credentials',
  '.m2/settings.xml',
  '.gradle/gradle.properties',
  '.terraform.d/credentials.tfrc.json',
  '.terraformrc',
  '.vault-token',
  '.pgpass',
  '.my.cnf',
  '.password-store',
  '.local/share/keyrings',
  '.mozilla',
  '.thunderbird',
  '.config/google-chrome',
  '.config/chromium',
  '.claude',
  '.claude.json',
  '.codex',
  '.gemini',
  '.anthropic',
  // Sockets of services that execute requests, outside /run and /tmp.
  '.docker/run',
  '.docker/desktop',
  '.colima',
  '.lima',
  '.orbstack',
  '.rd',
  '.1password',
  '.config/1Password',
  '.bash_history',
  '.zsh_history',
  '.python_history',
  '.node_repl_history',
];

// prettier-ignore

/** Secrets of the system, readable if the server runs as root. */
const SYSTEM_SECRETS = [
  '/etc/shadow', '/etc/shadow-', '/etc/gshadow', '/etc/gshadow-', '/etc/sudoers', '/etc/sudoers.d', '/etc/ssh',
  '/etc/ssl/private', '/etc/kubernetes', '/etc/rancher', '/var/lib/docker', '/var/lib/kubelet', '/var/run/secrets',
  '/var/lib/mysql', '/var/lib/lxd', '/var/snap/lxd',
];

/** Options of `sandboxBase`. */
export interface SandboxBaseOptions extends Pick<BwrapOptions, 'hasNetwork'> {
  /** Absolute path of the sandbox's own, existing folder. */
  readonly folder: string;
  /** Absolute path of the home folder whose secrets are hidden. */
  readonly homeFolder: string;
  /** Absolute paths to hide in addition. */
  readonly ownPaths: readonly string[];
  readonly limits: Pick<Limits, 'sandboxTemporaryBytes'>;
}

/** Parts shared by all sandboxes. */
export interface SandboxBase {
  readonly files: NonNullable<ShellLauncher['files']>;
  /** Mounts that hide the secrets that exist now. */
  hidden(): readonly Mount[];
  /** Build the program and arguments that precede the command. */
  command(mounts: readonly Mount[], variables?: BwrapOptions['variables']): readonly string[];
}

/** Descriptor of a launcher's first file. */
const FIRST_FILE_DESCRIPTOR = 4;

/** Create the common part. */
export function sandboxBase({ folder, homeFolder, ownPaths, hasNetwork, limits }: SandboxBaseOptions): SandboxBase {
  const files = filterFile(folder);
  const common = {
    hasNetwork,
    filterDescriptor: files.length === 0 ? undefined : FIRST_FILE_DESCRIPTOR,
    temporaryBytes: limits.sandboxTemporaryBytes,
  };
  return {
    files,
    hidden: hiddenPaths(homeFolder, ownPaths),
    command: (mounts, variables = {}) => bwrapCommand({ ...common, mounts, variables }),
  };
}

/** Write the filter of system calls. @returns Its path, or none if there is no filter for this machine. */
function filterFile(folder: string): readonly string[] {
  const filter = sandboxFilter(process.arch);
  if (filter === undefined) return [];
  const path = join(folder, 'system-calls');
  writeFileSync(path, filter, { mode: 0o600 });
  return [path];
}

// prettier-ignore

/**
 * Create the function that lists the paths to hide.
 *
 * @param homeFolder Home folder of the secrets. @param ownPaths The server's data directory, settings and token.
 * @returns A function that finds those that exist now, with links resolved.
 */
function hiddenPaths(homeFolder: string, ownPaths: readonly string[]): () => readonly Mount[] {
  const all = [...ownPaths, ...SECRETS_IN_HOME.map((name) => join(homeFolder, name)), ...SYSTEM_SECRETS];
  return () => all.flatMap((path) => hiddenPath(path) ?? []);
}

function hiddenPath(path: string): Mount | undefined {
  try {
    const stats = statSync(path, { throwIfNoEntry: false });
    return stats && { path: realpathSync.native(path), access: 'none', isFolder: stats.isDirectory() };
  } catch {
    // Inaccessible to us, and so to the command.
    return undefined;
  }
}
