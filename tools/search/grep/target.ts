/**
 * Where a search looks, and what of it may be shown.
 */
import { lstatSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import { isInsideFolder } from '../../../config/containment.ts';
import { GauntletError } from '../../../src/base/errors.ts';
import type { LocatedPath } from '../../../src/tool/located-path.ts';
import type { ToolUseContext } from '../../../src/tool/tool.ts';
import { hiddenPaths, type IsHidden } from '../hidden-paths.ts';
import type { SearchToolServices } from '../services.ts';

/** What may not be shown, by the paths ripgrep prints: relative to the working directory or absolute. */
export function hiddenInOutput(services: SearchToolServices, context: ToolUseContext, located: LocatedPath): IsHidden {
  const isHidden = hiddenPaths(services, context);
  const isLinked = located.spelled !== located.real;
  const absolute = absoluteIn(context.session.cwd);
  return (printed) => {
    const path = absolute(printed);
    // Under a link, a rule may name either spelling.
    return isHidden(path) || (isLinked && isHidden(resolve(located.spelled, relative(located.real, path))));
  };
}

/** The absolute path of one that ripgrep prints. Asked of every file that matches: such paths need no normalising. */
export function absoluteIn(cwd: string): (printed: string) => string {
  const folder = cwd.endsWith('/') ? cwd : `${cwd}/`;
  return (printed) => (printed.startsWith('/') ? printed : folder + printed);
}

/** What to search, as ripgrep is to print it; nothing for the working directory itself. */
export function searchTarget(located: LocatedPath, cwd: string): string | undefined {
  if (located.real === cwd) return undefined;
  return isInsideFolder(cwd, located.real) ? relative(cwd, located.real) : located.real;
}

/** Refuse to search what is neither a file nor a folder. @throws {GauntletError} `tool_failed` */
export function assertSearchable(located: LocatedPath, spelled: string): void {
  const stats = lstatSync(located.real, { throwIfNoEntry: false });
  if (stats?.isFile() === true || stats?.isDirectory() === true) return;
  const why = stats ? 'it is neither a file nor a folder' : 'it does not exist';
  throw new GauntletError('tool_failed', `Cannot search "${spelled}": ${why}. Check the path, or leave it out`);
}
