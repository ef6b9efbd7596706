/** What the file and search tools need, for tests that run them by themselves. */
import { join } from 'node:path';
import { DEFAULT_LIMITS, type Limits } from '../../config/limits.ts';
import { createFileHistory } from '../../src/files/history.ts';
import { createLocatePath } from '../../src/files/scope.ts';
import { temporaryFolder } from './temporary-folder.ts';

const histories = temporaryFolder();

/** Services with the default limits but for `changes`. */
export function fileServices(changes: Partial<Limits> = {}) {
  const limits: Limits = { ...DEFAULT_LIMITS, ...changes };
  return {
    locate: createLocatePath({ protectedPaths: [] }),
    limits,
    history: createFileHistory({ folder: (sessionId) => join(histories, sessionId), limits }),
  };
}
