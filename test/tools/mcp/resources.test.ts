/** The resource tools on a real server. */
import { describe, expect, test } from 'vitest';
import { mcpTools } from '../../../tools/mcp/index.ts';
import type { Tool } from '../../../src/tool/tool.ts';
import { fixtureServer, packageServer, startServers } from '../../helpers/mcp-servers.ts';
import { allowEverything, parentMessage, toolUseContextIn } from '../../helpers/tool-use-context.ts';

const signal = AbortSignal.timeout(60_000);
const everything = packageServer('@modelcontextprotocol/server-everything/dist/index.js', 'stdio');

/** Run a tool and map its result. */
async function run(tool: Tool | undefined, input: Record<string, unknown>) {
  if (tool === undefined) throw new Error('No such tool');
  const context = toolUseContextIn(process.cwd());
  const { data } = await tool.call(tool.inputSchema.parse(input), context, allowEverything, parentMessage);
  return { data, result: tool.mapToolResultToToolResultBlockParam(data, 'call-1') };
}

describe('resources of MCP servers', () => {
  test('are listed and read', async () => {
    const servers = startServers({ everything, bare: fixtureServer() });
    await Promise.all(['everything', 'bare'].map((name) => servers.ready(name, signal)));
    const [list, read] = mcpTools({ mcp: servers }) as readonly Tool[];

    const listed = await run(list, {});
    const [first] = String(listed.result.content).split('\n');
    const { server, uri } = JSON.parse(first ?? '') as { server: string; uri: string };
    const resource = await run(read, { server, uri });

    expect(server).toBe('everything');
    expect(JSON.stringify(resource.result.content)).toContain(uri);
    expect(list?.renderToolResultMessage?.(listed.data, [], {}).blocks[0]?.kind).toBe('table');
    expect(read?.renderToolResultMessage?.(resource.data, [], { style: 'condensed' }).tone).toBe('success');
  });

  test('of a server that has none are none', async () => {
    const servers = startServers({ bare: fixtureServer() });
    await servers.ready('bare', signal);
    const [list] = mcpTools({ mcp: servers }) as readonly Tool[];

    expect((await run(list, { server: 'bare' })).result.content).toBe('No connected MCP server offers resources');
    await expect(run(list, { server: 'missing' })).rejects.toMatchObject({
      code: 'not_found',
      message: 'No MCP server "missing" is configured and enabled; those that are: "bare"',
    });
  });

  test('are enabled without a server too, so that none that comes or goes moves the prefix', () => {
    const [list, read] = mcpTools({ mcp: startServers({}) });
    for (const tool of [list, read]) expect(tool?.isEnabled({})).toBe(true);
  });
});
