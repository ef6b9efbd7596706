/**
 * Which paths may have led elsewhere for a while: asked after a program has opened them by name.
 *
 * Making, removing or renaming a name changes the ctime of its folder, and nobody can set a ctime back. So a name is
 * settled if no link stands there and the folder that holds it was last changed before the program began. Local file
 * systems date a folder that is renamed as well, so that there its own date does for its own name.
 */
import { lstatSync, statfsSync } from 'node:fs';
import { dirname } from 'node:path';

/** File systems that keep those times by this machine's own clock; a file server's may be late. */
const OWN_CLOCK: ReadonlySet<number> = new Set([
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
 * @param serverLagMs How much further behind a file server's clock may be.
 * @returns Those of `files`, in their order. Costs one `lstat` for each folder on the way, none for a file.
 */
export function unsettledPaths(files: readonly string[], sinceMs: number, serverLagMs: number): readonly string[] {
  const changedMs = new Map<string, number>();
  const lags = new Map<number, number>();
  const ownClock = new Set<string>();
  const lagOf = (device: number, path: string) => {
    const lagMs = lags.get(device) ?? (OWN_CLOCK.has(statfsSync(path).type) ? 0 : serverLagMs);
    lags.set(device, lagMs);
    if (lagMs === 0) ownClock.add(path);
    return lagMs;
  };
  // What lies deeper has the longer name. A folder is looked at before those it is looked at through, so that each
  // of these vouches for the look as well.
  const deepestFirst = [...foldersOnTheWay(files)].sort((one, other) => other.length - one.length);
  for (const folder of deepestFirst) changedMs.set(folder, lastChange(folder, lagOf));

  const settled = new Set<string>();
  const isOld = (folder: string) => (changedMs.get(folder) ?? NaN) < sinceMs;
  const isOldItself = (folder: string) => isOld(folder) && ownClock.has(folder);
  for (const folder of deepestFirst.reverse()) {
    const above = dirname(folder);
    const isFolder = !Number.isNaN(changedMs.get(folder));
    if (isFolder && (above === folder || (settled.has(above) && (isOldItself(folder) || isOld(above)))))
      settled.add(folder);
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

/** When a folder was last changed, at the latest; NaN where it is none. */
function lastChange(path: string, lagOf: (device: number, path: string) => number): number {
  try {
    const stats = lstatSync(path);
    return stats.isDirectory() ? stats.ctimeMs + lagOf(stats.dev, path) : NaN;
  } catch {
    // It is gone, or may not be looked at: what it was, nobody can say.
    return NaN;
  }
}
