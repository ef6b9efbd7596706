/**
 * Bounds of each principal: where its sessions work, and their modes.
 *
 * The owner's sessions begin in the workspace and may add any folder; those of another principal stay in its roots.
 */
import { realpathSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { isInsideFolder } from '../config/containment.ts';
import type { Settings } from '../config/settings.ts';
import type { PrincipalLimits } from '../config/settings/principal-limits.ts';
import { OWNER } from '../config/settings/principals.ts';
import type { PrincipalBounds } from '../routes/dependencies.ts';
import { errorMessage, GauntletError } from '../src/base/errors.ts';
import { resolveRealPath } from '../src/files/real-path.ts';
import { createPermissionContext } from '../src/permissions/context.ts';
import { loweredMode } from '../src/permissions/mode-order.ts';
import type { DirectoryServices } from '../src/session/directory/session-directory.ts';
import { trustedRules, workspaceSettings } from '../src/session/directory/workspace-settings.ts';
import type { PermissionMode, ToolPermissionContext } from '../src/wire/permission-context.ts';

/** Functions with which sessions query their principal's bounds. */
export type PrincipalAccess = Pick<
  DirectoryServices,
  'permissionsFor' | 'checkFolders' | 'resolveFolder' | 'workspaceSettings'
>;

type PermissionSeed = Parameters<DirectoryServices['permissionsFor']>[1];

interface Access {
  readonly name: string;
  /** Real paths; `undefined`: sessions begin in the workspace and may add any folder. */
  readonly roots: readonly string[] | undefined;
  /** Real path of the data directory, which no session may use. */
  readonly dataFolder: string;
  /** Real path of a configured token file. */
  readonly tokenFile: string | undefined;
  readonly maxMode: PermissionMode | undefined;
  /** Permission context shared by all sessions that request nothing of their own. */
  readonly base: ToolPermissionContext;
}

/** Create the functions. @throws {GauntletError} `invalid_setting` for invalid rules. */
export function principalAccess(settings: Settings): PrincipalAccess {
  const owner = { name: OWNER, roots: undefined, maxMode: undefined };
  const dataFolder = realpathSync.native(settings.dataFolder);
  const tokenFile = settings.tokenFileByHand === undefined ? undefined : realPathOf(settings.tokenFileByHand);
  const accesses = new Map(
    [owner, ...settings.principals].map((who) => {
      const bounds = { ...who, dataFolder, tokenFile };
      return [who.name, { ...bounds, base: settingsContext(settings, bounds) }];
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

/** Build the context of the settings alone; invalid rules stop the start. */
function settingsContext(settings: Settings, bounds: Bounds): ToolPermissionContext {
  try {
    return contextFrom(settings, bounds, {});
  } catch (error) {
    throw new GauntletError('invalid_setting', `Setting ${errorMessage(error)}`, { cause: error });
  }
}

/**
 * Build a context. Values from settings or log are reduced to the principal's bounds; a client's own are not, and fail
 * if they exceed them.
 */
function contextFrom(settings: Settings, bounds: Bounds, seed: PermissionSeed): ToolPermissionContext {
  const { permissions, trustedWorkspaces } = settings;
  const { isBypassAvailable } = permissions;
  const workspace = trustedRules(trustedWorkspaces, seed.workspaceSettings ?? []);
  const mode =
    seed.isLogged || seed.mode === undefined
      ? loweredMode(seed.mode ?? permissions.defaultMode, bounds.maxMode)
      : seed.mode;
  const isBypassGone = seed.isLogged === true && mode === 'bypassPermissions' && !isBypassAvailable;
  const directories = [
    ...permissions.additionalDirectories,
    ...workspace.directories,
    ...(seed.additionalDirectories ?? []).filter((folder) => !workspace.lostDirectories.includes(folder)),
  ];
  return createPermissionContext({
    mode: isBypassGone ? 'default' : mode,
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

/**
 * True if a folder is in the roots, and neither part of the server's own data nor a parent of it, with links resolved.
 */
function isAllowed({ roots, dataFolder, tokenFile }: Bounds, folder: string): boolean {
  const found = resolveRealPath(resolve(folder));
  if (!('real' in found) || isInsideFolder(dataFolder, found.real)) return false;
  if ([dataFolder, tokenFile].some((own) => own !== undefined && isInsideFolder(found.real, own))) return false;
  return roots === undefined || roots.some((root) => isInsideFolder(root, found.real));
}

/** Resolve a session's folder, by default the workspace if it is in the roots, else the first root. */
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
  if (roots.some((root) => isInsideFolder(root, folder)) && !isInsideFolder(bounds.dataFolder, folder)) return folder;
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
    // Missing, inaccessible, or not a path: no folder to work in.
    return undefined;
  }
}

/** Return the limits of principals by name; the server's for those without their own. */
export function limitsOfPrincipals({ principals, limits }: Settings): (principal: string) => PrincipalLimits {
  const known = new Map(principals.map((who) => [who.name, who.limits]));
  return (principal) => known.get(principal) ?? limits;
}

/** Return the bounds of principals by name, as `GET /principals/self` tells them. */
export function describePrincipals({ principals, approvals }: Settings): (principal: string) => PrincipalBounds {
  const known = new Map(principals.map((who) => [who.name, who]));
  const answersTwoPerson = approvals.twoPerson.length > 0;
  return (principal) => {
    const { roots, maxMode } = known.get(principal) ?? {};
    return { roots, maxMode, answersTwoPerson };
  };
}
