/** The tools that reach what MCP servers hold beside their tools. */
import { listMcpResourcesTool } from './list-mcp-resources.ts';
import { readMcpResourceTool } from './read-mcp-resource.ts';
import type { McpToolServices } from './services.ts';

/** All MCP tools that are built in, in no particular order: the pool sorts. */
export function mcpTools(services: McpToolServices) {
  return [listMcpResourcesTool(services), readMcpResourceTool(services)];
}
