/**
 * What folders are called below a folder: where a rule that names one may be met on the way.
 */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode } from './real-path.ts';

/**
 * Names of all folders below one, links not followed.
 *
 * @param mostEntries Files and folders looked at.
 * @returns undefined where there are more.
 */
export async function folderNamesBelow(root: string, mostEntries: number): Promise<ReadonlySet<string> | undefined> {
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
