/** Services and texts that the tools of this domain share. */
import type { AgentTeams, Group } from '../../src/agents/teams.ts';
import { preambleText } from '../../src/mcp/preamble.ts';
import type { ChildSession } from '../../src/tool/inner-call.ts';
import type { SessionContext } from '../../src/tool/session-context.ts';
import type { ToolUseContext } from '../../src/tool/tool.ts';
import type { AgentToolServices } from './services.ts';

/** Services of the domain, with the registry of running agents. */
export interface OwnServices extends AgentToolServices {
  readonly teams: AgentTeams;
}

/** Find the group that the caller works in. */
export function callerGroup({ teams }: OwnServices, { principal, sessionId }: ToolUseContext): Group {
  return teams.groupOf(principal, sessionId);
}

/** Words of MCP servers about the tools that a child session sees; undefined if there are none. */
export function childPreamble(
  { preamble }: Pick<OwnServices, 'preamble'>,
  child: Pick<ChildSession, 'tools' | 'permissions'>,
  principal: string,
): string | undefined {
  const names = new Set(child.tools().map(({ name }) => name));
  const list = { principal, permissions: child.permissions(), has: (name: string) => names.has(name) };
  return preambleText(preamble?.(list));
}

/** Key of the session state that holds which mail its own model was sent. */
const MAIL_STATE = 'SendMessage';

/** Return the version of the last message delivered to the session's own model. */
export function handedMail({ toolState }: SessionContext): number {
  const state = toolState[MAIL_STATE];
  return typeof state === 'number' ? state : 0;
}

/** Record in the session that messages up to `version` were delivered. */
export function withHandedMail(context: SessionContext, version: number): SessionContext {
  if (handedMail(context) >= version) return context;
  return { ...context, toolState: { ...context.toolState, [MAIL_STATE]: version } };
}
