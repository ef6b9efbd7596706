/**
 * Protects files in a workspace that programs outside the sandbox obey: git hooks and settings, editors' tasks, shells'
 * start-up files. Sandboxed commands may read but not change them.
 *
 * A mount protects an existing file, not a name: a command may create files that did not exist. It could also replace
 * an unmounted name by a link to a secret while the next sandbox is being set up, so nothing is looked up while such a
 * command runs (see `working-folders.ts`).
 */
import { type Dirent, rmSync } from 'node:fs';
import { mkdir, readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { sensitiveTarget } from '../../files/sensitive-targets.ts';
import type { Mount } from './bwrap.ts';

/** Parts of a repository that determine what git runs. The rest stays writable, because commits need it. */
const GIT_CONFIGURATION = new Set(['config', 'config.worktree', 'hooks', 'info', 'modules', 'commondir']);
/** Created if missing, since only an existing path can be protected; git creates them itself too. */
const CREATED_IN_GIT = ['hooks', 'info'];
/** Folders looked through in one workspace: each sandbox may have to wait for it. */
const MAX_FOLDERS = 2_000;
/** Depth of that look; what lies deeper is not protected. */
const MAX_DEPTH = 5;
/** Paths protected in one workspace, those nearest its top first: each is a mount of every sandbox. */
const MAX_LOCKED_PATHS = 200;
/** Large folders written by tools, which are not searched. */
const SKIPPED_FOLDERS = new Set(['node_modules']);

/**
 * Find the paths to protect in one folder.
 *
 * @param root Absolute real path.
 * @returns Mounts for them, and for each folder in between, which as a mount cannot be renamed either.
 */
export async function lockedPaths(root: string): Promise<readonly Mount[]> {
  const locked: Mount[] = [];
  let folders = [''];
  let remainingFolders = MAX_FOLDERS;
  for (let depth = 0; depth < MAX_DEPTH && folders.length > 0; depth += 1) {
    const scanned = folders.slice(0, remainingFolders);
    remainingFolders -= scanned.length;
    const found = await Promise.all(
      scanned.map(async (folder) => {
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
        else if (entry.isDirectory() && !SKIPPED_FOLDERS.has(entry.name) && !isInRepository(folder)) folders.push(path);
      }
    }
  }
  const kept = locked.slice(0, MAX_LOCKED_PATHS);
  return [...parentMounts(root, kept), ...kept];
}

/**
 * Remove a file that no mount can prevent a command from creating: `commondir`, which makes git look elsewhere for
 * hooks and settings.
 *
 * @param locked The mounts while the command ran; a repository that had the file before keeps it.
 */
export function removeRedirections(locked: readonly Mount[]): void {
  const known = new Set(locked.map(({ path }) => path));
  for (const { path } of locked) {
    const redirection = join(path, 'commondir');
    if (basename(path) === '.git' && !known.has(redirection)) rmSync(redirection, { recursive: true, force: true });
  }
}

/**
 * True for files and folders that other programs obey. Links are skipped, because bubblewrap would follow them; a
 * target in the workspace is protected under its own path.
 */
function isObeyed(folder: string, entry: Dirent): boolean {
  if (!entry.isFile() && !entry.isDirectory()) return false;
  if (isInRepository(folder)) return GIT_CONFIGURATION.has(entry.name);
  if (entry.name === '.git' && entry.isDirectory()) return false;
  // Relative to the folder, whose own location does not matter.
  return sensitiveTarget(join('/workspace', folder, entry.name)) !== undefined;
}

function isInRepository(folder: string): boolean {
  return folder === '.git' || folder.endsWith('/.git');
}

async function completeRepository(folder: string): Promise<void> {
  // It exists, or we may not create it, in which case the command may not either.
  await Promise.all(CREATED_IN_GIT.map((name) => mkdir(join(folder, name)).catch(() => undefined)));
}

/** Mounts of the folders between a root and the protected paths in it: a mounted folder cannot be renamed. */
export function parentMounts(root: string, protectedMounts: readonly Pick<Mount, 'path'>[]): readonly Mount[] {
  const parents = new Set<string>();
  for (const { path } of protectedMounts)
    for (let parent = dirname(path); parent.length > root.length; parent = dirname(parent)) parents.add(parent);
  return [...parents].map((path) => ({ path, access: 'write', isFolder: true }));
}

async function entriesOf(folder: string): Promise<readonly Dirent[]> {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch {
    // Removed, or inaccessible to us and so to the command, which cannot change anything in it.
    return [];
  }
}
