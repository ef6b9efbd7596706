/**
 * Derives the jail place of a session's commands: its working directories, and what its rules hide in them.
 */
import { realpathSync } from 'node:fs';
import type { ToolUseContext } from '../../tool/tool.ts';
import { readDenial, readDenialBelow, readDenialPlaces } from '../../permissions/path-gate.ts';
import type { JailPlace } from './place.ts';

/** Create the place for one call. */
export function sessionPlace({ session, sessionFolder, sessionId, principal }: ToolUseContext): JailPlace {
  const { root, permissions } = session;
  return {
    principal,
    sessionId,
    // The root is a real path already, and most sessions have no other folder.
    folders: [...new Set([root, ...permissions.additionalDirectories.flatMap(realFolder)])],
    sessionFolder,
    denials: {
      version: permissions.version,
      isDenied: readDenial(permissions, root),
      mayDenyBelow: readDenialBelow(permissions, root),
      places: readDenialPlaces(permissions, root),
    },
  };
}

function realFolder(path: string): readonly string[] {
  try {
    return [realpathSync.native(path)];
  } catch {
    // A working directory that was removed cannot be read; the others can.
    return [];
  }
}
