/**
 * Locates paths: every path that a tool names passes here before it is judged, and no other path is opened.
 *
 * Steps: spelling, real path, forbidden and sensitive places, containment in the working directories.
 */
import { existsSync, type Stats } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { isInsideFolder } from '../../config/containment.ts';
import { hasHiddenCharacters, showText } from '../base/hidden-characters.ts';
import type { LocatedPath, LocatePath, PathUse } from '../tool/located-path.ts';
import type { ToolPermissionContext } from '../wire/permission-context.ts';
import { errorCode, resolveRealPath } from './real-path.ts';
import { foldName, sensitiveTarget } from './sensitive-targets.ts';
import { absolutePath, refuseSpelling } from './spelling.ts';

/** Kernel interfaces that look like files: endless, secret, or descriptors of the server. */
const KERNEL_FOLDERS = ['/proc', '/sys', '/dev'];

/** Files and folders looked at to tell whether a search comes by what a rule names: the call waits for it. */
const MAX_ENTRIES = 20_000;

/** Session folders whose real paths are remembered. */
const MAX_REMEMBERED_FOLDERS = 1_000;

/** Characters of a path that a message quotes. */
const SHOWN_CHARS = 300;

/** Configuration of a locator. */
export interface LocatePathOptions {
  /** Files and folders whose change is asked about in every mode, whether they exist or not: the server's settings. */
  readonly protectedPaths: readonly string[];
  /**
   * Files and folders that may not be used, not even as a working directory, except for reading in the session's own
   * folder: the data directory with its token, log and other sessions' results.
   */
  readonly privateFolders?: readonly string[];
  /** Real paths that no call may change, even if allowed: the files the server runs from. */
  readonly readOnlyPaths?: readonly string[];
  /** Files and folders looked at to tell whether a search comes by what a rule names; with more of them it may. */
  readonly maxEntries?: number;
  /** Expansion of `~`; the server's home folder by default. */
  readonly home?: string;
}

type Where = Parameters<LocatePath>[1];

/**
 * Create the locator of this server.
 *
 * A location is valid for the moment of the call: code that opens the path compares the descriptor with `real` again
 * (`open-checked.ts`, `atomic-write.ts`).
 */
export function createLocatePath(options: LocatePathOptions): LocatePath {
  const home = options.home ?? homedir();
  const realFolder = cachedRealFolders();
  const realDirectories = cachedDirectories();

  function locate(use: PathUse, where: Where): LocatedPath {
    const misspelled = refuseSpelling(use.path);
    if (misspelled !== undefined) return refused(use, resolve(where.session.cwd, use.path), misspelled);
    const spelled = absolutePath(use.path, where.session.cwd, home);
    // Before links are followed, since "/proc/self/root/etc/passwd" resolves to "/etc/passwd".
    const kernel = refuseKernel(spelled);
    if (kernel !== undefined) return refused(use, spelled, kernel);
    if (climbsFromMissingFolder(use.path, where.session.cwd, home))
      return refused(use, spelled, 'it climbs with ".." out of a folder that does not exist');

    const found = resolveRealPath(spelled);
    if ('refusal' in found) return refused(use, spelled, found.refusal);
    const { real, stats } = found;
    const sessionFolder = realFolder(where.sessionFolder);
    const isSessionFile = isInsideFolder(sessionFolder, real);
    const isOwnResult = isSessionFile && use.access === 'read';
    const refusal =
      refusePlace(real, stats) ??
      (isOwnResult ? undefined : refusePrivate(use, real)) ??
      (use.access === 'write' ? refuseReadOnly(use, real, options.readOnlyPaths ?? []) : undefined);
    if (refusal !== undefined) return refused(use, spelled, refusal);

    const directories = [where.session.root, ...realDirectories(where.session.permissions)];
    const isInside = directories.some((folder) => isInsideFolder(folder, real)) && !isForeignLink(use, stats);
    const safety = use.access === 'write' ? writeSafety(spelled, real, stats) : undefined;
    return { spelled, real, isInside, isSessionFile, ...(safety === undefined ? {} : { safety }) };
  }

  function refusePrivate(use: PathUse, real: string): string | undefined {
    for (const folder of options.privateFolders ?? []) {
      if (isInsideFolder(realFolder(folder), real)) return "it is the server's own data";
      if (includesTree(use) && isInsideFolder(real, realFolder(folder))) return "it contains the server's own data";
    }
    return undefined;
  }

  function writeSafety(spelled: string, real: string, stats: Stats | undefined): string | undefined {
    if (stats?.isFile() === true && stats.nlink > 1)
      return 'it is a hard link: the same file has another name elsewhere';
    if (stats !== undefined && !stats.isFile() && !stats.isDirectory()) return 'it is not a regular file';
    if (isProtected(spelled) || isProtected(real)) return "it belongs to the server's own settings";
    return sensitiveTarget(real) ?? (spelled === real ? undefined : sensitiveTarget(spelled));
  }

  function isProtected(path: string): boolean {
    const folded = foldName(path);
    return options.protectedPaths.some((protectedPath) => {
      // Resolved each time: the settings file may be created, or become a link, while the server runs.
      const found = resolveRealPath(protectedPath);
      return (
        isInsideFolder(foldName(protectedPath), folded) ||
        ('real' in found && isInsideFolder(foldName(found.real), folded))
      );
    });
  }

  return async (use, where) => {
    const located = locate(use, where);
    if (!use.names || !located.isInside) return located;
    return { ...located, folderNames: await folderNamesBelow(located.real, options.maxEntries ?? MAX_ENTRIES) };
  };
}

