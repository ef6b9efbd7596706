/**
 * What stands in a workspace and is obeyed by programs outside the sandbox: hooks and settings of git,
 * editors' tasks, shells' start-up files. Sandboxed commands may read it and not change it.
 *
 * A mount protects what exists, not a name: files that a command makes anew are its own. A command could
 * replace a name that is not mounted by a link to a secret, just while the next sandbox is put together;
 * so nothing is looked up where one runs that could (see `ground.ts`).
 */
import { type Dirent, rmSync } from 'node:fs';
import { mkdir, readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Limits } from '../../../config/limits.ts';
import { sensitiveTarget } from '../../files/sensitive-targets.ts';
import type { Mount } from './bwrap.ts';

/** Parts of a repository that say what git runs. The rest stays writable, or nobody could commit. */
const OBEYED_BY_GIT = new Set(['config', 'config.worktree', 'hooks', 'info', 'modules', 'commondir']);
/** Made where they are missing, since only what is there can be protected; git makes them itself. */
const MADE_IN_GIT = ['hooks', 'info'];
/** Large, written by tools, and not looked into. */
const PASSED_BY = new Set(['node_modules']);

/**
 * Find what to protect in one folder.
 *
 * @param root Absolute real path.
 * @returns Mounts for it, and for each folder on the way, which as a mount cannot be moved aside either.
 */
export async function lockedPaths(
  root: string,
  limits: Pick<Limits, 'sandboxScanFolders' | 'sandboxScanDepth' | 'sandboxLockedPaths'>,
): Promise<readonly Mount[]> {
  const locked: Mount[] = [];
  let folders = [''];
  let left = limits.sandboxScanFolders;
  for (let depth = 0; depth < limits.sandboxScanDepth && folders.length > 0; depth += 1) {
    const looked = folders.slice(0, left);
    left -= looked.length;
    const found = await Promise.all(
      looked.map(async (folder) => {
        if (isInRepository(folder)) await completeRepository(join(root, folder));
        return { folder, entries: await entriesOf(join(root, folder)) };
      }),
    );
    folders = [];
    for (const { folder, entries } of found) {
      for (const entry of entries) {
        const path = join(folder, entry.name);
        if (isObeyed(folder, entry))
          locked.push({ path: join(root, path), access: 'read', isFolder: entry.isDirectory() });
        else if (entry.isDirectory() && !PASSED_BY.has(entry.name) && !isInRepository(folder)) folders.push(path);
      }
    }
  }
  const kept = locked.slice(0, limits.sandboxLockedPaths);
  return [...waysTo(root, kept), ...kept];
}

/**
 * Take away what no mount could keep a command from adding: a file that has git look for hooks and settings elsewhere.
 *
 * @param locked What was protected while the command ran; a repository that had the file before keeps it.
 */
export function removeRedirections(locked: readonly Mount[]): void {
  const known = new Set(locked.map(({ path }) => path));
  for (const { path } of locked) {
    const redirection = join(path, 'commondir');
    if (basename(path) === '.git' && !known.has(redirection)) rmSync(redirection, { recursive: true, force: true });
  }
}

/** Links are followed by whoever mounts: they are left alone, and what they lead to is protected where it stands. */
function isObeyed(folder: string, entry: Dirent): boolean {
  if (!entry.isFile() && !entry.isDirectory()) return false;
  if (isInRepository(folder)) return OBEYED_BY_GIT.has(entry.name);
  if (entry.name === '.git' && entry.isDirectory()) return false;
  // Relative to the folder: where the folder itself stands does not matter.
  return sensitiveTarget(join('/workspace', folder, entry.name)) !== undefined;
}

function isInRepository(folder: string): boolean {
  return folder === '.git' || folder.endsWith('/.git');
}

async function completeRepository(folder: string): Promise<void> {
  // There already, or not ours to make: then not the command's either.
  await Promise.all(MADE_IN_GIT.map((name) => mkdir(join(folder, name)).catch(() => undefined)));
}

/** Mounts for the folders between a root and what is protected in it: a mount cannot be moved aside. */
export function waysTo(root: string, protectedMounts: readonly Pick<Mount, 'path'>[]): readonly Mount[] {
  const ways = new Set<string>();
  for (const { path } of protectedMounts)
    for (let way = dirname(path); way.length > root.length; way = dirname(way)) ways.add(way);
  return [...ways].map((path) => ({ path, access: 'write', isFolder: true }));
}

async function entriesOf(folder: string): Promise<readonly Dirent[]> {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch {
    // Gone, or closed to us and so to the command: nothing in it that it could change.
    return [];
  }
}
