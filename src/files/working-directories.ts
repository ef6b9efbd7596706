/** Resolves the folders that a session works in, in their current state on the disk. */
import { isInsideFolder } from '../../config/containment.ts';
import type { SessionContext } from '../tool/session-context.ts';
import { resolveRealPath } from './real-path.ts';

/** Return the real path of a folder; undefined if it does not exist. */
export function realFolder(path: string): string | undefined {
  const found = resolveRealPath(path);
  return 'real' in found && found.stats?.isDirectory() === true ? found.real : undefined;
}

/** Report whether a real path is inside the session's root or one of its additional directories. */
export function isInWorkingDirectories(
  { root, permissions }: Pick<SessionContext, 'root' | 'permissions'>,
  real: string,
): boolean {
  return [root, ...permissions.additionalDirectories].some((directory) => {
    const folder = realFolder(directory);
    return folder !== undefined && isInsideFolder(folder, real);
  });
}
