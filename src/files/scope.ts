/**
 * The one path algorithm: every path a tool names passes here before it is judged, and nothing is
 * opened that did not.
 *
 * Spelling, then real path, then places that are never or not unasked for, then containment.
 */
import { existsSync, type Stats } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { isInsideFolder } from '../../config/containment.ts';
import type { Limits } from '../../config/limits.ts';
import { hasHiddenCharacters, showText } from '../base/hidden-characters.ts';
import type { LocatedPath, LocatePath, PathUse } from '../tool/located-path.ts';
import type { ToolPermissionContext } from '../wire/permission-context.ts';
import { errorCode, resolveRealPath } from './real-path.ts';
import { foldName, sensitiveTarget } from './sensitive-targets.ts';
import { absolutePath, refuseSpelling } from './spelling.ts';

/** Kernel interfaces that look like files: endless, secret, or the server's own descriptors. */
const KERNEL_FOLDERS = ['/proc', '/sys', '/dev'];

/** Characters of a path that a message repeats. */
const SHOWN_CHARS = 300;

/** What a locator needs to know of the server. */
export interface LocatePathOptions {
  /** Files and folders whose change asks in every mode, whether they exist or not: the server's settings. */
  readonly protectedPaths: readonly string[];
  /**
   * Folders and files nobody may use, not even as a working directory, but to read in their own session's folder:
   * the data directory with its token, log and other sessions' results.
   */
  readonly privateFolders?: readonly string[];
  /** Real paths that no call may change, whoever allowed it: the files the server runs from. */
  readonly readOnlyPaths?: readonly string[];
  readonly limits: Pick<Limits, 'lookedAtEntries' | 'rememberedFolders'>;
  /** What `~` means; the server's own by default. */
  readonly home?: string;
}

type Where = Parameters<LocatePath>[1];

/**
 * Make the locator of this server.
 *
 * The answer holds for the moment it was given: whoever opens the path compares the descriptor with
 * `real` again (`open-checked.ts`, `atomic-write.ts`).
 */
export function createLocatePath(options: LocatePathOptions): LocatePath {
  const home = options.home ?? homedir();
  const realFolder = rememberRealFolders(options.limits.rememberedFolders);
  const realDirectories = rememberDirectories();

  function locate(use: PathUse, where: Where): LocatedPath {
    const misspelled = refuseSpelling(use.path);
    if (misspelled !== undefined) return refused(use, resolve(where.session.cwd, use.path), misspelled);
    const spelled = absolutePath(use.path, where.session.cwd, home);
    // Before links are followed: "/proc/self/root/etc/passwd" really is "/etc/passwd".
    const kernel = refuseKernel(spelled);
    if (kernel !== undefined) return refused(use, spelled, kernel);
    if (climbsOutOfNothing(use.path, where.session.cwd, home))
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
      if (takesBelow(use) && isInsideFolder(real, realFolder(folder))) return "it contains the server's own data";
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
      // Resolved each time: the settings file may come into being, or become a link, while the server runs.
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
    return { ...located, folderNames: await folderNamesBelow(located.real, options.limits.lookedAtEntries) };
  };
}

/** The whole message: a path that hides something, or never ends, is not handed on as it is. */
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

/** What runs as the server must not come from a call: not even from one that a rule or a person allowed. */
function refuseReadOnly(use: PathUse, real: string, readOnlyPaths: readonly string[]): string | undefined {
  const fix = 'which no call may change; work in another folder (GAUNTLET_WORKSPACE)';
  if (readOnlyPaths.some((path) => isInsideFolder(path, real)))
    return `it is part of the installation this server runs from, ${fix}`;
  if (takesBelow(use) && readOnlyPaths.some((path) => isInsideFolder(real, path)))
    return `it contains the installation this server runs from, ${fix}`;
  return undefined;
}

/**
 * Whether a use reaches all that lies below its path: `rm -r`, `mv`, `grep -r`. A path that nobody knows does not: it
 * lies outside, so somebody is asked, and a refusal would leave `grep -R` and `diff -r` no way at all.
 */
function takesBelow({ isTree, isWhole, isUnknown }: PathUse): boolean {
  return isUnknown !== true && (isTree === true || isWhole === true);
}

/** A hard link to somebody else's file reads what a path outside would: it does not count as inside. */
function isForeignLink(use: PathUse, stats: Stats | undefined): boolean {
  if (use.access === 'write' || stats?.isFile() !== true || stats.nlink === 1) return false;
  return process.getuid !== undefined && stats.uid !== process.getuid();
}

/** Whether a `..` follows a folder that is not there: normalising would hide that nothing could be opened. */
function climbsOutOfNothing(path: string, cwd: string, home: string): boolean {
  if (!path.includes('..')) return false;
  const names = path.split('/');
  return names.some((name, index) => {
    if (name !== '..' || index === 0) return false;
    const before = names.slice(0, index).join('/');
    return before !== '' && !existsSync(absolutePath(before, cwd, home));
  });
}

/** Real paths of the permission context's directories; once a context, which is frozen, unless one is missing. */
function rememberDirectories(): (permissions: ToolPermissionContext) => readonly string[] {
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

/** Real paths of the server's own folders, which do not move while it runs. */
function rememberRealFolders(mostFolders: number): (folder: string) => string {
  const known = new Map<string, string>();
  return (folder) => {
    const remembered = known.get(folder);
    if (remembered !== undefined) return remembered;
    const found = resolveRealPath(folder);
    const real = 'real' in found ? found.real : folder;
    if (known.size >= mostFolders) known.clear();
    known.set(folder, real);
    return real;
  };
}

/**
 * Names of all folders below one, links not followed.
 *
 * @param mostEntries Files and folders looked at.
 * @returns undefined where there are more.
 */
async function folderNamesBelow(root: string, mostEntries: number): Promise<ReadonlySet<string> | undefined> {
  const names = new Set<string>();
  const waiting = [root];
  let seen = 0;
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    const entries = await entriesOf(folder);
    seen += entries.length;
    if (seen > mostEntries) return undefined;
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
    // Gone meanwhile, a file, or not ours to look into: a search finds nothing there either.
    if (['ENOENT', 'ENOTDIR', 'EACCES', 'EPERM'].includes(errorCode(error) ?? '')) return [];
    throw error;
  }
}
