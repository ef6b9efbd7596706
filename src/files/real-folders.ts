/**
 * Folders that an operator names, with their links followed.
 */
import { isInsideFolder } from '../../config/containment.ts';
import { resolveRealPath } from './real-path.ts';

/** Return the real paths of those that are folders, each once. */
export function realFolders(folders: readonly string[]): readonly string[] {
  const found = folders.map(resolveRealPath);
  return [...new Set(found.flatMap((each) => ('real' in each && each.stats?.isDirectory() ? [each.real] : [])))];
}

/** Return the real paths of those that contain `path`. @param path Real path. */
export function foldersAround(folders: readonly string[], path: string): readonly string[] {
  return realFolders(folders).filter((folder) => isInsideFolder(folder, path));
}
