/** McpAuth, in the words that the model and people read. The login itself: `test/src/mcp/authorization.test.ts`. */
import { describe, expect, test } from 'vitest';
import { mcpAuthTool } from '../../../tools/mcp/mcp-auth.ts';
import { listen } from '../../helpers/mcp-http.ts';
import { fixtureServer, startServers } from '../../helpers/mcp-servers.ts';
import { protectedServer } from '../../helpers/oauth-server.ts';
import { toolUseContextIn } from '../../helpers/tool-use-context.ts';

type McpAuth = ReturnType<typeof mcpAuthTool>;

async function run(tool: McpAuth, input: { server: string }) {
  const { data } = await tool.call(input, toolUseContextIn(process.cwd()));
  return { data, text: String(tool.mapToolResultToToolResultBlockParam(data, 'call-1').content) };
}

describe('McpAuth', () => {
  test('gives the address to open, to the model as text and to people as a link', async () => {
    const tool = mcpAuthTool({ mcp: startServers({ guarded: { type: 'http', url: await protectedServer() } }) });
    const { data, text } = await run(tool, { server: 'guarded' });
    expect(text).toMatch(/within 10 minutes, in a browser on the machine of this server:\nhttp:\S+\n/);
    expect(tool.renderToolResultMessage(data).blocks).toEqual([{ kind: 'link', href: data.url, text: data.url }]);
  });

  test('names what is wrong with the server', async () => {
    const tool = mcpAuthTool({ mcp: startServers({ open: fixtureServer() }) });
    await expect(run(tool, { server: 'open' })).rejects.toThrow('it is a program of this machine');
    await expect(run(tool, { server: 'missing' })).rejects.toThrow('those that are: "open"');
  });

  test('says that a server cannot be reached, and begins nothing there', async () => {
    const { url, stop } = await listen((_request, response) => void response.end());
    await stop();
    const tool = mcpAuthTool({ mcp: startServers({ gone: { type: 'http', url } }) });
    await expect(run(tool, { server: 'gone' })).rejects.toThrow('Cannot reach the MCP server "gone"');
  });

  test('is listed where a server has an address, connected or not', () => {
    const remote = { type: 'http', url: 'http://127.0.0.1:1/' } as const;
    expect(mcpAuthTool({ mcp: startServers({ remote }) }).isEnabled()).toBe(true);
    const without = mcpAuthTool({
      mcp: startServers({ off: { ...remote, disabled: true }, program: fixtureServer() }),
    });
    expect(without.isEnabled()).toBe(false);
    expect(without.disabledReason()).toContain('"mcpServers"');
  });

  test('draws an input that still streams in', () => {
    const tool = mcpAuthTool({ mcp: startServers({}) });
    expect(tool.renderToolUseMessage({}).title).toBe('Log in to …');
    expect(tool.renderToolUseErrorMessage('No', { server: 'a\u202eb' }).title).toContain('\\u{202e}');
  });
});
