/**
 * The tools that a new session would see, for the list that is asked for without a session.
 */
import { isGauntletError } from '../../base/errors.ts';
import type { ToolMode, ToolPermissionContext, WorkspaceSettings } from '../../wire/permission-context.ts';
import type { ToolPool } from '../../pool/tool-pool.ts';
import type { SessionServices } from '../session-services.ts';
import type { NewSessionRules } from './new-session.ts';

/** The services that the list is made from. */
export type NewSessionPoolServices = Pick<SessionServices, 'poolFor'> &
  Pick<NewSessionRules, 'permissionsFor' | 'resolveFolder' | 'workspaceSettings'>;

/**
 * Make the function from a principal and a tool mode to the tools that a new session would see.
 *
 * It gives the same pool, and so the same bytes, until settings files of trusted folders or external tools change.
 *
 * @throws {GauntletError} From the returned function: `invalid_request` where a settings file of a trusted folder
 *   cannot be used, as for a new session.
 */
export function createNewSessionPools(
  services: NewSessionPoolServices,
): (principal: string, toolMode: ToolMode) => ToolPool {
  /** The last permissions made from workspace settings, by principal: an equal context would be rendered anew. */
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

/** Settings files of trusted folders around the folder in which the principal's sessions begin. */
function settingsAtHome(principal: string, services: NewSessionPoolServices): readonly WorkspaceSettings[] {
  try {
    return services.workspaceSettings(services.resolveFolder(principal, undefined));
  } catch (error) {
    // A principal without roots can have no session: the server's settings alone decide about its list.
    if (isGauntletError(error, 'forbidden')) return [];
    throw error;
  }
}
