/** Dependencies of the MCP tools. */
import type { CallerServers } from '../../src/mcp/caller-servers.ts';

/** Services of the MCP tools. */
export interface McpToolServices {
  readonly mcp: Pick<CallerServers, 'states' | 'listResources' | 'readResource' | 'authorize'>;
}
