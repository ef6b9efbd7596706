/**
 * Finds the files this server runs from. No call may change them, since their code runs outside every gate.
 */
import { realpathSync } from 'node:fs';
import { dirname, join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ripgrepPath } from '../src/process/ripgrep.ts';

/** Folder of `package.json`: the parent of `dist/` in a build, of `bin/` in a clone. */
const PACKAGE_FOLDER = dirname(dirname(fileURLToPath(import.meta.url)));

/**
 * Find the installation.
 *
 * @returns Existing real paths: the package or the clone, its dependencies wherever they are installed, and the Node
 *   executable.
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

/** Return the folder that the build of the console fills; it may be absent. */
export function consoleFiles(): string {
  return join(PACKAGE_FOLDER, 'dist', 'console');
}

/** Return the outermost `node_modules` that contains `path`, or `path` itself. */
function dependencyFolder(path: string): string {
  const names = path.split(sep);
  const at = names.indexOf('node_modules');
  return at < 0 ? path : names.slice(0, at + 1).join(sep);
}

function realPath(path: string): string | undefined {
  try {
    return realpathSync.native(path);
  } catch {
    // It does not exist: a clone without dependencies of its own, or a machine without a ripgrep build.
    return undefined;
  }
}
