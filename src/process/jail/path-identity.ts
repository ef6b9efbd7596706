/**
 * Tells which file stands under a path: a jail that was made for another one does not hold for it.
 */
import { lstatSync } from 'node:fs';

/** Its date changes when a file of the system's settings is replaced, which a ruleset would not notice. */
export const SETTINGS_FOLDER = '/etc';

/** The path with its device and file number; for the folder of settings also when an entry of it was last replaced. */
export function identityOf(path: string): string {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return path;
  return `${path} ${stats.dev}:${stats.ino}${path === SETTINGS_FOLDER ? `:${stats.mtimeMs}` : ''}`;
}
