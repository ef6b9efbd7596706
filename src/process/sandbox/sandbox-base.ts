/**
 * What all sandboxes of a server have in common: what they hide, how they are started, what they are given.
 */
import { realpathSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Limits } from '../../../config/limits.ts';
import type { ShellLauncher } from '../process-host.ts';
import { sandboxFilter } from '../system-call-filter.ts';
import { bwrapCommand, type BwrapOptions, type Mount } from './bwrap.ts';

/** Below a home folder. */
const IN_HOME = [
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
  // Sockets of services that do what they are told, outside /run and /tmp.
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

/** Readable where the server runs as root. */
const OF_THE_SYSTEM = [
  '/etc/shadow', '/etc/shadow-', '/etc/gshadow', '/etc/gshadow-', '/etc/sudoers', '/etc/sudoers.d', '/etc/ssh',
  '/etc/ssl/private', '/etc/kubernetes', '/etc/rancher', '/var/lib/docker', '/var/lib/kubelet', '/var/run/secrets',
  '/var/lib/mysql', '/var/lib/lxd', '/var/snap/lxd',
];

/** What an operator decides of it. */
export interface SandboxBaseOptions extends Pick<BwrapOptions, 'hasNetwork'> {
  /** Absolute; the sandbox's own, and there. */
  readonly folder: string;
  /** Whose keys are hidden: absolute. */
  readonly homeFolder: string;
  /** Further paths to hide: absolute. */
  readonly ownPaths: readonly string[];
  readonly limits: Pick<Limits, 'sandboxTemporaryBytes'>;
}

/** The common part. */
export interface SandboxBase {
  readonly files: NonNullable<ShellLauncher['files']>;
  /** What is hidden now. */
  hidden(): readonly Mount[];
  /** Program and arguments up to the program that runs inside. */
  command(mounts: readonly Mount[], variables?: BwrapOptions['variables']): readonly string[];
}

/** What a launcher's first file is handed on as. */
const FIRST_FILE_DESCRIPTOR = 4;

/** Make it. */
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

/** @returns Nothing where there is no filter for this machine. */
function filterFile(folder: string): readonly string[] {
  const filter = sandboxFilter(process.arch);
  if (filter === undefined) return [];
  const path = join(folder, 'system-calls');
  writeFileSync(path, filter, { mode: 0o600 });
  return [path];
}

// prettier-ignore

/**
 * What to hide.
 *
 * @param homeFolder Whose secrets. @param ownPaths The server's data directory, settings and token.
 * @returns Looks up which of them exist now, behind links too.
 */
function hiddenPaths(homeFolder: string, ownPaths: readonly string[]): () => readonly Mount[] {
  const all = [...ownPaths, ...IN_HOME.map((name) => join(homeFolder, name)), ...OF_THE_SYSTEM];
  return () => all.flatMap((path) => hiddenPath(path) ?? []);
}

function hiddenPath(path: string): Mount | undefined {
  try {
    const stats = statSync(path, { throwIfNoEntry: false });
    return stats && { path: realpathSync.native(path), access: 'none', isFolder: stats.isDirectory() };
  } catch {
    // Closed to us, and so to the command.
    return undefined;
  }
}
