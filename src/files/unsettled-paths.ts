/**
 * Which paths may have led elsewhere for a while: asked after a program has opened them by name.
 *
 * Making, removing or renaming a name changes the ctime of its folder, and renaming a folder its own; nobody can set
 * a ctime back. So a folder's name is settled if no link stands there and the folder itself, or the one that holds it,
 * was last changed before the program began; a file's, if its folder was.
 */
import { lstatSync, statfsSync } from 'node:fs';
import { dirname } from 'node:path';

/** File systems that keep those times, and by this machine's own clock: a file server's may be late. */
const TRUSTED_FILE_SYSTEMS: ReadonlySet<number> = new Set([
  0xef53, // ext2, ext3, ext4
  0x58465342, // xfs
  0x9123683e, // btrfs
  0x2fc12fc1, // zfs
  0xf2f52010, // f2fs
  0x01021994, // tmpfs
  0x794c7630, // overlay
]);

/**
 * Find the files whose names may have led elsewhere.
 *
 * @param files Absolute and normalised. That none is a link itself is for whoever opened it.
 * @param sinceMs Since the epoch: before the first of them was opened, less what a kernel's clock may be behind.
 * @returns Those of `files`, in their order. Costs one `lstat` for each folder on the way, none for a file.
 */
export function unsettledPaths(files: readonly string[], sinceMs: number): readonly string[] {
  const changedMs = new Map<string, number>();
  const isTrusted = new Map<number, boolean>();
  // What lies deeper has the longer name. A folder is looked at before those it is looked at through, so that each
  // of these vouches for the look as well.
  const deepestFirst = [...foldersOnTheWay(files)].sort((one, other) => other.length - one.length);
  for (const folder of deepestFirst) changedMs.set(folder, lastChange(folder, isTrusted));

  const settled = new Set<string>();
  const isOld = (folder: string) => (changedMs.get(folder) ?? NaN) < sinceMs;
  for (const folder of deepestFirst.reverse()) {
    const above = dirname(folder);
    const isFolder = !Number.isNaN(changedMs.get(folder));
    if (isFolder && (above === folder || (settled.has(above) && (isOld(folder) || isOld(above))))) settled.add(folder);
  }
  return files.filter((file) => !(settled.has(dirname(file)) && isOld(dirname(file))));
}

function foldersOnTheWay(files: readonly string[]): ReadonlySet<string> {
  const folders = new Set<string>();
  for (const file of files) {
    for (let folder = dirname(file); !folders.has(folder); folder = dirname(folder)) folders.add(folder);
  }
  return folders;
}

/** When a folder was last changed; Infinity where nobody can say, NaN where it is none. */
function lastChange(path: string, isTrusted: Map<number, boolean>): number {
  try {
    const stats = lstatSync(path);
    if (!stats.isDirectory()) return NaN;
    if (!isTrusted.has(stats.dev)) isTrusted.set(stats.dev, TRUSTED_FILE_SYSTEMS.has(statfsSync(path).type));
    return isTrusted.get(stats.dev) === true ? stats.ctimeMs : Infinity;
  } catch {
    // It is gone, or may not be looked at: what it was, nobody can say.
    return NaN;
  }
}
