/** What the file and search tools need, for tests that run them by themselves. */
import { DEFAULT_LIMITS, type Limits } from '../../config/limits.ts';
import { createLocatePath } from '../../src/files/scope.ts';
import { createWriterRegistry } from '../../src/files/writers.ts';

/** Services with the default limits but for `changes`. */
export function fileServices(changes: Partial<Limits> = {}) {
  return {
    locate: createLocatePath({ protectedPaths: [] }),
    limits: { ...DEFAULT_LIMITS, ...changes },
    writers: createWriterRegistry(100),
  };
}
