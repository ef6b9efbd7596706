/**
 * Looks up the locked paths of working directories, and does so while no sandboxed command runs there, so that none can
 * put a link where a mount is about to be made.
 */
import { lstatSync } from 'node:fs';
import { isInsideFolder } from '../../../config/containment.ts';
import type { Mount } from './bwrap.ts';
import { lockedPaths, removeRedirections, parentMounts } from './locked-paths.ts';

/** Folders in which a sandboxed command is about to run. */
export interface EnteredFolders {
  /** Mounts of the working directories, and of what is locked in them. */
  readonly mounts: readonly Mount[];
  /** Record that the command has ended. */
  leave(): void;
}

/** Cache of the locked paths of working directories. */
export interface WorkingFolders {
  /** @param roots Absolute real paths, none inside another. */
  enter(roots: readonly string[]): Promise<EnteredFolders>;
}

/** Time for which a result stays valid; longer while sandboxed commands run there. */
const LOOK_MS = 10_000;

interface Scan {
  readonly locked: Promise<readonly Mount[]>;
  readonly takenMs: number;
  /** Number of running commands. */
  running: number;
}

/** Create an empty cache. @param readOnlyPaths Real paths that are never writable, wherever they lie. */
export function createWorkingFolders(readOnlyPaths: readonly string[] = []): WorkingFolders {
  const scans = new Map<string, Scan>();

  function isStale({ running, takenMs }: Scan): boolean {
    return running === 0 && performance.now() - takenMs > LOOK_MS;
  }

  /** True if no command runs in the root, in a folder that contains it, or in one inside it. */
  function isUnused(root: string): boolean {
    return [...scans].every(
      ([other, { running }]) => running === 0 || !(isInsideFolder(root, other) || isInsideFolder(other, root)),
    );
  }

  function scan(root: string): Scan {
    const known = scans.get(root);
    if (known !== undefined && !(isStale(known) && isUnused(root))) return known;
    const fresh = { locked: lockedPaths(root), takenMs: performance.now(), running: 0 };
    scans.set(root, fresh);
    return fresh;
  }

  return {
    async enter(roots) {
      const entered = roots.map(scan);
      for (const each of entered) each.running += 1;
      // Stale entries of folders without a command are no longer useful.
      for (const [root, each] of scans) if (isStale(each) && isUnused(root)) scans.delete(root);
      const locked = await Promise.all(entered.map((each) => each.locked));
      return {
        mounts: workingMounts(roots, locked.flat(), readOnlyPaths),
        leave() {
          for (const each of entered) each.running -= 1;
          removeRedirections(locked.flat());
        },
      };
    },
  };
}

/**
 * Build the mounts.
 *
 * @param roots Absolute real paths, none inside another.
 * @param locked Result of `lockedPaths` for the roots.
 * @param readOnlyPaths Real paths that are never writable: inside a root, or around one, which is then read-only
 *   itself.
 */
function workingMounts(
  roots: readonly string[],
  locked: readonly Mount[],
  readOnlyPaths: readonly string[],
): readonly Mount[] {
  const opened = roots.map((path) => ({ path, access: 'write', isFolder: true }) as const);
  const kept = roots.flatMap((root) => {
    const inside = readOnlyPaths.filter((path) => path !== root && isInsideFolder(root, path));
    const mounts = inside.map((path) => ({ path, access: 'read', isFolder: isFolder(path) }) as const);
    return [...parentMounts(root, mounts), ...mounts];
  });
  const isReadOnly = ({ path }: Mount) => readOnlyPaths.some((readOnly) => isInsideFolder(readOnly, path));
  return [...opened, ...kept, ...locked].map((mount) => (isReadOnly(mount) ? { ...mount, access: 'read' } : mount));
}

function isFolder(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
