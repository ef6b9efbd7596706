/**
 * One path gate for both search tools: what a session may not read, it does not find either.
 */
import { relative } from 'node:path';
import { isInsideFolder } from '../../config/containment.ts';
import type { ToolUseContext } from '../../src/tool/tool.ts';
import type { SearchToolServices } from './services.ts';

/** Whether nothing may be said of this absolute path. */
export type IsHidden = (absolutePath: string) => boolean;

/** The gate of one call. */
export function hiddenPaths(services: SearchToolServices, context: ToolUseContext): IsHidden {
  const privateFolders = services.privateFolders ?? [];
  return (path) =>
    context.isReadDenied(path) ||
    (privateFolders.some((folder) => isInsideFolder(folder, path)) && !isInsideFolder(context.sessionFolder, path));
}

/** How a found path is shown: relative to the working directory where it lies in it, else absolute. */
export function shownPath(absolutePath: string, cwd: string): string {
  return isInsideFolder(cwd, absolutePath) ? relative(cwd, absolutePath) : absolutePath;
}
