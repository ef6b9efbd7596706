/** Selects the MCP servers that a session sees. */
import { serverHidingRule } from '../../src/permissions/rule-index.ts';
import type { Session } from '../../src/session/session.ts';
import type { McpDoorContext } from './dependencies.ts';

/** Names of the connected servers whose resources a session may read. */
export function visibleUpstreams(
  { upstreams, resourceTool }: Pick<McpDoorContext, 'upstreams' | 'resourceTool'>,
  session: Session,
): readonly string[] {
  if (session.pool().lookup(resourceTool) === undefined) return [];
  return upstreams
    .states(session.principal)
    .filter(({ state, name }) => state === 'connected' && !serverHidingRule(session.context.permissions, name))
    .map(({ name }) => name);
}
