/**
 * Restores a session's context from its logged state.
 */
import type { OpenedFrame, Seq } from '../../wire/frames.ts';
import type { SessionContext, Worktree } from '../../tool/session-context.ts';
import { childPermissions } from '../../permissions/child-permissions.ts';
import { describeStill } from '../directory/describe-session.ts';
import type { SessionDescription } from '../../wire/session-replies.ts';
import { frozenJson } from '../../base/json.ts';
import type { LoggedHistory, SavedState } from './replay-log.ts';
import { savedReads } from './save-session.ts';
import { savedLabel } from '../session-label.ts';
import type { PermissionSeed, SessionServices } from '../session-services.ts';

/**
 * Build the context: rules of the settings are the current ones; the session's own, and those of its last command, are
 * restored.
 */
export function sessionContextFrom(
  { opened, context, toolState }: SavedState,
  services: SessionServices,
): SessionContext {
  if (!context) return contextOf(opened, seedOf(opened), services);
  const { permission_context: logged, version, cwd, root, tool_mode: toolMode, worktree } = context;
  const seed = {
    mode: logged.mode,
    rules: logged.rules.session,
    commandRules: logged.rules.command,
    additionalDirectories: logged.additional_directories,
    workspaceSettings: opened.workspace_settings,
    isLogged: true,
  };
  const restored = contextOf(opened, seed, services);
  return Object.freeze({
    ...restored,
    permissions: Object.freeze({ ...restored.permissions, version }),
    cwd,
    root: root ?? restored.root,
    toolMode: toolMode ?? restored.toolMode,
    worktree: worktreeFrom(worktree),
    toolState: frozenJson(toolState ?? {}),
  });
}

/** As `sessionContextFrom`, with the saved read state. */
export function restoredContext(history: LoggedHistory, services: SessionServices): SessionContext {
  const context = sessionContextFrom(history, services);
  const reads = savedReads(services.log, history.opened.session_id);
  return Object.freeze({
    ...context,
    readState: reads.reduce((state, record) => state.with(record), services.emptyReadState),
  });
}

/**
 * Describe an unloaded session.
 *
 * @throws {GauntletError} `forbidden` if its folder is no longer within its principal's bounds.
 */
export function describeAsleep(savedState: SavedState, head: Seq, services: SessionServices): SessionDescription {
  const { opened } = savedState;
  const context = sessionContextFrom(savedState, services);
  services.checkFolders(opened.principal, [context.root]);
  const label = savedLabel(services.log, opened.session_id);
  const lastAt = services.log.lastAt(opened.session_id) ?? opened.created_at;
  return describeStill({ opened, context, label, head, lastAt });
}

function worktreeFrom(logged: OpenedFrame['worktree']): Worktree | undefined {
  return logged && Object.freeze({ path: logged.path, branch: logged.branch, originalCwd: logged.original_cwd });
}

function seedOf(opened: OpenedFrame): PermissionSeed {
  const { mode, rules, additional_directories: additionalDirectories, workspace_settings: workspaceSettings } = opened;
  return { mode, rules, additionalDirectories, workspaceSettings, isLogged: true };
}

function contextOf(opened: OpenedFrame, seed: PermissionSeed, services: SessionServices): SessionContext {
  const permissions = services.permissionsFor(opened.principal, seed);
  return Object.freeze({
    version: 1,
    permissions: opened.parent ? childPermissions(permissions, opened.mode) : permissions,
    root: opened.cwd,
    cwd: opened.worktree?.path ?? opened.cwd,
    worktree: worktreeFrom(opened.worktree),
    toolMode: opened.tool_mode,
    readState: services.emptyReadState,
    toolState: {},
  });
}
