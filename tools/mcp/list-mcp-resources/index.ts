/** ListMcpResourcesTool: what MCP servers have to read. */
import { z } from 'zod';
import { buildTool } from '../../../src/tool/build-tool.ts';
import { TOOL_ALIASES } from '../../../src/permissions/rule-names.ts';
import type { McpToolServices } from '../services.ts';
import { renderList, renderListError, renderListResult } from './render.ts';
import { listedText, runList, type ListOutput } from './run.ts';

const ListMcpResourcesInput = z.strictObject({
  server: z.string().min(1).optional().describe('Only the resources of this server. Defaults to all servers'),
});

const PROMPT = `Lists the resources that MCP servers offer: files, records and pages that can be read.

- Each has a \`server\` and a \`uri\`: what ReadMcpResourceTool takes.
- Without \`server\`, the resources of every connected server are listed; one that fails is named and hides nothing else.`;

/** Make ListMcpResourcesTool. */
export function listMcpResourcesTool(services: McpToolServices) {
  return buildTool({
    name: 'ListMcpResourcesTool',
    aliases: TOOL_ALIASES.ListMcpResourcesTool,
    searchHint: 'list resources of MCP servers',
    shouldDefer: true,
    inputSchema: ListMcpResourcesInput,
    maxResultSizeChars: 100_000,
    prompt: () => PROMPT,
    description: ({ server }) => `List the resources of ${server ?? 'all MCP servers'}`,
    isReadOnly: () => true,
    isConcurrencySafe: () => true,
    interruptBehavior: () => 'cancel',
    call: async (input, { signal }) => ({ data: await runList(services.mcp, input.server, signal) }),
    mapToolResultToToolResultBlockParam: (output: ListOutput, toolUseId) => ({
      type: 'tool_result',
      tool_use_id: toolUseId,
      content: listedText(output),
    }),
    getActivityDescription: () => 'Listing MCP resources',
    renderToolUseMessage: renderList,
    renderToolResultMessage: (output: ListOutput, _progress, { style }) => renderListResult(output, style),
    renderToolUseRejectedMessage: (input, message) => renderListError(message, input, 'warning'),
    renderToolUseErrorMessage: (message, input) => renderListError(message, input, 'danger'),
  });
}
