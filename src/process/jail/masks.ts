/**
 * Finds what a rule hides inside the working directories: a jail opens folders as a whole, so it has to be masked.
 */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { LRUCache } from 'lru-cache';
import type { Limits } from '../../../config/limits.ts';
import type { Mount } from '../sandbox/bwrap.ts';
import type { JailPlace, ReadDenials } from './place.ts';

/** Looks at the working directories of a place. @returns undefined where they hold too many files to look at. */
export type MaskFinder = (
  place: Pick<JailPlace, 'sessionId' | 'folders' | 'denials'>,
) => Promise<readonly Mount[] | undefined>;

type MaskLimits = Pick<Limits, 'jailScanNames' | 'jailScanMs'>;

/** Sessions whose last look is remembered. */
const MAX_LOOKS = 100;

/** Make a finder; what it found holds for `jailScanMs`, as long as the rules stay the same. */
export function createMaskFinder(limits: MaskLimits): MaskFinder {
  const looks = new LRUCache<string, Promise<readonly Mount[] | undefined>>({ max: MAX_LOOKS, ttl: limits.jailScanMs });
  return ({ sessionId, folders, denials }) => {
    const searched = folders.filter((folder) => denials.mayDenyBelow(folder));
    if (searched.length === 0) return Promise.resolve([]);
    const key = [sessionId, denials.version, ...searched].join('\0');
    const known = looks.get(key);
    if (known) return known;
    const look = findMasks(searched, denials, limits.jailScanNames);
    looks.set(key, look);
    return look;
  };
}

async function findMasks(
  folders: readonly string[],
  denials: ReadDenials,
  mostNames: number,
): Promise<readonly Mount[] | undefined> {
  const masks: Mount[] = [];
  const waiting = [...folders];
  let left = mostNames;
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    for (const entry of await entriesOf(folder)) {
      if ((left -= 1) < 0) return undefined;
      const path = join(folder, entry.name);
      const isFolder = entry.isDirectory();
      // A link is no content; where it leads is looked at by the name that it has there.
      if (entry.isSymbolicLink()) continue;
      if (denials.isDenied(path)) masks.push({ path, access: 'none', isFolder });
      else if (isFolder && denials.mayDenyBelow(path)) waiting.push(path);
    }
  }
  return masks;
}

async function entriesOf(folder: string) {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch {
    // It is gone, or closed to us and so to the command.
    return [];
  }
}
