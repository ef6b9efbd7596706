/**
 * Folders and files the server stands on: data, workspace, settings.
 */
import { realpathSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, delimiter, dirname, isAbsolute, join, resolve } from 'node:path';
import { isInsideFolder } from '../containment.ts';
import { SettingsError } from '../settings-error.ts';
import type { Environment } from './settings-file.ts';

/** Folders that are no place for an agent to work in: the kernel's, and everything at once. */
const NO_WORKSPACE = ['/proc', '/sys', '/dev'];
/** Permission bits of group and others. */
const OTHERS_MAY = 0o077;

/** Absolute path of `path`, `~` and `~/` filled in, relative to `base`. */
export function absolutePath(path: string, base: string, environment: Environment): string {
  if (path === '~' || path.startsWith('~/')) return join(homeFolder(environment), path.slice(1));
  return resolve(base, path);
}

/** Default data directory: the state folder of the XDG base directory specification. */
export function defaultDataFolder(environment: Environment): string {
  const state = environment['XDG_STATE_HOME'];
  // The specification has relative paths ignored.
  const base = state && isAbsolute(state) ? state : join(homeFolder(environment), '.local', 'state');
  return join(base, 'gauntlet');
}

/**
 * The workspace's real path.
 *
 * @throws {SettingsError} If it is no folder, or one no agent should work in.
 */
export function workspaceFolder(path: string, dataFolder: string): string {
  const real = realFolder(path);
  if (real === undefined) {
    throw new SettingsError(
      'GAUNTLET_WORKSPACE',
      `GAUNTLET_WORKSPACE: "${path}" is not a folder; name one that exists`,
    );
  }
  if (real === '/' || [...NO_WORKSPACE, realPathOf(dataFolder)].some((folder) => isInsideFolder(folder, real))) {
    throw new SettingsError(
      'GAUNTLET_WORKSPACE',
      `GAUNTLET_WORKSPACE: "${real}" cannot be a workspace; name a project's folder`,
    );
  }
  return real;
}

/** Folders in which commands may run, by the setting that names them. */
export interface ReachableFolder {
  readonly key: string;
  /** Absolute. */
  readonly path: string;
}

/**
 * Refuse folders that contain the server's own data: a command there reads the token through any glob.
 *
 * @throws {SettingsError} Naming both settings.
 */
export function refuseExposedData(
  folders: readonly ReachableFolder[],
  { dataFolder, tokenFile }: { readonly dataFolder: string; readonly tokenFile: string | undefined },
): void {
  const privatePaths = [
    { what: 'data directory', path: dataFolder, key: 'GAUNTLET_DATA_DIR' },
    ...(tokenFile === undefined ? [] : [{ what: 'token file', path: tokenFile, key: 'GAUNTLET_TOKEN_FILE' }]),
  ];
  for (const own of privatePaths) {
    const exposing = folders.find(({ path }) => isInsideFolder(realPathOf(path), realPathOf(own.path)));
    if (exposing === undefined) continue;
    throw new SettingsError(
      exposing.key,
      `${exposing.key}: "${exposing.path}" contains the ${own.what} "${own.path}", so commands there could read the token; set ${exposing.key} to a project's folder, or ${own.key} to a path outside it`,
    );
  }
}

/**
 * PATH without the folders that a session may write to: a program put there would run as the server.
 *
 * Relative and empty entries are dropped too, since they mean whatever folder a program runs in.
 *
 * @param path The variable; undefined where it is not set.
 * @param folders Absolute; what sessions may work in.
 */
export function safeSearchPath(path: string | undefined, folders: readonly string[]): string | undefined {
  if (path === undefined) return undefined;
  const writable = folders.flatMap((folder) => [folder, realPathOf(folder)]);
  // Both spellings count: a link in a workspace leads elsewhere tomorrow.
  const isWritable = (entry: string) =>
    [resolve(entry), realPathOf(entry)].some((place) => writable.some((folder) => isInsideFolder(folder, place)));
  return path
    .split(delimiter)
    .filter((entry) => isAbsolute(entry) && !isWritable(entry))
    .join(delimiter);
}

/** Warnings about paths that are unwise but not wrong; one sentence each. */
export function pathWarnings(paths: {
  readonly workspace: string;
  readonly dataFolder: string;
  readonly settingsFile: string;
  /** One that was named by hand; the server's own is checked when it is read. */
  readonly tokenFile: string | undefined;
  readonly environment: Environment;
}): readonly string[] {
  const { workspace, tokenFile } = paths;
  const warnings: string[] = [];
  if (tokenFile !== undefined && ((statSync(tokenFile, { throwIfNoEntry: false })?.mode ?? 0) & OTHERS_MAY) !== 0) {
    warnings.push(`Others than its owner may read or change the token file "${tokenFile}"; give it the mode 0600`);
  }
  if ([homeFolder(paths.environment), '/tmp', '/var/tmp'].map(realFolder).includes(workspace)) {
    warnings.push(`The workspace "${workspace}" holds more than one project; set GAUNTLET_WORKSPACE to one`);
  }
  if (isInsideFolder(workspace, realPathOf(dirname(paths.settingsFile)))) {
    warnings.push(
      `The settings file "${paths.settingsFile}" lies in the workspace; move it out of reach of the agents`,
    );
  }
  return warnings;
}

function homeFolder(environment: Environment): string {
  const home = environment['HOME'];
  return home && isAbsolute(home) ? home : homedir();
}

/** Real path of an existing folder; `undefined` if it does not exist. */
export function realFolder(path: string): string | undefined {
  try {
    const real = realpathSync(path);
    return statSync(real).isDirectory() ? real : undefined;
  } catch {
    // Missing, a link to nowhere or out of reach: for the caller all the same, no folder.
    return undefined;
  }
}

/** The path with the links of every part that exists followed. */
function realPathOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    // Missing, or out of reach: then its parent says where it would be.
    const parent = dirname(path);
    return parent === path ? path : join(realPathOf(parent), basename(path));
  }
}
