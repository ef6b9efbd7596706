/**
 * A session's first frame, from what a client says of it.
 */
import { randomBytes } from 'node:crypto';
import type { OpenedFrame } from '../../contract/frames.ts';
import type { PermissionMode, RuleSet, WorkspaceSettings } from '../../contract/permission-context.ts';
import type { ToolMode } from '../../contract/session-context.ts';
import type { SessionServices } from '../session-services.ts';

/** What a client may say of a new session. */
export interface NewSession {
  readonly cwd?: string;
  readonly toolMode?: ToolMode;
  readonly mode?: PermissionMode;
  readonly rules?: Partial<RuleSet>;
  readonly additionalDirectories?: readonly string[];
  readonly onAsk?: 'deny' | 'wait';
  readonly title?: string;
}

/** What fills in the rest. */
export interface NewSessionRules extends Pick<SessionServices, 'permissionsFor'> {
  readonly defaultToolMode: ToolMode;
  /** Real path of a new session's folder. @throws {GauntletError} `invalid_request`, `forbidden` */
  resolveFolder(principal: string, cwd: string | undefined): string;
  /** What the settings files of trusted folders say about a session in this one. @throws {GauntletError} `invalid_request` */
  workspaceSettings(folder: string): readonly WorkspaceSettings[];
}

/** Make the frame. @throws {GauntletError} `invalid_request`, `forbidden` */
export function newSessionFrame(principal: string, request: NewSession, given: NewSessionRules): OpenedFrame {
  const cwd = given.resolveFolder(principal, request.cwd);
  const found = given.workspaceSettings(cwd);
  const workspaceSettings = found.length === 0 ? undefined : found;
  const permissions = given.permissionsFor(principal, { ...request, workspaceSettings });
  const { rules, additionalDirectories, onAsk, title } = request;
  return {
    type: 'opened',
    session_id: `ses_${randomBytes(16).toString('base64url')}`,
    principal,
    created_at: new Date().toISOString(),
    cwd,
    tool_mode: request.toolMode ?? given.defaultToolMode,
    mode: permissions.mode,
    rules: rules && { allow: rules.allow ?? [], ask: rules.ask ?? [], deny: rules.deny ?? [] },
    additional_directories: additionalDirectories,
    workspace_settings: workspaceSettings,
    on_ask: onAsk,
    title,
  };
}
