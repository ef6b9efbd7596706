/** Dependencies of the MCP tools, and what they all check. */
import type { CallerServers } from '../../src/mcp/caller-servers.ts';
import { serverHidingRule } from '../../src/permissions/rule-index.ts';
import type { ToolUseContext, ValidationResult } from '../../src/tool/tool.ts';

/** Services of the MCP tools. */
export interface McpToolServices {
  readonly mcp: Pick<
    CallerServers,
    'states' | 'listResources' | 'listTemplates' | 'readResource' | 'subscribe' | 'authorize'
  >;
}

/** Check that no rule hides a server. @param server Absent: all servers, of which those that are hidden are left out. */
export function checkVisible(
  server: string | undefined,
  { session: { permissions } }: Pick<ToolUseContext, 'session'>,
): ValidationResult {
  const rule = server === undefined ? undefined : serverHidingRule(permissions, server);
  if (!rule) return { result: true };
  return { result: false, message: `The MCP server "${server}" is not available (deny rule: "${rule.rule}")` };
}
