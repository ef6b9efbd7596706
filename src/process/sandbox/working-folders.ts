/**
 * Which paths of the working directories are locked, and when that is looked up: while no sandboxed
 * command runs there, so that none can put a link where a mount is about to be made.
 */
import { lstatSync } from 'node:fs';
import { isInsideFolder } from '../../../config/containment.ts';
import type { Limits } from '../../../config/limits.ts';
import type { Mount } from './bwrap.ts';
import { lockedPaths, removeRedirections, waysTo } from './locked-paths.ts';

/** Folders a sandboxed command is about to run in. */
export interface EnteredFolders {
  /** The working directories, and what is locked in them. */
  readonly mounts: readonly Mount[];
  /** The command has ended. */
  leave(): void;
}

/** What is known of working directories. */
export interface WorkingFolders {
  /** @param roots Absolute real paths, none inside another. */
  enter(roots: readonly string[]): Promise<EnteredFolders>;
}

type FolderLimits = Parameters<typeof lockedPaths>[1] & Pick<Limits, 'sandboxScanMs'>;

interface Look {
  readonly locked: Promise<readonly Mount[]>;
  readonly takenMs: number;
  /** Commands that run in it. */
  running: number;
}

/** Make it; it knows nothing yet. @param readOnlyPaths Real paths that are never written, wherever they lie. */
export function createWorkingFolders(limits: FolderLimits, readOnlyPaths: readonly string[] = []): WorkingFolders {
  const looks = new Map<string, Look>();

  function isStale({ running, takenMs }: Look): boolean {
    return running === 0 && performance.now() - takenMs > limits.sandboxScanMs;
  }

  /** A root that holds another one, or lies in it, is the same ground. */
  function isQuiet(root: string): boolean {
    return [...looks].every(
      ([other, { running }]) => running === 0 || !(isInsideFolder(root, other) || isInsideFolder(other, root)),
    );
  }

  function look(root: string): Look {
    const known = looks.get(root);
    if (known !== undefined && !(isStale(known) && isQuiet(root))) return known;
    const fresh = { locked: lockedPaths(root, limits), takenMs: performance.now(), running: 0 };
    looks.set(root, fresh);
    return fresh;
  }

  return {
    async enter(roots) {
      const entered = roots.map(look);
      for (const each of entered) each.running += 1;
      // Nobody asks again for what is stale by now and of no use.
      for (const [root, each] of looks) if (isStale(each) && isQuiet(root)) looks.delete(root);
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
 * Make the mounts.
 *
 * @param roots Absolute real paths, none inside another.
 * @param locked As `lockedPaths` found them in the roots.
 * @param readOnlyPaths Real paths that are never written: in a root, or around one, which is then read-only itself.
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
    return [...waysTo(root, mounts), ...mounts];
  });
  const isReadOnly = ({ path }: Mount) => readOnlyPaths.some((readOnly) => isInsideFolder(readOnly, path));
  return [...opened, ...kept, ...locked].map((mount) => (isReadOnly(mount) ? { ...mount, access: 'read' } : mount));
}

function isFolder(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
