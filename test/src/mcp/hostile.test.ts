/** Servers that mean harm: each loses its own connection or entry, and nobody waits for it. */
import { json } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { listen } from '../../helpers/mcp-http.ts';
import { callTool, eventually, fixtureServer, startServers } from '../../helpers/mcp-servers.ts';

const signal = AbortSignal.timeout(60_000);

async function start(...moods: string[]) {
  const servers = startServers({ hostile: fixtureServer(...moods) });
  await servers.ready('hostile', signal);
  return servers;
}

describe('a server loses its connection', () => {
  test('with a batch of so many messages that nothing else would run', async () => {
    const servers = await start();
    await expect(callTool(servers, 'mcp__hostile__batch')).rejects.toMatchObject({
      code: 'tool_failed',
      message: expect.stringContaining('it sent a batch of more than 1000 messages'),
    });
    expect(await callTool(servers, 'mcp__hostile__echo', { back: true })).toMatchObject({ content: '{"back":true}' });
  });

  test('when it asks and asks without reading the answers', async () => {
    const servers = await start();
    await expect(callTool(servers, 'mcp__hostile__deaf')).rejects.toMatchObject({
      code: 'tool_failed',
      message: expect.stringMatching(/it has not read \d+ characters of answers/),
    });
  });
});

describe('a list of tools', () => {
  test('is bounded in its length as a whole', async () => {
    const servers = await start('endless=900000');
    expect(servers.tools()).toHaveLength(18);
    expect(servers.notices).toEqual([
      { code: 'mcp_tools_left_out', message: expect.stringContaining('Only the first 16777216 characters') },
    ]);
  });
});

describe('an answer', () => {
  test('of a million faults, or levels, is one, which names the field', async () => {
    const servers = await start();
    await expect(callTool(servers, 'mcp__hostile__nulls', { count: 2_000_000 })).rejects.toMatchObject({
      code: 'tool_failed',
      message: expect.stringContaining('Its answer is refused: "content" has more than 10000 values'),
    });
    await expect(callTool(servers, 'mcp__hostile__abyss')).rejects.toMatchObject({
      code: 'tool_failed',
      message: expect.stringContaining('"structuredContent" is nested deeper than 1000 levels'),
    });
  });
});

test('a server whose tools change back and forth tells of few changes', async () => {
  const servers = await start();
  for (const to of ['a', 'b', 'c', 'd']) {
    const before = servers.changes();
    await callTool(servers, 'mcp__hostile__turn', { to });
    await eventually(() => servers.changes() > before);
  }
  expect(servers.notices).toHaveLength(30);
});

describe('a task', () => {
  test('is followed by the id that it was given, whatever its status names', async () => {
    const servers = await start();
    expect(await callTool(servers, 'mcp__hostile__task')).toMatchObject({ content: 'result of mine after mine,mine' });
  });

  test('that cannot be followed is cancelled at the server', async () => {
    const servers = await start();
    await expect(callTool(servers, 'mcp__hostile__lost-task')).rejects.toMatchObject({
      code: 'tool_failed',
      message: expect.stringContaining('status: Invalid option'),
    });
    expect(await callTool(servers, 'mcp__hostile__cancelled')).toMatchObject({ content: '["lost"]' });
  });
});

test('a malformed entry of a list takes no other with it in 2026-07-28', async () => {
  const inputSchema = { type: 'object' };
  const results: Record<string, object> = {
    'server/discover': { supportedVersions: ['2026-07-28'], capabilities: { tools: {}, prompts: {} } },
    'tools/list': { tools: [{ name: 'good', inputSchema }, null, { name: 7 }, { name: 'bad', inputSchema: [] }] },
    'prompts/list': { prompts: [{ name: 'well' }, null, { name: {} }] },
  };
  const { url } = await listen(async (request, response) => {
    const { id, method } = (await json(request)) as { id?: number; method: string };
    const cache = { ttlMs: 0, cacheScope: 'private' };
    const meta = { 'io.modelcontextprotocol/serverInfo': { name: 'odd', version: '1' } };
    const result = { resultType: 'complete', ...cache, _meta: meta, ...results[method] };
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ jsonrpc: '2.0', id, result }));
  });
  const servers = startServers({ odd: { type: 'http', url } });
  await servers.ready('odd', signal);
  expect(servers.tools().map(({ name }) => name)).toEqual(['mcp__odd__good']);
  const offer = await eventually(() => servers.offers().find(({ prompts }) => prompts.length > 0));
  expect(offer.prompts.map(({ name }) => name)).toEqual(['mcp__odd__well']);
});
