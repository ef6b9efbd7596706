/**
 * Second step of locating a path: resolves its links.
 *
 * An existing path is resolved completely. For a missing one, the deepest existing ancestor is resolved, and the
 * missing names are appended. A dangling link is refused, since creating the file would create the link's target.
 *
 * Synchronous: on a local disk these calls take microseconds, a round trip through the thread pool many times that.
 */
import { existsSync, lstatSync, realpathSync, type Stats } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/** Real path, or the reason why it is unknown. */
export type RealPath =
  | { readonly real: string; /** Stats of the real path; absent if nothing exists there. */ readonly stats?: Stats }
  | { readonly refusal: string };

/**
 * Follow every link of a path.
 *
 * @param path Absolute and normalised.
 * @returns The real path and its stats, or the reason why it is unknown. Never throws.
 */
export function resolveRealPath(path: string): RealPath {
  try {
    const stats = lstatSync(path, { throwIfNoEntry: false });
    if (stats === undefined) return resolveMissing(path);
    const real = realpathSync.native(path);
    return { real, stats: stats.isSymbolicLink() ? lstatSync(real) : stats };
  } catch (error) {
    // The link exists, but not its target.
    if (errorCode(error) === 'ENOENT') return { refusal: `"${path}" is a link to something that does not exist` };
    return { refusal: describe(error) };
  }
}

/** Return the error code of a failed system call, such as `ENOENT`; undefined for any other error. */
export function errorCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

/** @throws The errno error. */
function resolveMissing(path: string): RealPath {
  const missing = [basename(path)];
  let ancestor = dirname(path);
  // Most ancestors exist, and `existsSync` is cheap; only `lstat` finds a dangling link.
  while (!existsSync(ancestor) && lstatSync(ancestor, { throwIfNoEntry: false }) === undefined) {
    missing.unshift(basename(ancestor));
    ancestor = dirname(ancestor);
  }
  let real: string;
  try {
    real = realpathSync.native(ancestor);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return { refusal: `"${ancestor}" is a link to something that does not exist` };
    throw error;
  }
  // If the path is created in between, the code that opens it compares it with this result.
  return { real: join(real, ...missing) };
}

function describe(error: unknown): string {
  switch (errorCode(error)) {
    case 'ELOOP':
      return 'its links form a loop (ELOOP)';
    case 'ENOTDIR':
      return 'a name before its last one is a file, not a folder (ENOTDIR)';
    case 'EACCES':
    case 'EPERM':
      return 'a folder on the way to it may not be entered (EACCES)';
    case 'ENAMETOOLONG':
      return 'the path is too long (ENAMETOOLONG)';
    default:
      return `it cannot be looked at (${errorCode(error) ?? 'unknown error'})`;
  }
}
