/**
 * Finds what a rule hides inside the working directories and the system's folders: a jail opens folders as a whole, so
 * it has to be masked.
 *
 * Working directories are searched for all rules. Rules that spell a place elsewhere are followed there, through links;
 * rules that may be about any folder are not looked for among the system's files, which are too many.
 *
 * Working directories with too many names are an answer: the command is asked about. The system's places have as many
 * names of their own; a rule whose place has more hides nothing there, since a question about every command would help
 * nobody. The kernel's folders are not searched: they change with every process. The gate judges paths that are named.
 */
import { lstatSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { isInsideFolder } from '../../../config/containment.ts';
import type { Limits } from '../../../config/limits.ts';
import { createPace } from '../../base/pace.ts';
import { resolveRealPath } from '../../files/real-path.ts';
import type { Mount } from '../sandbox/bwrap.ts';
import type { JailPlace, ReadDenials } from './place.ts';
import { KERNEL_FOLDERS } from './system-paths.ts';

/** Looks for what the rules of a place hide. @returns undefined where working directories hold too many. */
export type MaskFinder = (
  place: Pick<JailPlace, 'sessionId' | 'folders' | 'denials'>,
) => Promise<readonly Mount[] | undefined>;

type MaskLimits = Pick<Limits, 'jailScanNames' | 'jailScanMs'>;

/** Other calls wait no longer than this while the places of rules are looked at: 10,000 of them take 0.2 s. */
const MAX_BLOCKED_MS = 5;
/** Sessions whose last look is remembered. */
const MAX_LOOKS = 100;

/**
 * Make a finder; what it found holds for `jailScanMs`, as long as the rules stay the same.
 *
 * @param systemPaths What every jail reads beside the working directories: absolute.
 */
export function createMaskFinder(limits: MaskLimits, systemPaths: readonly string[]): MaskFinder {
  const looks = new LRUCache<string, Promise<readonly Mount[] | undefined>>({ max: MAX_LOOKS, ttl: limits.jailScanMs });
  return ({ sessionId, folders, denials }) => {
    const searched = folders.filter((folder) => denials.mayDenyBelow(folder));
    if (searched.length === 0 && denials.places().length === 0) return Promise.resolve([]);
    const key = [sessionId, denials.version, ...searched, '', ...folders].join('\0');
    const known = looks.get(key);
    if (known) return known;
    const look = findMasks(searched, { folders, systemPaths }, denials, limits.jailScanNames);
    looks.set(key, look);
    return look;
  };
}

/** A folder to be searched. Rules are held against the path as they spell it; the mask is for the real one. */
interface SearchedFolder {
  readonly spelled: string;
  readonly real: string;
}

/** A search through folders: those that are left, and what was found. */
interface Search {
  readonly waiting: SearchedFolder[];
  readonly masks: Mount[];
}

/** @param reads The working directories, and the paths that every jail reads beside them. */
async function findMasks(
  searched: readonly string[],
  reads: { readonly folders: readonly string[]; readonly systemPaths: readonly string[] },
  denials: ReadDenials,
  mostNames: number,
): Promise<readonly Mount[] | undefined> {
  const { folders, systemPaths } = reads;
  // Landlock opens what a link leads to: settings of git are often a link. A rule about anything else hides nothing.
  const readable = [...new Set([...folders, ...systemPaths, ...systemPaths.flatMap(realPathOf)])];
  const isLong = createPace(MAX_BLOCKED_MS);
  const named: Mount[] = [];
  const working: Search = { waiting: searched.map((folder) => ({ spelled: folder, real: folder })), masks: [] };
  const system: Search[] = [];
  const enlist = (waiting: readonly SearchedFolder[]) => {
    const searchable = waiting.filter(({ real }) => !liesIn(KERNEL_FOLDERS, real));
    working.waiting.push(...searchable.filter(({ real }) => liesIn(folders, real)));
    system.push({ waiting: searchable.filter(({ real }) => !liesIn(folders, real)), masks: [] });
  };
  for (const spelled of denials.places().filter((place) => !liesIn(searched, place))) {
    if (isLong()) await setImmediate();
    const found = resolveRealPath(spelled);
    if ('refusal' in found || found.stats === undefined) continue;
    const { real, stats } = found;
    const isDenied = denials.isDenied(spelled);
    if (liesIn(readable, real)) {
      if (isDenied) named.push({ path: real, access: 'none', isFolder: stats.isDirectory() });
      else enlist([{ spelled, real }]);
      continue;
    }
    // The place is closed as a whole; what the jail opens in it is not.
    const inside = readable
      .filter((path) => isInsideFolder(real, path))
      .map((path) => ({ spelled: join(spelled, relative(real, path)), real: path }))
      .filter((path) => !liesIn(searched, path.spelled));
    const hidden = inside.filter((path) => isDenied || denials.isDenied(path.spelled));
    named.push(...hidden.flatMap((path) => maskOf(path.real)));
    const open = inside.filter((path) => !hidden.includes(path) && denials.mayDenyBelow(path.spelled));
    enlist(open.flatMap((path) => realPathOf(path.real).map((real) => ({ spelled: path.spelled, real }))));
  }
  if (!(await finished([working], denials, mostNames)).includes(working)) return undefined;
  const looked = await finished(system, denials, mostNames);
  return [...named, ...working.masks, ...looked.flatMap(({ masks }) => masks)];
}

/** Search by turns, a folder each, so that a large place takes nothing from small ones. @returns Those that ended. */
async function finished(searches: readonly Search[], denials: ReadDenials, mostNames: number): Promise<Search[]> {
  const ended: Search[] = [];
  const turns = [...searches];
  let left = mostNames;
  for (let search = turns.shift(); search !== undefined; search = turns.shift()) {
    const folder = search.waiting.pop();
    if (folder === undefined) {
      ended.push(search);
      continue;
    }
    const entries = await entriesOf(folder.real);
    // What fits into the rest is still looked at: one folder that is too large leaves the others their turns.
    if (entries.length > left) continue;
    left -= entries.length;
    for (const entry of entries) {
      const spelled = join(folder.spelled, entry.name);
      const real = join(folder.real, entry.name);
      const isFolder = entry.isDirectory();
      // A link is no content; where it leads is looked at by the name that it has there.
      if (entry.isSymbolicLink()) continue;
      if (denials.isDenied(spelled)) search.masks.push({ path: real, access: 'none', isFolder });
      else if (isFolder && denials.mayDenyBelow(spelled)) search.waiting.push({ spelled, real });
    }
    turns.push(search);
  }
  return ended;
}

/** Whether a path is one of some, or lies below one. */
export function liesIn(folders: readonly string[], path: string): boolean {
  return folders.some((folder) => isInsideFolder(folder, path));
}

/** Hides a path that exists. A link is none: what it leads to is read where it leads. */
export function maskOf(path: string): readonly Mount[] {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  return stats === undefined || stats.isSymbolicLink() ? [] : [{ path, access: 'none', isFolder: stats.isDirectory() }];
}

function realPathOf(path: string): readonly string[] {
  const found = resolveRealPath(path);
  return 'refusal' in found ? [] : [found.real];
}

async function entriesOf(folder: string) {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch {
    // It is gone, or closed to us and so to the command.
    return [];
  }
}
