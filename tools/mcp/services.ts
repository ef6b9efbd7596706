/** What the tools of this domain are handed. */
import type { McpConnections } from '../../src/mcp/connections.ts';

/** What they are handed. */
export interface McpToolServices {
  readonly mcp: Pick<McpConnections, 'states' | 'listResources' | 'readResource'>;
}

/** Whether any server is configured and enabled; the same for as long as this process lives. */
export function hasServers({ mcp }: McpToolServices): boolean {
  return mcp.states().some(({ state }) => state !== 'disabled');
}
