/**
 * Retention over a server's own log and folders.
 */
import type { Settings } from '../config/settings.ts';
import { folderSizes } from '../src/files/folder-sizes.ts';
import type { DataDirectory } from '../src/log/data-directory.ts';
import type { FrameLog } from '../src/log/frame-log.ts';
import { Retention } from '../src/session/directory/retention.ts';
import type { SessionDirectory } from '../src/session/directory/session-directory.ts';

/** The parts of the server that it looks after. */
export interface RetainedParts {
  readonly log: FrameLog;
  readonly directory: SessionDirectory;
  readonly data: Pick<DataDirectory, 'folderRoots'>;
  removeFolder(sessionId: string): Promise<void>;
  onFault(error: unknown, what: string): void;
}

/** Begin to look, now and then. */
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
