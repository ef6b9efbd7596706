/**
 * The folders a session works in, as they are on disk at this moment.
 */
import { isInsideFolder } from '../../config/containment.ts';
import type { SessionContext } from '../tool/session-context.ts';
import { resolveRealPath } from './real-path.ts';

/** The real path of a folder; undefined where there is none. */
export function realFolder(path: string): string | undefined {
  const found = resolveRealPath(path);
  return 'real' in found && found.stats?.isDirectory() === true ? found.real : undefined;
}

/** Whether a real path lies in the session's root or in one of its additional directories. */
export function isInWorkingDirectories(
  { root, permissions }: Pick<SessionContext, 'root' | 'permissions'>,
  real: string,
): boolean {
  return [root, ...permissions.additionalDirectories].some((directory) => {
    const folder = realFolder(directory);
    return folder !== undefined && isInsideFolder(folder, real);
  });
}
