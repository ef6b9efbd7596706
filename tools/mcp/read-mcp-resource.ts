/** ReadMcpResourceTool: reads one resource of an MCP server. */
import * as z from 'zod';
import type { McpOutput } from '../../src/mcp/call-result.ts';
import { resourceReader } from '../../src/mcp/resource-reader.ts';
import { visibleLine, visibleText } from '../../src/mcp/visible-text.ts';
import { TOOL_ALIASES } from '../../src/permissions/rule-names.ts';
import { buildTool } from '../../src/tool/build-tool.ts';
import { resultText } from '../../src/wire/result-text.ts';
import type { Display, DisplayBlock } from '../../src/wire/display.ts';
import { checkVisible, type McpToolServices } from './services.ts';

/** Name of the tool. */
export const RESOURCE_TOOL = 'ReadMcpResourceTool';

/** Upper bound of the characters displayed of one resource; the result contains all of it. */
const SHOWN_CHARS = 4_000;

const CONDENSED_CHARS = 200;

const TITLE_CHARS = 300;

const ReadMcpResourceInput = z.strictObject({
  server: z.string().min(1).describe('The server that offers the resource'),
  uri: z
    .string()
    .min(1)
    .max(8_000)
    .describe('The address of the resource, as the server lists it, or by one of its templates'),
});

const PROMPT = `Reads one resource of an MCP server.

- \`server\` and \`uri\` are those that ListMcpResourcesTool lists; a \`uriTemplate\` becomes a \`uri\` when you fill in what stands in its braces.
- Text, images and PDFs are shown; anything else is named with its type and size.`;

/** Create ReadMcpResourceTool. */
export function readMcpResourceTool(services: McpToolServices) {
  return buildTool({
    name: RESOURCE_TOOL,
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
    validateInput: ({ server }, context) => checkVisible(server, context),
    toAutoClassifierInput: ({ server, uri }) => `${uri} of ${server}`,
    async call({ server, uri }, { signal, principal, sessionId, rootSessionId, notify }) {
      const { whole, ...data } = await services.mcp.readResource(server, uri, signal, principal, rootSessionId);
      services.mcp.subscribe(server, uri, resourceReader(server, sessionId, notify), principal, rootSessionId);
      return { data, ...(whole && { mcpResult: whole }) };
    },
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

/** Display the request; either part may be missing. */
function renderRead({ server = '…', uri = '…' }: { readonly server?: string; readonly uri?: string }): Display {
  return { title: visibleLine(`Read ${uri} of ${server}`, TITLE_CHARS), blocks: [] };
}

/** Display the result: its images and its text, shortened. */
function renderReadResult({ content }: McpOutput, style?: 'condensed'): Display {
  const images = content.flatMap((block): DisplayBlock[] =>
    block.type === 'image' ? [{ kind: 'image', media_type: block.source.media_type, data: block.source.data }] : [],
  );
  const text = visibleText(resultText(content), style === 'condensed' ? CONDENSED_CHARS : SHOWN_CHARS);
  return {
    title: 'Resource read',
    tone: 'success',
    blocks: [...(text === '' ? [] : [{ kind: 'text' as const, text }]), ...(style === 'condensed' ? [] : images)],
  };
}

/** Display a call that was denied or failed. */
function renderReadError(
  message: string,
  input: { readonly server?: string; readonly uri?: string },
  tone: 'warning' | 'danger',
): Display {
  return { ...renderRead(input), tone, blocks: [{ kind: 'text', text: message }] };
}
