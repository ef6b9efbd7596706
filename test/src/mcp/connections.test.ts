/** What the list of tools does while servers start, fail, change and misbehave. */
import { describe, expect, test } from 'vitest';
import { callTool, eventually, fixtureServer, packageServer, startServers } from '../../helpers/mcp-servers.ts';
import { toolUseContextIn } from '../../helpers/tool-use-context.ts';

const signal = AbortSignal.timeout(60_000);
const context = toolUseContextIn(process.cwd());

describe('the list of MCP tools', () => {
  test('is there at once and fills while servers connect', async () => {
    const servers = startServers({ slow: fixtureServer('slow=300'), quick: fixtureServer() });

    expect(servers.tools()).toEqual([]);
    expect(servers.states().map(({ state }) => state)).toEqual(['connecting', 'connecting']);

    await servers.ready('quick', signal);
    expect(servers.states()[0]).toMatchObject({ name: 'slow', state: 'connecting' });
    await servers.ready('slow', signal);
    expect(new Set(servers.tools().map(({ origin }) => origin?.name))).toEqual(new Set(['slow', 'quick']));
  });

  test('is the same list until something changes', async () => {
    const servers = startServers({ hostile: fixtureServer() });
    await servers.ready('hostile', signal);
    const before = servers.tools();
    expect(servers.tools()).toBe(before);

    await callTool(servers, 'mcp__hostile__change');
    await eventually(() => servers.tools() !== before);

    const kept = servers.tools().filter((tool) => before.includes(tool));
    expect(kept).toHaveLength(before.length - 1);
    expect(servers.changes()).toBe(2);
  });

  test('follows a real server that lists more once it knows its client', async () => {
    const servers = startServers({
      everything: packageServer('@modelcontextprotocol/server-everything/dist/index.js', 'stdio'),
    });
    await servers.ready('everything', signal);

    const names = servers.tools().map(({ name }) => name);
    expect(names).toContain('mcp__everything__echo');
    expect(new Set(names).size).toBe(names.length);
  });

  test('takes ten thousand tools for as many as it has room for', async () => {
    const servers = startServers({ many: fixtureServer('many=10000') });
    await servers.ready('many', signal);

    expect(servers.tools()).toHaveLength(2_000);
    expect(servers.notices).toContainEqual(expect.objectContaining({ code: 'mcp_tools_left_out' }));
  });
});

describe('a server that cannot be used', () => {
  test.each([
    ['ends at its start', fixtureServer('crash-at-start'), 'cannot find my configuration'],
    ['does not exist', { command: '/nonexistent/server' }, 'Cannot start "/nonexistent/server"'],
    ['never answers', fixtureServer('silent'), 'it was not ready within 1000 ms'],
  ])('is failed with its reason when it %s', async (_case, settings, reason) => {
    const servers = startServers({ bad: settings, good: fixtureServer() }, { mcpConnectMs: 1_000, maxFailures: 0 });

    await expect(servers.ready('bad', signal)).rejects.toMatchObject({ code: 'tool_failed' });

    expect(servers.states()[0]).toMatchObject({
      state: 'failed',
      reason: expect.stringContaining(reason),
      toolCount: 0,
    });
    expect(servers.notices).toContainEqual(expect.objectContaining({ code: 'mcp_failed' }));
    await servers.ready('good', signal);
    await expect(callTool(servers, 'mcp__good__echo')).resolves.toMatchObject({ content: '{}' });
  });

  test('is tried again ever more slowly, then left alone until someone asks', async () => {
    const servers = startServers({ bad: fixtureServer('crash-at-start') }, { maxFailures: 2, firstMs: 1 });
    await eventually(() => servers.pids.length === 3 && servers.states()[0]?.state === 'failed');

    await expect(servers.ready('bad', signal)).rejects.toMatchObject({ code: 'tool_failed' });
    expect(servers.pids).toHaveLength(4);
    expect(servers.notices).toHaveLength(1);
  });

  test('is never started while it is disabled', async () => {
    const servers = startServers({ off: { ...fixtureServer(), disabled: true } });

    const since = expect.any(String);
    expect(servers.states()).toEqual([{ name: 'off', isRemote: false, state: 'disabled', since, toolCount: 0 }]);
    await expect(servers.ready('off', signal)).rejects.toMatchObject({ code: 'not_found' });
    await expect(servers.reconnect('off', 'owner', true, signal)).rejects.toMatchObject({ code: 'conflict' });
    expect(servers.pids).toEqual([]);
  });
});

