/**
 * Is this path inside that folder? Compared by components, never by the text's beginning.
 *
 * Exact on purpose: being inside is a grant, so two spellings of a name are two names here. What
 * protects (`src/files/sensitive-targets.ts`) folds case and form instead.
 */
import { isAbsolute, relative, sep } from 'node:path';

/**
 * Whether `path` is `folder` or lies below it.
 *
 * @param folder Absolute path; give real paths on both sides, links are not followed here.
 * @param path Absolute path.
 */
export function isInsideFolder(folder: string, path: string): boolean {
  const rest = relative(folder, path);
  return rest === '' || (rest !== '..' && !rest.startsWith(`..${sep}`) && !isAbsolute(rest));
}
