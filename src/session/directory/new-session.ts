/**
 * Builds the first frame of a session from a client's request.
 */
import { randomBytes } from 'node:crypto';
import { nearestKey } from '../../../config/settings/section.ts';
import { GauntletError, isGauntletError } from '../../base/errors.ts';
import type { JsonObject } from '../../base/json.ts';
import type { ToolPool } from '../../pool/tool-pool.ts';
import type { IdScope, ToolSearchForm } from '../../wire/block-schema.ts';
import type { OpenedFrame } from '../../wire/frames.ts';
import type {
  PermissionMode,
  RuleSet,
  ToolMode,
  ToolPermissionContext,
  WorkspaceSettings,
} from '../../wire/permission-context.ts';
import type { SessionServices } from '../session-services.ts';

/** Longest schema of a result, in characters of JSON: compiling 56,000 characters blocked the server for 0.9 s. */
const MAX_OUTPUT_SCHEMA_CHARS = 16_384;

/** Members of a request for a new session. */
export interface NewSession {
  readonly cwd?: string;
  readonly toolMode?: ToolMode;
  readonly mode?: PermissionMode;
  readonly rules?: Partial<RuleSet>;
  readonly additionalDirectories?: readonly string[];
  readonly onAsk?: 'deny' | 'wait';
  readonly idScope?: IdScope;
  readonly toolSearch?: ToolSearchForm;
  readonly title?: string;
  readonly tools?: readonly string[];
  readonly outputSchema?: JsonObject;
  /** Id of a session that there is only one of; never from a client. Absent: a new id. */
  readonly sessionId?: string;
}

/** Defaults for options that are not given. */
export interface NewSessionRules extends Pick<SessionServices, 'permissionsFor' | 'toolNames' | 'outputSchemaProblem'> {
  readonly defaultToolMode: ToolMode;
  /** Return the real path of a new session's folder. @throws {GauntletError} `invalid_request`, `forbidden` */
  resolveFolder(principal: string, cwd: string | undefined): string;
  /**
   * Read the settings files of trusted folders that apply to a session in this folder.
   *
   * @throws {GauntletError} `invalid_request`
   */
  workspaceSettings(folder: string): readonly WorkspaceSettings[];
}

/** Build the frame. @throws {GauntletError} `invalid_request`, `forbidden` */
export function newSessionFrame(principal: string, request: NewSession, given: NewSessionRules): OpenedFrame {
  checkOutputSchema(request.outputSchema, given);
  const cwd = given.resolveFolder(principal, request.cwd);
  checkTools(request, cwd, given);
  const found = given.workspaceSettings(cwd);
  const workspaceSettings = found.length === 0 ? undefined : found;
  const permissions = given.permissionsFor(principal, { ...request, workspaceSettings });
  const { rules, additionalDirectories, onAsk, title } = request;
  return {
    type: 'opened',
    session_id: request.sessionId ?? `ses_${randomBytes(16).toString('base64url')}`,
    principal,
    created_at: new Date().toISOString(),
    cwd,
    tool_mode: request.toolMode ?? given.defaultToolMode,
    mode: permissions.mode,
    rules: rules && { allow: rules.allow ?? [], ask: rules.ask ?? [], deny: rules.deny ?? [] },
    additional_directories: additionalDirectories,
    workspace_settings: workspaceSettings,
    on_ask: onAsk,
    id_scope: request.idScope,
    tool_search: request.toolSearch,
    title,
    tools: request.tools,
    output_schema: request.outputSchema,
  };
}

/** Reject unknown tools: a misspelt one would be missing silently. Tools of a known MCP server may appear later. */
function checkTools(
  { tools = [] }: NewSession,
  folder: string,
  { toolNames }: Pick<NewSessionRules, 'toolNames'>,
): void {
  if (tools.length === 0) return;
  const servers = toolNames.serversIn(folder);
  const known = [...toolNames.tools, ...servers];
  const isKnown = (name: string) => known.includes(name) || servers.some((server) => name.startsWith(`${server}__`));
  const place = tools.findIndex((name) => !isKnown(name));
  if (place !== -1) {
    const nearest = nearestKey(tools[place] ?? '', known);
    const fix = nearest === undefined ? `known here: ${known.join(', ')}` : `did you mean "${nearest}"?`;
    throw invalid(`tools[${place}]`, `there is no tool "${tools[place]}"; ${fix}`);
  }
}

/** Refuse the schema of a result that cannot be one. @throws {GauntletError} `invalid_request` */
export function checkOutputSchema(
  outputSchema: JsonObject | undefined,
  { outputSchemaProblem }: Pick<NewSessionRules, 'outputSchemaProblem'>,
): void {
  const isLong = JSON.stringify(outputSchema ?? {}).length > MAX_OUTPUT_SCHEMA_CHARS;
  if (isLong) throw invalid('output_schema', `is longer than ${MAX_OUTPUT_SCHEMA_CHARS} characters of JSON`);
  const problem = outputSchema && outputSchemaProblem(outputSchema);
  if (problem !== undefined) throw invalid('output_schema', problem);
}

function invalid(path: string, problem: string): GauntletError {
  return new GauntletError('invalid_request', `Cannot begin a session, field "${path}": ${problem}`, {
    details: { path },
  });
}

/** Services for building the list. */
type NewSessionPoolServices = Pick<SessionServices, 'poolFor'> &
  Pick<NewSessionRules, 'permissionsFor' | 'resolveFolder' | 'workspaceSettings'>;

/**
 * Create the function from a principal and a tool mode to the tools that a new session would see.
 *
 * It returns the same pool, and so the same bytes, until settings files of trusted folders or external tools change.
 *
 * @throws {GauntletError} From the returned function: `invalid_request` if a settings file of a trusted folder is
 *   invalid, as for a new session.
 */
export function createNewSessionPools(
  services: NewSessionPoolServices,
): (principal: string, toolMode: ToolMode) => ToolPool {
  /** Last permissions built from workspace settings, by principal: an equal but new context would be rendered again. */
  const latest = new Map<string, { readonly settings: string; readonly permissions: ToolPermissionContext }>();

  function permissionsOf(principal: string): ToolPermissionContext {
    const found = settingsAtHome(principal, services);
    if (found.length === 0) return services.permissionsFor(principal, {});
    const settings = JSON.stringify(found);
    const known = latest.get(principal);
    if (known?.settings === settings) return known.permissions;
    const permissions = services.permissionsFor(principal, { workspaceSettings: found });
    latest.set(principal, { settings, permissions });
    return permissions;
  }

  return (principal, toolMode) => services.poolFor({ toolMode, principal, permissions: permissionsOf(principal) });
}

/** Read the settings files of trusted folders around the folder in which the principal's sessions begin. */
function settingsAtHome(principal: string, services: NewSessionPoolServices): readonly WorkspaceSettings[] {
  try {
    return services.workspaceSettings(services.resolveFolder(principal, undefined));
  } catch (error) {
    // A principal without roots cannot have a session, so only the server's settings apply to its list.
    if (isGauntletError(error, 'forbidden')) return [];
    throw error;
  }
}
