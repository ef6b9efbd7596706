/**
 * Mounts of the working directories: writable, but for what is locked in them and what the server runs from.
 */
import { lstatSync } from 'node:fs';
import { isInsideFolder } from '../../../config/containment.ts';
import type { Mount } from './bwrap.ts';
import { waysTo } from './locked-paths.ts';

/**
 * Make the mounts.
 *
 * @param roots Absolute real paths, none inside another.
 * @param locked As `lockedPaths` found them in the roots.
 * @param readOnlyPaths Real paths that are never written: in a root, or around one, which is then read-only itself.
 */
export function workingMounts(
  roots: readonly string[],
  locked: readonly Mount[],
  readOnlyPaths: readonly string[],
): readonly Mount[] {
  const opened = roots.map((path) => ({ path, access: 'write', isFolder: true }) as const);
  const kept = roots.flatMap((root) => {
    const inside = readOnlyPaths.filter((path) => path !== root && isInsideFolder(root, path));
    const mounts = inside.map((path) => ({ path, access: 'read', isFolder: isFolder(path) }) as const);
    return [...waysTo(root, mounts), ...mounts];
  });
  const isReadOnly = ({ path }: Mount) => readOnlyPaths.some((readOnly) => isInsideFolder(readOnly, path));
  return [...opened, ...kept, ...locked].map((mount) => (isReadOnly(mount) ? { ...mount, access: 'read' } : mount));
}

function isFolder(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
