/**
 * The one place where a jailed command may write: a folder of its own, whose content is removed when its call has
 * ended.
 *
 * Creating and removing a folder takes half a millisecond on some disks, so a folder that a call left empty is reused
 * by the next call of its session. Anything else that a call left is removed, beside its folder too.
 */
import { chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { LRUCache } from 'lru-cache';
import type { JailPlace } from './place.ts';

/** The temporary folders of a server's jails. */
export interface TemporaryFolders {
  /**
   * Return the parent of a session's temporary folders, created if missing.
   *
   * @param userId Owner; the server's user by default.
   */
  base(place: Pick<JailPlace, 'sessionFolder'>, userId: number | undefined): string;
  /** Return an empty folder for one call. */
  take(place: Pick<JailPlace, 'sessionFolder'>, userId: number | undefined): string;
  /** Release the folder of a call whose processes have all ended. Resolves when its files are removed. */
  release(folder: string): Promise<void>;
}

interface Base {
  readonly path: string;
  /** Folders of running calls. */
  readonly taken: Set<string>;
  /** Folders that are empty. */
  readonly free: Set<string>;
}

/** Maximum of sessions remembered; a forgotten one is cleaned up on its next use. */
const MAX_BASES = 1_000;

/** Create the manager; nothing is created on disk yet. */
export function createTemporaryFolders(): TemporaryFolders {
  const bases = new LRUCache<string, Base>({ max: MAX_BASES });
  /** By the folder of a running call. */
  const running = new Map<string, Base>();

  function baseOf(sessionFolder: string, userId: number | undefined): Base {
    const path = join(sessionFolder, userId === undefined ? 'temporary' : `temporary-${userId}`);
    const known = bases.get(path);
    // It may be missing if its session or trial was removed and recreated under the same path.
    if (known && existsSync(path)) return known;
    mkdirSync(path, { recursive: true, mode: 0o700 });
    changeOwner(path, userId);
    const base = { path, taken: new Set<string>(), free: new Set<string>() };
    bases.set(path, base);
    return base;
  }

  return {
    base: ({ sessionFolder }, userId) => baseOf(sessionFolder, userId).path,
    take({ sessionFolder }, userId) {
      const base = baseOf(sessionFolder, userId);
      const [free] = base.free;
      const folder = free ?? mkdtempSync(join(base.path, 'call-'));
      base.free.delete(folder);
      base.taken.add(folder);
      running.set(folder, base);
      if (free === undefined) changeOwner(folder, userId);
      return folder;
    },
    async release(folder) {
      const base = running.get(folder);
      running.delete(folder);
      if (base === undefined) return;
      base.taken.delete(folder);
      if (isEmpty(folder)) base.free.add(folder);
      // While other calls run, their files cannot be told apart from what is left; the last call cleans up.
      if (base.taken.size > 0) return;
      const kept = new Set([...base.free].filter(isEmpty).map((free) => basename(free)));
      for (const free of base.free) if (!kept.has(basename(free))) base.free.delete(free);
      const left = namesIn(base.path).filter((name) => !kept.has(name));
      await Promise.all(left.map((name) => removeIfPossible(join(base.path, name))));
    },
  };
}

async function removeIfPossible(path: string): Promise<void> {
  try {
    await rm(path, { recursive: true, force: true });
  } catch {
    // The command made it inaccessible. That must not cost the command its result; it is removed with the session.
  }
}

/** True if the path is an empty folder; false for a link or a missing path. */
function isEmpty(folder: string): boolean {
  try {
    return readdirSync(folder, { withFileTypes: true }).length === 0;
  } catch {
    // The command removed or replaced it.
    return false;
  }
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    // The session was removed meanwhile, with all its folders.
    return [];
  }
}

function changeOwner(folder: string, userId: number | undefined): void {
  if (userId !== undefined) chownSync(folder, userId, userId);
}
