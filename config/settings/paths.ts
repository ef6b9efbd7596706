/**
 * Folders and files the server stands on: data, workspace, settings.
 */
import { realpathSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join, resolve } from 'node:path';
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

/** Where the data lives when nobody says: the state folder of the XDG base directory specification. */
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
  if (real === '/' || [...NO_WORKSPACE, realOrSpelled(dataFolder)].some((folder) => isInsideFolder(folder, real))) {
    throw new SettingsError(
      'GAUNTLET_WORKSPACE',
      `GAUNTLET_WORKSPACE: "${real}" cannot be a workspace; name a project's folder`,
    );
  }
  return real;
}

/** What is unwise, not wrong, about where things lie; one sentence each. */
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
  if (isInsideFolder(workspace, realOrSpelled(paths.dataFolder))) {
    warnings.push(
      `The data directory "${paths.dataFolder}" lies in the workspace; set GAUNTLET_DATA_DIR to a folder outside it`,
    );
  } else if (isInsideFolder(workspace, realOrSpelled(dirname(paths.settingsFile)))) {
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

/** Real path of an existing folder; undefined where there is none. */
export function realFolder(path: string): string | undefined {
  try {
    const real = realpathSync(path);
    return statSync(real).isDirectory() ? real : undefined;
  } catch {
    // Missing, a link to nowhere or out of reach: for the caller all the same, no folder.
    return undefined;
  }
}

function realOrSpelled(path: string): string {
  return realFolder(path) ?? path;
}
