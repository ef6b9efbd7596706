/**
 * Applies a tool's context modifier. Its result is untrusted, since plugins may provide it, and must pass the checks of
 * an update over the wire.
 */
import { isAbsolute } from 'node:path';
import { frozenJson, type JsonValue } from '../base/json.ts';
import { errorMessage, GauntletError } from '../base/errors.ts';
import type { ToolPermissionContext } from '../wire/permission-context.ts';
import { TOOL_MODES } from '../wire/permission-names.ts';
import type { ContextModifier, SessionContext, Worktree } from '../tool/session-context.ts';
import { isInWorkingDirectories, realFolder } from '../files/working-directories.ts';
import { refuseWidening } from '../permissions/child-permissions.ts';
import { checkedContext } from '../permissions/context.ts';

/** Limits of a session's context. */
export interface ContextBounds {
  /** @throws {GauntletError} `forbidden` for folders outside the principal's bounds. */
  checkFolders(folders: readonly string[]): void;
  /** True for a child session, which may do no more than its parent and cannot be moved. */
  readonly isChild?: boolean;
}

/**
 * Map a context to the next.
 *
 * @returns The same context if the modifier changes nothing; else a new one, frozen, with the same version.
 * @throws {GauntletError} `tool_failed` if the modifier throws, or the session may not have the context.
 */
export function modifiedContext(
  before: SessionContext,
  modifier: ContextModifier,
  bounds: ContextBounds,
): SessionContext {
  try {
    const made: unknown = modifier(before);
    return made === before ? before : checkedNext(before, made, bounds);
  } catch (cause) {
    const message = `The tool ran, but the session cannot change as it asks: ${errorMessage(cause)}`;
    throw new GauntletError('tool_failed', message, { cause });
  }
}

function checkedNext(before: SessionContext, made: unknown, bounds: ContextBounds): SessionContext {
  if (typeof made !== 'object' || made === null) throw new TypeError('it gave no context');
  const given: Partial<SessionContext> = made;
  const next = {
    version: before.version,
    permissions: checkedPermissions(before.permissions, given.permissions, bounds),
    root: given.root === before.root ? before.root : checkedFolder('root', given.root, bounds),
    toolMode: checkedToolMode(given.toolMode),
    readState: checkedReadState(given.readState),
    worktree: given.worktree === before.worktree ? before.worktree : checkedWorktree(given.worktree, bounds),
    toolState: checkedToolState(before.toolState, given.toolState),
  };
  if (bounds.isChild) refuseWidening(before.permissions, next.permissions);
  if (bounds.isChild && next.root !== before.root) throw new TypeError('a child session cannot be moved');
  const isMoved = given.cwd !== before.cwd || next.root !== before.root;
  return Object.freeze({ ...next, cwd: isMoved ? checkedCwd(next, given.cwd) : before.cwd });
}

function checkedPermissions(
  before: ToolPermissionContext,
  made: ToolPermissionContext | undefined,
  { checkFolders }: ContextBounds,
): ToolPermissionContext {
  if (made === undefined) throw new TypeError('it gave a context without permissions');
  if (made === before) return before;
  const permissions = checkedContext(before, made);
  const known = new Set(before.additionalDirectories);
  checkFolders(permissions.additionalDirectories.filter((directory) => !known.has(directory)));
  return permissions;
}

function checkedFolder(what: string, folder: unknown, { checkFolders }: ContextBounds): string {
  if (typeof folder !== 'string' || !isAbsolute(folder) || realFolder(folder) !== folder)
    throw new TypeError(`its ${what} is not the real path of a folder: ${JSON.stringify(folder)}`);
  checkFolders([folder]);
  return folder;
}

function checkedCwd(next: Pick<SessionContext, 'root' | 'permissions'>, cwd: unknown): string {
  if (cwd === next.root) return next.root;
  if (typeof cwd === 'string' && realFolder(cwd) === cwd && isInWorkingDirectories(next, cwd)) return cwd;
  throw new TypeError(
    `its cwd is not the real path of a folder inside the working directories: ${JSON.stringify(cwd)}`,
  );
}

function checkedToolMode(mode: SessionContext['toolMode'] | undefined): SessionContext['toolMode'] {
  if (mode !== undefined && TOOL_MODES.includes(mode)) return mode;
  throw new TypeError(`its tool mode is ${JSON.stringify(mode)}, and must be one of ${TOOL_MODES.join(', ')}`);
}

function checkedReadState(readState: SessionContext['readState'] | undefined): SessionContext['readState'] {
  if (typeof readState?.get === 'function') return readState;
  throw new TypeError('it gave a context without a read state');
}

function checkedWorktree(worktree: Worktree | undefined, bounds: ContextBounds): Worktree | undefined {
  if (worktree === undefined) return undefined;
  const { path, branch, originalCwd } = worktree;
  if (typeof branch !== 'string' || typeof originalCwd !== 'string')
    throw new TypeError('its worktree has no branch or no original folder');
  return Object.freeze({ path: checkedFolder('worktree', path, bounds), branch, originalCwd });
}

function checkedToolState(
  before: SessionContext['toolState'],
  made: SessionContext['toolState'] | undefined,
): SessionContext['toolState'] {
  if (made === before) return before;
  if (typeof made !== 'object' || made === null || Array.isArray(made))
    throw new TypeError('it gave a context without tool states');
  return frozenJson(made as Readonly<Record<string, JsonValue>>);
}
