/**
 * What each principal may at most: where its sessions work and which modes they have.
 *
 * The owner's sessions begin in the workspace and may add any folder; another principal's stay in its roots.
 */
import { realpathSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { isInsideFolder } from '../config/containment.ts';
import type { Settings } from '../config/settings.ts';
import type { PrincipalLimits } from '../config/settings/principal-limits.ts';
import { OWNER } from '../config/settings/principals.ts';
import { errorMessage, GauntletError } from '../src/base/errors.ts';
import { resolveRealPath } from '../src/files/real-path.ts';
import { createPermissionContext } from '../src/permissions/context.ts';
import { loweredMode } from '../src/permissions/mode-order.ts';
import type { DirectoryServices } from '../src/session/directory/session-directory.ts';
import { standingRules, workspaceSettings } from '../src/session/directory/workspace-settings.ts';
import type { PermissionMode, ToolPermissionContext } from '../src/wire/permission-context.ts';

/** What sessions ask about their principal. */
export type PrincipalAccess = Pick<
  DirectoryServices,
  'permissionsFor' | 'checkFolders' | 'resolveFolder' | 'workspaceSettings'
>;

type PermissionSeed = Parameters<DirectoryServices['permissionsFor']>[1];

interface Access {
  readonly name: string;
  /** Real paths; undefined: the workspace to begin in, any folder to add. */
  readonly roots: readonly string[] | undefined;
  /** Real path of the data directory: in nobody's reach. */
  readonly closed: string;
  /** Real path of a token file set by hand. */
  readonly tokenFile: string | undefined;
  readonly maxMode: PermissionMode | undefined;
  /** What a session that asks for nothing of its own may do: all such sessions share it. */
  readonly base: ToolPermissionContext;
}

/** Make the answers. @throws {GauntletError} `invalid_setting` for rules that cannot be understood. */
export function principalAccess(settings: Settings): PrincipalAccess {
  const owner = { name: OWNER, roots: undefined, maxMode: undefined };
  const closed = realpathSync.native(settings.dataFolder);
  const tokenFile = settings.tokenFileByHand === undefined ? undefined : realPathOf(settings.tokenFileByHand);
  const accesses = new Map(
    [owner, ...settings.principals].map((who) => {
      const bounds = { ...who, closed, tokenFile };
      return [who.name, { ...bounds, base: settledContext(settings, bounds) }];
    }),
  );
  function accessOf(principal: string): Access {
    const access = accesses.get(principal);
    if (access === undefined) throw new GauntletError('forbidden', `There is no principal "${principal}" any more`);
    return access;
  }
  return {
    permissionsFor: (principal, seed) => {
      const access = accessOf(principal);
      const { base } = access;
      const hasOwn = [seed.rules, seed.commandRules, seed.workspaceSettings, seed.additionalDirectories?.[0]].some(
        (own) => own !== undefined,
      );
      if (!hasOwn && (seed.mode ?? base.mode) === base.mode) return base;
      if (!seed.isLogged) checkFolders(access, seed.additionalDirectories ?? []);
      return contextFrom(settings, access, seed);
    },
    checkFolders: (principal, folders) => checkFolders(accessOf(principal), folders),
    resolveFolder: (principal, cwd) => folderFor(accessOf(principal), settings.workspace, cwd),
    workspaceSettings: (folder) => workspaceSettings(settings.trustedWorkspaces, folder),
  };
}

type Bounds = Omit<Access, 'base'>;

/** Rules of the settings that cannot be understood stop the start. */
function settledContext(settings: Settings, bounds: Bounds): ToolPermissionContext {
  try {
    return contextFrom(settings, bounds, {});
  } catch (error) {
    throw new GauntletError('invalid_setting', `Setting ${errorMessage(error)}`, { cause: error });
  }
}

/** What the settings or the log say is fitted to the principal's bounds; what a client asks for is not. */
function contextFrom(settings: Settings, bounds: Bounds, seed: PermissionSeed): ToolPermissionContext {
  const { permissions, trustedWorkspaces } = settings;
  const { isBypassAvailable } = permissions;
  const workspace = standingRules(trustedWorkspaces, seed.workspaceSettings ?? []);
  const mode =
    seed.isLogged || seed.mode === undefined
      ? loweredMode(seed.mode ?? permissions.defaultMode, bounds.maxMode)
      : seed.mode;
  const isGone = seed.isLogged === true && mode === 'bypassPermissions' && !isBypassAvailable;
  const directories = [
    ...permissions.additionalDirectories,
    ...workspace.directories,
    ...(seed.additionalDirectories ?? []).filter((folder) => !workspace.lostDirectories.includes(folder)),
  ];
  return createPermissionContext({
    mode: isGone ? 'default' : mode,
    rules: {
      ...permissions.rules,
      ...workspace.rules,
      ...(seed.commandRules && { command: seed.commandRules }),
      ...(seed.rules && { session: seed.rules }),
    },
    additionalDirectories: directories.filter((folder) => isAllowed(bounds, folder)),
    isBypassAvailable,
    maxMode: bounds.maxMode,
  });
}

function checkFolders(bounds: Bounds, folders: readonly string[]): void {
  const outside = folders.find((folder) => !isAllowed(bounds, folder));
  if (outside !== undefined) throw outsideRoots(bounds, 'additional_directories', outside);
}

/** Whether a folder lies in the roots, and is neither part of the server's own data nor around it, wherever links lead. */
function isAllowed({ roots, closed, tokenFile }: Bounds, folder: string): boolean {
  const found = resolveRealPath(resolve(folder));
  if (!('real' in found) || isInsideFolder(closed, found.real)) return false;
  if ([closed, tokenFile].some((own) => own !== undefined && isInsideFolder(found.real, own))) return false;
  return roots === undefined || roots.some((root) => isInsideFolder(root, found.real));
}

/** Where a session begins: the workspace if it lies in the roots, else the first of them, else where it asks to. */
function folderFor(bounds: Bounds, workspace: string, cwd: string | undefined): string {
  const { roots = [workspace] } = bounds;
  const home = roots.some((root) => isInsideFolder(root, workspace)) ? workspace : roots[0];
  if (home === undefined) {
    throw new GauntletError('forbidden', `Principal "${bounds.name}" has no roots, so no sessions of its own`);
  }
  if (cwd === undefined) return home;
  const folder = existingFolder(resolve(home, cwd));
  if (folder === undefined) {
    const details = { reason: 'cwd', path: 'cwd' };
    throw new GauntletError('invalid_request', `"cwd" is not an existing folder: "${cwd}"`, { details });
  }
  if (roots.some((root) => isInsideFolder(root, folder)) && !isInsideFolder(bounds.closed, folder)) return folder;
  throw outsideRoots(bounds, 'cwd', cwd);
}

function outsideRoots({ name, roots }: Bounds, path: string, folder: string): GauntletError {
  const own = "outside the server's own data and not contain it";
  const inside = roots === undefined ? 'in the workspace' : `in the roots of principal "${name}"`;
  const where = roots === undefined && path !== 'cwd' ? own : `${inside}, ${own}`;
  return new GauntletError('forbidden', `"${path}" must lie ${where}, and "${folder}" does not`, {
    details: { reason: path, path },
  });
}

function realPathOf(path: string): string {
  const found = resolveRealPath(path);
  return 'real' in found ? found.real : path;
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

/** A principal's limits by name; the server's for whoever has none of its own. */
export function limitsOfPrincipals({ principals, limits }: Settings): (principal: string) => PrincipalLimits {
  const known = new Map(principals.map((who) => [who.name, who.limits]));
  return (principal) => known.get(principal) ?? limits;
}
