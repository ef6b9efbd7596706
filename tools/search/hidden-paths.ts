/** Path filter of both search tools: they do not find files that the session may not read. */
import { relative } from 'node:path';
import { isInsideFolder } from '../../config/containment.ts';
import type { ToolUseContext } from '../../src/tool/tool.ts';
import type { SearchToolServices } from './services.ts';

/** Report whether an absolute path must not be revealed. */
export type IsHidden = (absolutePath: string) => boolean;

/** Create the filter of one call. */
export function hiddenPaths(services: SearchToolServices, context: ToolUseContext): IsHidden {
  const privateFolders = services.privateFolders ?? [];
  return (path) =>
    context.isReadDenied(path) ||
    (privateFolders.some((folder) => isInsideFolder(folder, path)) && !isInsideFolder(context.sessionFolder, path));
}

/** Format a found path: relative to the working directory if it is inside, else absolute. */
export function shownPath(absolutePath: string, cwd: string): string {
  return isInsideFolder(cwd, absolutePath) ? relative(cwd, absolutePath) : absolutePath;
}
