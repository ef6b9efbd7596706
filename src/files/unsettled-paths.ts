/**
 * Finds paths that may have led elsewhere while a program opened files by name.
 *
 * Creating, removing or renaming a name changes the ctime of its folder, and a ctime cannot be set back. So a name is
 * settled if it is not a link and its folder was last changed before the program began. Local file systems also change
 * the ctime of a renamed folder, so that for such a folder its own ctime suffices.
 */
import { lstatSync, statfsSync } from 'node:fs';
import { dirname } from 'node:path';

/** File systems that set those times by this machine's clock; a file server's clock may be behind. */
const LOCAL_CLOCK_FILE_SYSTEMS: ReadonlySet<number> = new Set([
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
 * @param files Absolute and normalised. The caller checks that none is a link itself.
 * @param sinceMs Milliseconds since the epoch: before the first file was opened, minus the kernel clock's lag.
 * @param serverLagMs Additional lag of a file server's clock.
 * @returns Those of `files`, in order. Costs one `lstat` for each folder on the way, none for a file.
 */
export function unsettledPaths(files: readonly string[], sinceMs: number, serverLagMs: number): readonly string[] {
  const changedMs = new Map<string, number>();
  const lags = new Map<number, number>();
  const ownClock = new Set<string>();
  const lagOf = (device: number, path: string) => {
    const lagMs = lags.get(device) ?? (LOCAL_CLOCK_FILE_SYSTEMS.has(statfsSync(path).type) ? 0 : serverLagMs);
    lags.set(device, lagMs);
    if (lagMs === 0) ownClock.add(path);
    return lagMs;
  };
  // A deeper path is longer. A folder is examined before its ancestors, so that each ancestor's check also covers the
  // access through it.
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

/** Return the latest possible time of a folder's last change; NaN if it is not a folder. */
function lastChange(path: string, lagOf: (device: number, path: string) => number): number {
  try {
    const stats = lstatSync(path);
    return stats.isDirectory() ? stats.ctimeMs + lagOf(stats.dev, path) : NaN;
  } catch {
    // It is missing or unreadable, so its history is unknown.
    return NaN;
  }
}