describe('connecting again', () => {
  test('replaces a connection that works, at once, and as often as it is asked for', async () => {
    const servers = startServers({ one: fixtureServer() }, { firstMs: 60_000, maxFailures: 0 });
    await servers.ready('one', signal);
    const [before] = servers.states();
    for (let count = 0; count < 3; count++) await servers.reconnect('one', 'owner', true, signal);
    expect(servers.pids).toHaveLength(4);
    const [after] = servers.states();
    expect(after).toMatchObject({ state: 'connected', latencyMs: expect.any(Number) });
    expect(Date.parse(after?.since ?? '')).toBeGreaterThan(Date.parse(before?.since ?? ''));
    await expect(callTool(servers, 'mcp__one__echo')).resolves.toMatchObject({ content: '{}' });
  });

  test('asked for by several at once happens once', async () => {
    const servers = startServers({ one: fixtureServer() });
    await servers.ready('one', signal);
    await Promise.all([1, 2, 3].map(() => servers.reconnect('one', 'owner', true, signal)));
    expect(servers.pids).toHaveLength(2);
  });

  test('by one of those who share a connection does not end it', async () => {
    const servers = startServers({ one: fixtureServer() });
    await servers.ready('one', signal);
    await servers.reconnect('one', 'other', false, signal);
    expect(servers.pids).toHaveLength(1);
  });

  test('tries a server that was given up, and tells its reason without secrets', async () => {
    const settings = { ...fixtureServer('crash-at-start'), env: { API_KEY: 'cannot find my configuration' } };
    const servers = startServers({ bad: settings }, { maxFailures: 0 });
    await eventually(() => servers.states()[0]?.state === 'failed');
    await expect(servers.reconnect('bad', 'other', false, signal)).rejects.toMatchObject({ code: 'tool_failed' });
    expect(servers.pids).toHaveLength(2);
    expect(servers.states()[0]?.reason).toContain('[hidden]');
    expect(servers.states()[0]?.latencyMs).toBeUndefined();
  });
});

describe('a server that misbehaves', () => {
  test('may print what it likes beside its messages', async () => {
    const servers = startServers({ loud: fixtureServer('garbage') });
    await servers.ready('loud', signal);

    await callTool(servers, 'mcp__loud__flood');
    await callTool(servers, 'mcp__loud__answer-oddly');
    await expect(callTool(servers, 'mcp__loud__echo', { a: 1 })).resolves.toMatchObject({ content: '{"a":1}' });
  });

  test('loses its malformed tools and keeps the others', async () => {
    const servers = startServers({ bad: fixtureServer('bad-tools') });
    await servers.ready('bad', signal);
    const names = servers.tools().map(({ name }) => name);

    expect(names.every((name) => /^mcp__bad__[A-Za-z0-9_-]{1,55}$/.test(name))).toBe(true);
    expect(names).toEqual(
      expect.arrayContaining(['mcp__bad__echo', 'mcp__bad__Bash', expect.stringMatching(/__proto___/)]),
    );
    expect(names.some((name) => /round|no-schema|deep_|schema-of/.test(name))).toBe(false);
    const notice = servers.notices.find(({ code }) => code === 'mcp_tools_left_out');
    expect(notice?.message).toContain('"echo" (sent twice)');
  });

  test('hides no characters from the person who is asked', async () => {
    const servers = startServers({ bad: fixtureServer('bad-tools') });
    await servers.ready('bad', signal);
    const tool = servers.tools().find(({ name }) => name.startsWith('mcp__bad__gr__'));

    expect(tool?.prompt({ toolNames: [] })).toBe('hid\\u{200b}den \\u{e0041}');
    expect(tool?.description({}, { toolNames: [] })).toContain('größe \\u{202e}');
  });

  test('reaches no prototype and no stack with what it answers', async () => {
    const servers = startServers({ hostile: fixtureServer() });
    await servers.ready('hostile', signal);

    const result = await callTool(servers, 'mcp__hostile__proto');
    expect(JSON.stringify(result)).toContain('mine');
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
    const deep = callTool(servers, 'mcp__hostile__deep', {}, { signal: AbortSignal.timeout(500) });
    await expect(deep).rejects.toMatchObject({ code: 'tool_failed' });
  });

  test('is handed the allow-listed environment and its own, no more', async () => {
    process.env['GAUNTLET_TEST_SECRET'] = 'canary';
    const servers = startServers({ hostile: { ...fixtureServer(), env: { ITS_KEY: 'its own' } } });
    await servers.ready('hostile', signal);

    const { content } = await callTool(servers, 'mcp__hostile__environment');
    expect(content).toContain('its own');
    expect(content).not.toContain('canary');
  });
});

describe('a tool that changed after it was seen', () => {
  test('is asked about in every mode until it was let through once', async () => {
    const servers = startServers({ hostile: fixtureServer() });
    await servers.ready('hostile', signal);
    const echo = () => servers.tools().find(({ name }) => name === 'mcp__hostile__echo');
    const before = echo();
    expect(await before?.checkPermissions({}, context)).toEqual({ behavior: 'allow' });

    await callTool(servers, 'mcp__hostile__change');
    await eventually(() => echo() !== before);

    expect(servers.notices).toContainEqual(expect.objectContaining({ code: 'mcp_tool_changed' }));
    expect(await echo()?.checkPermissions({}, context)).toMatchObject({ behavior: 'ask', isSafetyCheck: true });
    await callTool(servers, 'mcp__hostile__echo');
    expect(await echo()?.checkPermissions({}, context)).toEqual({ behavior: 'allow' });
  });
});
