/**
 * Identifies the file at a path: a jail opened for another file under the same path is not reused.
 */
import { lstatSync } from 'node:fs';

/** Its modification time changes when a file in it is replaced, which a ruleset would not notice. */
export const SETTINGS_FOLDER = '/etc';

/** The path with its device and inode; for the settings folder also the modification time. */
export function identityOf(path: string): string {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return path;
  return `${path} ${stats.dev}:${stats.ino}${path === SETTINGS_FOLDER ? `:${stats.mtimeMs}` : ''}`;
}
