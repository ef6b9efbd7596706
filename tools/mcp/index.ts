/** Tools for MCP servers: their resources, and logging in to them. */
import { listMcpResourcesTool } from './list-mcp-resources.ts';
import { mcpAuthTool } from './mcp-auth.ts';
import { readMcpResourceTool } from './read-mcp-resource.ts';
import type { McpToolServices } from './services.ts';

/** Create all built-in MCP tools, in no particular order; the pool sorts them. */
export function mcpTools(services: McpToolServices) {
  return [listMcpResourcesTool(services), readMcpResourceTool(services), mcpAuthTool(services)];
}
