/**
 * Finds what rules hide inside the working directories and the system's folders. A jail opens whole folders, so hidden
 * paths in them must be masked.
 *
 * Working directories are searched for all rules. Rules that name a place elsewhere are followed there, through links;
 * rules that could match in any folder are not searched for in the system's folders, which hold too many files.
 *
 * If the working directories have too many names, the command becomes a question. The system's places have a budget of
 * the same size; a rule whose place exceeds it masks nothing there, since a question about every command would be
 * useless. The kernel's folders are not searched, because they change with every process. The gate judges paths that a
 * command names.
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

/**
 * Finds the mounts that mask the paths hidden by the rules of a place.
 *
 * @returns `undefined` if the working directories hold too many names.
 */
export type MaskFinder = (
  place: Pick<JailPlace, 'sessionId' | 'folders' | 'denials'>,
) => Promise<readonly Mount[] | undefined>;

/** Longest time that the check of rules' places blocks the event loop: 10,000 places take 0.2 s. */
const MAX_BLOCKED_MS = 5;
/** Time for which a search stays valid while the rules are the same. */
const SEARCH_MS = 10_000;
/** Maximum of cached searches. */
const MAX_CACHED_RESULTS = 100;

/**
 * Create a finder; a result is cached for `LOOK_MS`, as long as the rules stay the same.
 *
 * @param systemPaths Absolute paths that every jail reads in addition to the working directories.
 */
export function createMaskFinder(limits: Pick<Limits, 'jailScanNames'>, systemPaths: readonly string[]): MaskFinder {
  const results = new LRUCache<string, Promise<readonly Mount[] | undefined>>({
    max: MAX_CACHED_RESULTS,
    ttl: SEARCH_MS,
  });
  return ({ sessionId, folders, denials }) => {
    const searched = folders.filter((folder) => denials.mayDenyBelow(folder));
    if (searched.length === 0 && denials.places().length === 0) return Promise.resolve([]);
    const key = [sessionId, denials.version, ...searched, '', ...folders].join('\0');
    const known = results.get(key);
    if (known) return known;
    const result = findMasks(searched, { folders, systemPaths }, denials, limits.jailScanNames);
    results.set(key, result);
    return result;
  };
}

/** A folder to search. Rules are matched against the path as they spell it; the mask is for the real path. */
interface SearchedFolder {
  readonly spelled: string;
  readonly real: string;
}

/** State of a search: folders left to visit, and masks found. */
interface Search {
  readonly waiting: SearchedFolder[];
  readonly masks: Mount[];
}

/** @param reads Working directories, and the paths that every jail reads in addition. */
async function findMasks(
  searched: readonly string[],
  reads: { readonly folders: readonly string[]; readonly systemPaths: readonly string[] },
  denials: ReadDenials,
  maxNames: number,
): Promise<readonly Mount[] | undefined> {
  const { folders, systemPaths } = reads;
  // Landlock opens the target of a link, and git settings are often a link. Rules about unreadable paths need no mask.
  const readable = [...new Set([...folders, ...systemPaths, ...systemPaths.flatMap(realPathOf)])];
  const isLong = createPace(MAX_BLOCKED_MS);
  const named: Mount[] = [];
  const working: Search = { waiting: searched.map((folder) => ({ spelled: folder, real: folder })), masks: [] };
  const system: Search[] = [];
  const addSearches = (waiting: readonly SearchedFolder[]) => {
    const searchable = waiting.filter(({ real }) => !isInAnyFolder(KERNEL_FOLDERS, real));
    working.waiting.push(...searchable.filter(({ real }) => isInAnyFolder(folders, real)));
    system.push({ waiting: searchable.filter(({ real }) => !isInAnyFolder(folders, real)), masks: [] });
  };
  for (const spelled of denials.places().filter((place) => !isInAnyFolder(searched, place))) {
    if (isLong()) await setImmediate();
    const found = resolveRealPath(spelled);
    if ('refusal' in found || found.stats === undefined) continue;
    const { real, stats } = found;
    const isDenied = denials.isDenied(spelled);
    if (isInAnyFolder(readable, real)) {
      if (isDenied) named.push({ path: real, access: 'none', isFolder: stats.isDirectory() });
      else addSearches([{ spelled, real }]);
      continue;
    }
    // The place itself is not readable; only what the jail opens inside it needs a mask.
    const inside = readable
      .filter((path) => isInsideFolder(real, path))
      .map((path) => ({ spelled: join(spelled, relative(real, path)), real: path }))
      .filter((path) => !isInAnyFolder(searched, path.spelled));
    const hidden = inside.filter((path) => isDenied || denials.isDenied(path.spelled));
    named.push(...hidden.flatMap((path) => maskOf(path.real)));
    const open = inside.filter((path) => !hidden.includes(path) && denials.mayDenyBelow(path.spelled));
    addSearches(open.flatMap((path) => realPathOf(path.real).map((real) => ({ spelled: path.spelled, real }))));
  }
  if (!(await runSearches([working], denials, maxNames)).includes(working)) return undefined;
  const completed = await runSearches(system, denials, maxNames);
  return [...named, ...working.masks, ...completed.flatMap(({ masks }) => masks)];
}

/**
 * Run searches round-robin, one folder at a time, so that a large place takes no budget from small ones.
 *
 * @returns The searches that completed.
 */
async function runSearches(searches: readonly Search[], denials: ReadDenials, maxNames: number): Promise<Search[]> {
  const ended: Search[] = [];
  const turns = [...searches];
  let remainingNames = maxNames;
  for (let search = turns.shift(); search !== undefined; search = turns.shift()) {
    const folder = search.waiting.pop();
    if (folder === undefined) {
      ended.push(search);
      continue;
    }
    const entries = await entriesOf(folder.real);
    // A folder that exceeds the rest of the budget ends its own search only.
    if (entries.length > remainingNames) continue;
    remainingNames -= entries.length;
    for (const entry of entries) {
      const spelled = join(folder.spelled, entry.name);
      const real = join(folder.real, entry.name);
      const isFolder = entry.isDirectory();
      // A link has no content here; its target is searched under its own name.
      if (entry.isSymbolicLink()) continue;
      if (denials.isDenied(spelled)) search.masks.push({ path: real, access: 'none', isFolder });
      else if (isFolder && denials.mayDenyBelow(spelled)) search.waiting.push({ spelled, real });
    }
    turns.push(search);
  }
  return ended;
}

/** True if a path is one of `folders`, or lies below one. */
export function isInAnyFolder(folders: readonly string[], path: string): boolean {
  return folders.some((folder) => isInsideFolder(folder, path));
}

/** Return the mount that hides an existing path. A link needs none: its target is masked where it lies. */
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
    // It was removed, or is inaccessible to us and so to the command.
    return [];
  }
}
