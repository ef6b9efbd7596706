/**
 * Is this path inside that folder? Compared by components, never by the text's beginning.
 *
 * Exact on purpose: being inside is a grant, so two spellings of a name are two names here. What
 * protects (`src/files/sensitive-targets.ts`) folds case and form instead.
 */
import { isAbsolute, relative, sep } from 'node:path';

/** A step that leads nowhere new, or back: what holds one is not compared as text. A root alone is one as well. */
const HAS_IDLE_STEP = /\/\.{0,2}(?:\/|$)/;

/**
 * Tells whether `path` is `folder` or lies below it.
 *
 * @param folder Absolute path; give real paths on both sides, links are not followed here.
 * @param path Absolute path.
 */
export function isInsideFolder(folder: string, path: string): boolean {
  if (isPlain(folder) && isPlain(path))
    return path.startsWith(folder) && (path.length === folder.length || path[folder.length] === sep);
  const rest = relative(folder, path);
  return rest === '' || (rest !== '..' && !rest.startsWith(`..${sep}`) && !isAbsolute(rest));
}

/** Nearly every path is; it is asked some dozen times a call, and `relative` makes a dozen strings each time. */
function isPlain(path: string): boolean {
  return sep === '/' && path.startsWith(sep) && !HAS_IDLE_STEP.test(path);
}