/** Create a refused location. The path is cleaned and shortened for the message. */
function refused({ path }: PathUse, spelled: string, why: string): LocatedPath {
  const shown = showText(path.length > SHOWN_CHARS ? `${path.slice(0, SHOWN_CHARS)}…` : path);
  const refusal = `Cannot use "${shown}": ${why}`;
  return { spelled, real: spelled, isInside: false, isSessionFile: false, refusal };
}

function refuseKernel(path: string): string | undefined {
  const kernel = KERNEL_FOLDERS.find((folder) => isInsideFolder(folder, path));
  return kernel === undefined ? undefined : `"${kernel}" is an interface of the kernel, not a place for files`;
}

function refusePlace(real: string, stats: Stats | undefined): string | undefined {
  if (stats?.isCharacterDevice() === true || stats?.isBlockDevice() === true) return 'it is a device, not a file';
  if (hasHiddenCharacters(real)) return 'it leads to a name with control or invisible characters';
  return refuseKernel(real);
}

/** Refuse writes to the server's installation, even if a rule or a person allowed them. */
function refuseReadOnly(use: PathUse, real: string, readOnlyPaths: readonly string[]): string | undefined {
  const fix = 'which no call may change; work in another folder (GAUNTLET_WORKSPACE)';
  if (readOnlyPaths.some((path) => isInsideFolder(path, real)))
    return `it is part of the installation this server runs from, ${fix}`;
  if (includesTree(use) && readOnlyPaths.some((path) => isInsideFolder(real, path)))
    return `it contains the installation this server runs from, ${fix}`;
  return undefined;
}

/**
 * Report whether a use includes everything below its path: `rm -r`, `mv`, `grep -r`. An unknown path does not count: it
 * is outside, so the call is asked about, and refusing it would make `grep -R` and `diff -r` impossible.
 */
function includesTree({ isTree, isWhole, isUnknown }: PathUse): boolean {
  return isUnknown !== true && (isTree === true || isWhole === true);
}

/** Report a hard link to another user's file: it reads what an outside path would, so it does not count as inside. */
function isForeignLink(use: PathUse, stats: Stats | undefined): boolean {
  if (use.access === 'write' || stats?.isFile() !== true || stats.nlink === 1) return false;
  return process.getuid !== undefined && stats.uid !== process.getuid();
}

/** Report whether a `..` follows a missing folder: normalising would hide that the path cannot be opened. */
function climbsFromMissingFolder(path: string, cwd: string, home: string): boolean {
  if (!path.includes('..')) return false;
  const names = path.split('/');
  return names.some((name, index) => {
    if (name !== '..' || index === 0) return false;
    const before = names.slice(0, index).join('/');
    return before !== '' && !existsSync(absolutePath(before, cwd, home));
  });
}

/** Resolve the directories of a permission context; cached per context, which is frozen, unless one is missing. */
function cachedDirectories(): (permissions: ToolPermissionContext) => readonly string[] {
  const known = new WeakMap<ToolPermissionContext, readonly string[]>();
  return (permissions) => {
    const remembered = known.get(permissions);
    if (remembered !== undefined) return remembered;
    const found = permissions.additionalDirectories.map(resolveRealPath);
    const real = found.flatMap((each) => ('real' in each ? [each.real] : []));
    if (found.every((each) => 'real' in each && each.stats !== undefined)) known.set(permissions, real);
    return real;
  };
}

/** Resolve the server's own folders, which do not move while it runs; cached. */
function cachedRealFolders(): (folder: string) => string {
  const known = new Map<string, string>();
  return (folder) => {
    const remembered = known.get(folder);
    if (remembered !== undefined) return remembered;
    const found = resolveRealPath(folder);
    const real = 'real' in found ? found.real : folder;
    if (known.size >= MAX_REMEMBERED_FOLDERS) known.clear();
    known.set(folder, real);
    return real;
  };
}

/**
 * List the names of all folders below one, without following links.
 *
 * @param maxEntries Upper bound of the files and folders visited.
 * @returns undefined if there are more.
 */
async function folderNamesBelow(root: string, maxEntries: number): Promise<ReadonlySet<string> | undefined> {
  const names = new Set<string>();
  const waiting = [root];
  let seen = 0;
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    const entries = await entriesOf(folder);
    seen += entries.length;
    if (seen > maxEntries) return undefined;
    for (const entry of entries) {
      if (!entry.isDirectory()) continue;
      names.add(entry.name);
      waiting.push(join(folder, entry.name));
    }
  }
  return names;
}

async function entriesOf(folder: string) {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch (error) {
    // Removed meanwhile, a file, or unreadable: a search finds nothing there either.
    if (['ENOENT', 'ENOTDIR', 'EACCES', 'EPERM'].includes(errorCode(error) ?? '')) return [];
    throw error;
  }
}
