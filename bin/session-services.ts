/**
 * What sessions are handed, made from the settings and the parts of the server.
 */
import { rm } from 'node:fs/promises';
import { realpathSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Settings } from '../config/settings.ts';
import { errorMessage, GauntletError } from '../src/contract/errors.ts';
import type { LocatePath } from '../src/contract/located-path.ts';
import type { ToolPermissionContext } from '../src/contract/permission-context.ts';
import type { Tool } from '../src/contract/tool.ts';
import { isInsideFolder } from '../src/files/containment.ts';
import { emptyReadState } from '../src/files/read-state.ts';
import { readSpilledRange, spillText } from '../src/files/spill.ts';
import type { Hooks } from '../src/hooks/hooks.ts';
import type { FrameLog } from '../src/log/frame-log.ts';
import { createPermissionContext } from '../src/permissions/context.ts';
import type { PermissionClassifier } from '../src/permissions/classifier.ts';
import type { TwoPersonRules } from '../src/permissions/two-person.ts';
import { readDenial } from '../src/permissions/path-gate.ts';
import type { ToolPools } from '../src/pool/tool-pools.ts';
import type { DirectoryServices } from '../src/session/session-directory.ts';
import type { PermissionSeed } from '../src/session/session-services.ts';
import { SCHEMA_TOOL } from '../tools/index.ts';

/** The parts of the server that sessions use. */
export interface SessionParts {
  readonly log: FrameLog;
  readonly pools: ToolPools;
  readonly locate: LocatePath;
  readonly hooks?: Hooks;
  readonly twoPerson?: TwoPersonRules;
  readonly classifier?: PermissionClassifier;
  onQuestion?: DirectoryServices['onQuestion'];
  externalTools(): readonly Tool[];
  sessionFolder(sessionId: string): string;
  onSessionEnd(sessionId: string): void;
  onFault(error: unknown, what: string): void;
}

/** Put together what every session is handed. */
export function sessionServices(settings: Settings, parts: SessionParts): DirectoryServices {
  const { limits } = settings;
  return {
    ...parts,
    limits,
    schemaTool: settings.toolSearch === 'off' ? undefined : SCHEMA_TOOL,
    siblingAbort: settings.siblingAbort,
    defaultToolMode: settings.toolMode,
    emptyReadState: emptyReadState(limits.readRecords),
    poolFor: (context) => parts.pools.pool(context, parts.externalTools()),
    permissionsFor: permissionsFrom(settings),
    readDenial,
    spill: spillText,
    readSpilled: readSpilledRange,
    resolveFolder: (_principal, cwd) => folderInside(settings.workspace, cwd),
    removeFolder: (sessionId) => rm(parts.sessionFolder(sessionId), { recursive: true, force: true }),
  };
}

/** Sessions that add nothing of their own share one context, and what is derived from it. */
function permissionsFrom(settings: Settings): (seed: PermissionSeed) => ToolPermissionContext {
  const { permissions } = settings;
  const base = settledContext(permissions);
  return (seed) => {
    const hasOwn = seed.rules !== undefined || (seed.additionalDirectories?.length ?? 0) > 0;
    const isBase = !hasOwn && (seed.mode ?? base.mode) === base.mode;
    return isBase ? base : contextFrom(permissions, seed);
  };
}

/** Rules of the settings that cannot be understood stop the start. */
function settledContext(permissions: Settings['permissions']): ToolPermissionContext {
  try {
    return contextFrom(permissions, {});
  } catch (error) {
    throw new GauntletError('invalid_setting', `Setting "permissions": ${errorMessage(error)}`, { cause: error });
  }
}

function contextFrom(permissions: Settings['permissions'], seed: PermissionSeed): ToolPermissionContext {
  return createPermissionContext({
    mode: seed.mode ?? permissions.defaultMode,
    rules: { ...permissions.rules, ...(seed.rules ? { session: seed.rules } : {}) },
    additionalDirectories: [...permissions.additionalDirectories, ...(seed.additionalDirectories ?? [])],
    isBypassAvailable: permissions.isBypassAvailable,
  });
}

function folderInside(workspace: string, cwd: string | undefined): string {
  if (cwd === undefined) return workspace;
  const details = { reason: 'cwd', path: 'cwd' };
  const folder = existingFolder(resolve(workspace, cwd));
  if (folder === undefined) {
    throw new GauntletError('invalid_request', `"cwd" is not an existing folder: "${cwd}"`, { details });
  }
  if (isInsideFolder(workspace, folder)) return folder;
  throw new GauntletError('forbidden', `"cwd" must lie in the workspace, and "${cwd}" does not`, { details });
}

function existingFolder(path: string): string | undefined {
  try {
    const real = realpathSync.native(path);
    return statSync(real).isDirectory() ? real : undefined;
  } catch {
    // Not there, not ours to enter, or no path at all: either way no folder to work in.
    return undefined;
  }
}
