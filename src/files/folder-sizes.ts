/**
 * How much the folders below a folder hold, looked at file by file so that nothing else waits for it.
 */
import { lstat, opendir } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode } from './real-path.ts';

/** Bytes of the files in each folder of `root`, by its name; empty where there is no `root`. Links are not followed. */
export async function folderSizes(root: string): Promise<ReadonlyMap<string, number>> {
  const sizes = new Map<string, number>();
  for await (const entry of entriesOf(root)) {
    if (entry.isDirectory()) sizes.set(entry.name, await bytesBelow(join(root, entry.name)));
  }
  return sizes;
}

async function bytesBelow(folder: string): Promise<number> {
  let bytes = 0;
  for await (const entry of entriesOf(folder)) {
    const path = join(folder, entry.name);
    bytes += entry.isDirectory() ? await bytesBelow(path) : await bytesOf(path);
  }
  return bytes;
}

async function* entriesOf(folder: string) {
  try {
    yield* await opendir(folder);
  } catch (error) {
    // Removed meanwhile, with its session.
    if (errorCode(error) !== 'ENOENT') throw error;
  }
}

async function bytesOf(path: string): Promise<number> {
  try {
    return (await lstat(path)).size;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return 0;
    throw error;
  }
}
