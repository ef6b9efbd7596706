/**
 * What no sandboxed command may even read: keys, passwords, tokens.
 *
 * Looked up at each command, so that one written after the start is hidden too.
 */
import { realpathSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Mount } from './bwrap.ts';

/** Below a home folder. */
const IN_HOME = [
  '.ssh', '.gnupg', '.aws', '.azure', '.kube', '.config/gcloud', '.config/gh', '.config/glab-cli', '.config/hub',
  '.config/op', '.config/rclone', '.netrc', '.git-credentials', '.config/git/credentials', '.docker/config.json',
  '.config/containers/auth.json', '.npmrc', '.yarnrc.yml', '.pypirc', '.cargo/credentials', '.cargo/credentials.toml',
  '.gem/credentials', '.m2/settings.xml', '.gradle/gradle.properties', '.terraform.d/credentials.tfrc.json', '.terraformrc',
  '.vault-token', '.pgpass', '.my.cnf', '.password-store', '.local/share/keyrings', '.mozilla', '.thunderbird',
  '.config/google-chrome', '.config/chromium', '.claude', '.claude.json', '.codex', '.gemini', '.anthropic',
  // Sockets of services that do what they are told, outside /run and /tmp.
  '.docker/run', '.docker/desktop', '.colima', '.lima', '.orbstack', '.rd', '.1password', '.config/1Password',
  '.bash_history', '.zsh_history', '.python_history', '.node_repl_history',
]; // prettier-ignore

/** Readable where the server runs as root. */
const OF_THE_SYSTEM = [
  '/etc/shadow', '/etc/shadow-', '/etc/gshadow', '/etc/gshadow-', '/etc/sudoers', '/etc/sudoers.d', '/etc/ssh',
  '/etc/ssl/private', '/etc/kubernetes', '/etc/rancher', '/var/lib/docker', '/var/lib/kubelet', '/var/run/secrets',
  '/var/lib/mysql', '/var/lib/lxd', '/var/snap/lxd',
]; // prettier-ignore

/**
 * What to hide.
 *
 * @param homeFolder Whose secrets. @param ownPaths The server's data directory, settings and token.
 * @returns Looks up which of them exist now, behind links too.
 */
export function hiddenPaths(homeFolder: string, ownPaths: readonly string[]): () => readonly Mount[] {
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
