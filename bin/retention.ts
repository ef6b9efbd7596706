/**
 * Sets up retention for a server's log and folders.
 */
import { lstat, opendir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Settings } from '../config/settings.ts';
import { errorCode } from '../src/files/real-path.ts';
import type { DataDirectory } from '../src/log/data-directory.ts';
import type { FrameLog } from '../src/log/frame-log.ts';
import { Retention } from '../src/session/directory/retention.ts';
import type { SessionDirectory } from '../src/session/directory/session-directory.ts';

/** Parts of the server that retention works on. */
export interface RetainedParts {
  readonly log: FrameLog;
  readonly directory: SessionDirectory;
  readonly data: Pick<DataDirectory, 'folderRoots'>;
  removeFolder(sessionId: string): Promise<void>;
  onFault(error: unknown, what: string): void;
}

/** Create retention; it starts periodic runs. */
export function createRetention({ limits }: Settings, { directory, data, ...parts }: RetainedParts): Retention {
  return new Retention({
    ...parts,
    limits,
    saveAll: () => directory.saveAll(),
    settle: (principal, sessionId) => directory.settle(principal, sessionId),
    retire: (sessionId) => directory.retire(sessionId),
    folderSizes: async () => {
      const sizes = new Map<string, number>();
      for (const root of data.folderRoots) {
        for (const [id, bytes] of await folderSizes(root)) sizes.set(id, bytes + (sizes.get(id) ?? 0));
      }
      return sizes;
    },
  });
}

/** Sum the files in each folder of `root`, in bytes by name; empty if there is no `root`. Links are not followed. */
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
