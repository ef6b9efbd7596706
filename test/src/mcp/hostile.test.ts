/** Servers that mean harm: each loses its own connection or entry, and nobody waits for it. */
import { describe, expect, test } from 'vitest';
import { callTool, fixtureServer, startServers } from '../../helpers/mcp-servers.ts';

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
  test('of thousands of faults is one, which names the field', async () => {
    const servers = await start();
    await expect(callTool(servers, 'mcp__hostile__nulls', { count: 2_000_000 })).rejects.toMatchObject({
      code: 'tool_failed',
      message: expect.stringContaining('"content" of its answer has more than 10000 values'),
    });
  });
});
