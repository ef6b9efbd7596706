/** What the tools of this domain are handed. */
import type { McpConnections } from '../../src/mcp/connections.ts';

/** What they are handed. */
export interface McpToolServices {
  readonly mcp: Pick<McpConnections, 'states' | 'listResources' | 'readResource'>;
}
