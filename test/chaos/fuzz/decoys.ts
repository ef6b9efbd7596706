/** The folders that scripts are run among, and whether anything in them has been changed. */
import { chmodSync, chownSync, lstatSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A folder to work in, a home folder, and files outside of both. */
export interface Decoys {
  readonly folder: string;
  /** Where scripts begin. */
  readonly work: string;
  readonly home: string;
  readonly outside: string;
  /** Whether anything was changed since the last look; then all is made anew. */
  isChanged(): boolean;
  /** Take what is there now for unchanged. */
  settle(): void;
}

const FOLDERS = ['work/d', 'work/.git', 'home', 'outside'];
const FILES = ['work/f', 'work/g', 'work/d/h', 'work/.env', 'home/.profile', 'outside/decoy'];

/**
 * Make them.
 *
 * @param folder Need not exist.
 * @param content Of the files outside.
 * @param owner Owns them all, so that no permission keeps that user from changing them.
 */
export function makeDecoys(
  folder: string,
  { content = 'a 1\nb 2\n', owner }: { content?: string; owner?: number } = {},
): Decoys {
  const make = (): string => {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    for (const path of FOLDERS) mkdirSync(join(folder, path), { recursive: true });
    for (const path of FILES) writeFileSync(join(folder, path), path.startsWith('work/') ? 'a 1\nb 2\n' : content);
    for (const path of ['', 'work', ...FOLDERS, ...FILES]) {
      chmodSync(join(folder, path), FILES.includes(path) ? 0o666 : 0o777);
      if (owner !== undefined) chownSync(join(folder, path), owner, owner);
    }
    return fingerprint(folder);
  };
  let before = make();
  return {
    folder,
    work: join(folder, 'work'),
    home: join(folder, 'home'),
    outside: join(folder, 'outside'),
    isChanged() {
      if (fingerprint(folder) === before) return false;
      before = make();
      return true;
    },
    settle: () => void (before = fingerprint(folder)),
  };
}

/** What is there, and when any of it was last changed in any way. */
function fingerprint(path: string): string {
  try {
    const stats = lstatSync(path, { bigint: true });
    const own = `${path} ${stats.ino} ${stats.mode} ${stats.uid} ${stats.size} ${stats.mtimeNs} ${stats.ctimeNs}\n`;
    if (!stats.isDirectory()) return own;
    const names = readdirSync(path).sort();
    return own + names.map((name) => fingerprint(join(path, name))).join('');
  } catch (error) {
    // What was left running changes it at this moment, which is a change like any other.
    return `${path} ${String(error)}\n`;
  }
}
