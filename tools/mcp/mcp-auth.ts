/** McpAuth: begins the OAuth authorization at an MCP server, which a person finishes in a browser. */
import * as z from 'zod';
import { showText, showValue } from '../../src/base/hidden-characters.ts';
import { buildTool } from '../../src/tool/build-tool.ts';
import type { Display } from '../../src/wire/display.ts';
import type { McpToolServices } from './services.ts';

const McpAuthInput = z.strictObject({
  server: z.string().min(1).max(200).describe('The MCP server, by its name in the settings'),
});

const PROMPT = `Begins the login at an MCP server that wants one (OAuth), and answers with the address that the person opens in a browser.

- Use it when the person asks for the tools of an MCP server that needs an authorization, or wants to log in there with another account.
- Give the address to the person exactly as it is. Do not open it yourself: logging in is up to the person.
- When the person has finished, the server connects and its tools appear in the list. Until then, do not call this tool again for the same server: a new address makes the old one useless.
- The login counts for this user only, and is renewed by itself.`;

/** Result of a call. */
interface McpAuthOutput {
  readonly server: string;
  /** Address to open; absent if the server is connected and wants no login. */
  readonly url?: string;
}

/** Create McpAuth. */
export function mcpAuthTool({ mcp }: McpToolServices) {
  return buildTool({
    name: 'McpAuth',
    searchHint: 'log in to an MCP server with OAuth',
    shouldDefer: true,
    isEnabled: ({ principal, home } = {}) =>
      mcp.states(principal, home?.rootId).some(({ state, isRemote }) => isRemote && state !== 'disabled'),
    disabledReason: () => 'no MCP server has an address: name one with "url" in the setting "mcpServers"',
    inputSchema: McpAuthInput,
    maxResultSizeChars: 10_000,
    prompt: () => PROMPT,
    description: ({ server }) => `Begin a login at the MCP server "${showText(server)}"`,
    interruptBehavior: () => 'cancel',
    async call({ server }, { signal, principal, rootSessionId }) {
      const url = await mcp.authorize(server, principal, signal, rootSessionId);
      return { data: { server, ...(url !== undefined && { url }) } };
    },
    mapToolResultToToolResultBlockParam: (output: McpAuthOutput, toolUseId) => ({
      type: 'tool_result',
      tool_use_id: toolUseId,
      content: resultText(output),
    }),
    getActivityDescription: ({ server }) => `Beginning a login at ${showValue(server, '…')}`,
    renderToolUseMessage: ({ server }) => ({ title: `Log in to ${showValue(server, '…')}`, blocks: [] }),
    renderToolResultMessage: renderResult,
    renderToolUseRejectedMessage: ({ server }, message) => renderFailure(server, message, 'warning'),
    renderToolUseErrorMessage: (message, { server }) => renderFailure(server, message, 'danger'),
  });
}

/** Result text for the model. */
function resultText({ server, url }: McpAuthOutput): string {
  if (url === undefined) return `"${server}" is connected and wants no login.`;
  return `To log in to "${server}", the person opens this address within 10 minutes${whereOf(url)}:\n${url}\nWhen that is done, the tools of "${server}" appear in the list.`;
}

/** A browser elsewhere would come back to its own machine. */
function whereOf(url: string): string {
  const callback = new URL(url).searchParams.get('redirect_uri');
  const isLocal = callback !== null && /^http:\/\/(127\.|localhost[:/]|\[::1\])/.test(callback);
  return isLocal ? ', in a browser on the machine of this server' : '';
}

function renderResult({ server, url }: McpAuthOutput): Display {
  if (url === undefined) return { title: `${showText(server)} wants no login`, tone: 'success', blocks: [] };
  return { title: `Log in to ${showText(server)}`, tone: 'info', blocks: [{ kind: 'link', href: url, text: url }] };
}

/** Display of a rejection or an error. */
function renderFailure(server: unknown, message: string, tone: 'warning' | 'danger'): Display {
  return { title: `No login at ${showValue(server, '…')}`, tone, blocks: [{ kind: 'text', text: message }] };
}
