/** Real servers over standard input and output. */
import { describe, expect, test } from 'vitest';
import { allowEverything, parentMessage, toolUseContextIn } from '../../helpers/tool-use-context.ts';
import { packageServer, startServers } from '../../helpers/mcp-servers.ts';

const signal = AbortSignal.timeout(15_000);

describe('a stdio server', () => {
  test('lends its tools under its own name and answers calls', async () => {
    const servers = startServers({ memory: packageServer('@modelcontextprotocol/server-memory/dist/index.js') });
    await servers.ready('memory', signal);
    const tool = servers.tools().find(({ name }) => name === 'mcp__memory__read_graph');
    const context = toolUseContextIn(process.cwd());
    const { data } = await tool!.call({}, context, allowEverything, parentMessage);

    expect(tool!.mapToolResultToToolResultBlockParam(data, 'call-1')).toMatchObject({
      type: 'tool_result',
      tool_use_id: 'call-1',
      content: expect.stringContaining('entities'),
    });
    expect(servers.states()).toEqual([{ name: 'memory', state: 'connected', toolCount: servers.tools().length }]);
  });
});
