/**
 * Second step of locating a path: where its links really lead.
 *
 * What exists is resolved whole. Of what does not, the deepest existing ancestor is, and the missing
 * names are appended. A link that leads nowhere is refused: creating "it" would create its target.
 *
 * Synchronous: on a local disk these calls take microseconds, a trip through the thread pool many times that.
 */
import { existsSync, lstatSync, realpathSync, type Stats } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/** Where a path leads, or why nobody can say. */
export type RealPath =
  | { readonly real: string; /** Of the real path; absent when nothing is there. */ readonly stats?: Stats }
  | { readonly refusal: string };

/**
 * Follow every link of a path.
 *
 * @param path Absolute and normalised.
 * @returns The real path and what is there, or the reason why it cannot be known. Never throws.
 */
export function resolveRealPath(path: string): RealPath {
  try {
    const stats = lstatSync(path, { throwIfNoEntry: false });
    if (stats === undefined) return resolveMissing(path);
    const real = realpathSync.native(path);
    return { real, stats: stats.isSymbolicLink() ? lstatSync(real) : stats };
  } catch (error) {
    // The entry is there, what it points to is not.
    if (errorCode(error) === 'ENOENT') return { refusal: `"${path}" is a link to something that does not exist` };
    return { refusal: describe(error) };
  }
}

/** The error code of a failed system call, as Node names it; undefined for any other error. */
export function errorCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

/** @throws The errno error. */
function resolveMissing(path: string): RealPath {
  const missing = [basename(path)];
  let ancestor = dirname(path);
  // Most ancestors are there, and `existsSync` makes no garbage; a link that leads nowhere only `lstat` finds.
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
  // Something created in between is found by whoever opens it, and compared with this answer.
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
