/**
 * What one call of a session may see and use, frozen as of its start.
 */
import type { ToolUseContext } from '../contract/tool.ts';
import type { SessionCore } from './session-core.ts';

/** Make a call's context. @param abortTurn Called by a tool that ends the turn after its call. */
export function toolUseContext(
  core: SessionCore,
  ids: { readonly turnId: string; readonly toolUseId: string },
  signal: AbortSignal,
  abortTurn: (reason: string) => void,
): ToolUseContext {
  const { context: session, services } = core;
  return {
    session,
    signal,
    sessionId: core.id,
    ...ids,
    principal: core.opened.principal,
    tools: core.pool.tools,
    sessionFolder: services.sessionFolder(core.id),
    isReadDenied: services.readDenial(session.permissions, session.root),
    abortTurn,
    notify: (level, code, message) => core.log.tell({ type: 'notice', level, code, message }),
  };
}
