/**
 * The one place where a jailed command may write: a folder of its own, whose content goes when its call has ended.
 *
 * Making and removing a folder takes half a millisecond on some disks. One that a call left empty is given to the next
 * call of its session; whatever else a call left is removed, beside its folder too.
 */
import { chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { LRUCache } from 'lru-cache';
import type { JailPlace } from './place.ts';

/** The temporary folders of a server's jails. */
export interface TemporaryFolders {
  /** The folder that holds those of a session, made where it is missing. @param userId Whose it is; the server's by default. */
  base(place: Pick<JailPlace, 'sessionFolder'>, userId: number | undefined): string;
  /** A folder for one call, empty. */
  take(place: Pick<JailPlace, 'sessionFolder'>, userId: number | undefined): string;
  /** The call has ended, and all its processes have. Resolves when what it left is removed. */
  release(folder: string): Promise<void>;
}

interface Base {
  readonly path: string;
  /** Folders of calls that run. */
  readonly taken: Set<string>;
  /** Folders that are empty. */
  readonly free: Set<string>;
}

/** Sessions whose folders are remembered; one that is forgotten is swept when it is met again. */
const MAX_BASES = 1_000;

/** Make them; nothing is made on disk yet. */
export function createTemporaryFolders(): TemporaryFolders {
  const bases = new LRUCache<string, Base>({ max: MAX_BASES });
  /** By the folder of a call that runs. */
  const running = new Map<string, Base>();

  function baseOf(sessionFolder: string, userId: number | undefined): Base {
    const path = join(sessionFolder, userId === undefined ? 'temporary' : `temporary-${userId}`);
    const known = bases.get(path);
    // It is gone where its session, or a trial, was removed and begun again under the same path.
    if (known && existsSync(path)) return known;
    mkdirSync(path, { recursive: true, mode: 0o700 });
    giveTo(path, userId);
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
      if (free === undefined) giveTo(folder, userId);
      return folder;
    },
    async release(folder) {
      const base = running.get(folder);
      running.delete(folder);
      if (base === undefined) return;
      base.taken.delete(folder);
      if (isEmpty(folder)) base.free.add(folder);
      // Beside calls that run nobody can tell what is theirs; the last of them sweeps.
      if (base.taken.size > 0) return;
      const kept = new Set([...base.free].filter(isEmpty).map((free) => basename(free)));
      for (const free of base.free) if (!kept.has(basename(free))) base.free.delete(free);
      const left = namesIn(base.path).filter((name) => !kept.has(name));
      await Promise.all(left.map((name) => removed(join(base.path, name))));
    },
  };
}

async function removed(path: string): Promise<void> {
  try {
    await rm(path, { recursive: true, force: true });
  } catch {
    // The command closed it to us. It must not cost the command its result; it goes with the session.
  }
}

/** Also false for what is no folder any more: a link, or nothing. */
function isEmpty(folder: string): boolean {
  try {
    return readdirSync(folder, { withFileTypes: true }).length === 0;
  } catch {
    // The command took it away, or put something else in its place.
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

function giveTo(folder: string, userId: number | undefined): void {
  if (userId !== undefined) chownSync(folder, userId, userId);
}
