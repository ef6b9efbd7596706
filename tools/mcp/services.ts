/** Dependencies of the MCP tools. */
import type { McpConnections } from '../../src/mcp/connections.ts';

/** Services of the MCP tools. */
export interface McpToolServices {
  readonly mcp: Pick<McpConnections, 'states' | 'listResources' | 'readResource' | 'authorize'>;
}
