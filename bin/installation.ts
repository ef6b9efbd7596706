/**
 * The files this server runs from: no call may change them, since what stands in them runs outside every gate.
 */
import { realpathSync } from 'node:fs';
import { dirname, join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ripgrepPath } from '../src/process/ripgrep.ts';

/** The folder of `package.json`: one above `dist/` in a build, one above `bin/` in a clone. */
const PACKAGE_FOLDER = dirname(dirname(fileURLToPath(import.meta.url)));

/**
 * Find the installation.
 *
 * @returns Real paths of what exists: the package or the clone, its dependencies wherever they are installed, and the
 *   program of Node.
 */
export function installationPaths(): readonly string[] {
  const spelled = [
    PACKAGE_FOLDER,
    join(PACKAGE_FOLDER, 'node_modules'),
    dependencyFolder(PACKAGE_FOLDER),
    dependencyFolder(realPath(ripgrepPath) ?? ripgrepPath),
    process.execPath,
  ];
  return [...new Set(spelled.flatMap((path) => realPath(path) ?? []))];
}

/** The outermost `node_modules` that `path` lies in; `path` itself where there is none. */
function dependencyFolder(path: string): string {
  const names = path.split(sep);
  const at = names.indexOf('node_modules');
  return at < 0 ? path : names.slice(0, at + 1).join(sep);
}

function realPath(path: string): string | undefined {
  try {
    return realpathSync.native(path);
  } catch {
    // It is not there: a clone without dependencies of its own, a machine without a build of ripgrep.
    return undefined;
  }
}
