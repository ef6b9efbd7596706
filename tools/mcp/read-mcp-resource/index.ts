/** ReadMcpResourceTool: one resource of an MCP server. */
import { z } from 'zod';
import { buildTool } from '../../../src/tool/build-tool.ts';
import type { McpOutput } from '../../../src/mcp/call-result.ts';
import { TOOL_ALIASES } from '../../../src/permissions/rule-names.ts';
import type { McpToolServices } from '../services.ts';
import { renderRead, renderReadError, renderReadResult } from './render.ts';

const ReadMcpResourceInput = z.strictObject({
  server: z.string().min(1).describe('The server that offers the resource'),
  uri: z.string().min(1).max(8_000).describe('The address of the resource, as the server lists it'),
});

const PROMPT = `Reads one resource of an MCP server.

- \`server\` and \`uri\` are those that ListMcpResourcesTool lists.
- Text, images and PDFs are shown; anything else is named with its type and size.`;

/** Make ReadMcpResourceTool. */
export function readMcpResourceTool(services: McpToolServices) {
  return buildTool({
    name: 'ReadMcpResourceTool',
    aliases: TOOL_ALIASES.ReadMcpResourceTool,
    searchHint: 'read a resource of an MCP server',
    shouldDefer: true,
    inputSchema: ReadMcpResourceInput,
    maxResultSizeChars: 100_000,
    prompt: () => PROMPT,
    description: ({ server, uri }) => `Read ${uri} of ${server}`,
    isReadOnly: () => true,
    isConcurrencySafe: () => true,
    interruptBehavior: () => 'cancel',
    toAutoClassifierInput: ({ server, uri }) => `${uri} of ${server}`,
    call: async ({ server, uri }, { signal }) => ({ data: await services.mcp.readResource(server, uri, signal) }),
    mapToolResultToToolResultBlockParam: ({ content }: McpOutput, toolUseId) => ({
      type: 'tool_result',
      tool_use_id: toolUseId,
      content,
    }),
    getActivityDescription: ({ uri }) => `Reading ${uri ?? 'a resource'}`,
    renderToolUseMessage: renderRead,
    renderToolResultMessage: (output: McpOutput, _progress, { style }) => renderReadResult(output, style),
    renderToolUseRejectedMessage: (input, message) => renderReadError(message, input, 'warning'),
    renderToolUseErrorMessage: (message, input) => renderReadError(message, input, 'danger'),
  });
}
