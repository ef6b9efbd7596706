/** Real and hostile servers over standard input and output. */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { callTool, eventually, fixtureServer, packageServer, startServers } from '../../helpers/mcp-servers.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';

const signal = AbortSignal.timeout(60_000);
const folder = temporaryFolder();
const everything = packageServer('@modelcontextprotocol/server-everything/dist/index.js', 'stdio');

describe('a stdio server', () => {
  test('lends its tools under its own name and answers calls', async () => {
    const servers = startServers({ memory: packageServer('@modelcontextprotocol/server-memory/dist/index.js') });
    await servers.ready('memory', signal);

    const result = await callTool(servers, 'mcp__memory__read_graph');

    expect(result).toMatchObject({ type: 'tool_result', content: expect.stringContaining('entities') });
    const { length: toolCount } = servers.tools();
    expect(servers.states()).toMatchObject([{ name: 'memory', isRemote: false, state: 'connected', toolCount }]);
  });

  test('reads files where it is told to and says what it refuses', async () => {
    const servers = startServers({
      files: packageServer('@modelcontextprotocol/server-filesystem/dist/index.js', folder),
    });
    await servers.ready('files', signal);

    await callTool(servers, 'mcp__files__write_file', { path: `${folder}/note.txt`, content: 'kept' });
    const read = await callTool(servers, 'mcp__files__read_text_file', { path: `${folder}/note.txt` });

    expect(read.content).toBe('kept');
    await expect(callTool(servers, 'mcp__files__read_text_file', { path: '/etc/passwd' })).rejects.toMatchObject({
      code: 'tool_failed',
      message: expect.stringContaining('Access denied'),
    });
  });

  test('sends images, resources and links as blocks a model can read', async () => {
    const servers = startServers({ everything });
    await servers.ready('everything', signal);

    const image = await callTool(servers, 'mcp__everything__get-tiny-image');
    const links = await callTool(servers, 'mcp__everything__get-resource-links', { count: 2 });
    const resource = await callTool(servers, 'mcp__everything__get-resource-reference', {
      resourceType: 'Text',
      resourceId: 1,
    });

    expect(image.content).toContainEqual(expect.objectContaining({ type: 'image' }));
    expect(JSON.stringify(links.content)).toContain('demo://resource');
    expect(JSON.stringify(resource.content)).toContain('demo://resource');
  });

  test('tells its progress while it works', async () => {
    const servers = startServers({ everything });
    await servers.ready('everything', signal);
    const seen: object[] = [];

    const input = { duration: 0.2, steps: 2 };
    await callTool(servers, 'mcp__everything__trigger-long-running-operation', input, {
      onProgress: (data) => seen.push(data),
    });

    expect(seen).toContainEqual({ type: 'mcp', progress: 1, total: 2 });
  });

  test('tells the progress that arrives together with the answer', async () => {
    const servers = startServers({ hostile: fixtureServer() });
    await servers.ready('hostile', signal);
    const seen: object[] = [];

    await callTool(servers, 'mcp__hostile__progress', {}, { onProgress: (data) => seen.push(data) });

    expect(seen).toMatchObject([1, 2, 3].map((progress) => ({ type: 'mcp', progress, total: 3 })));
  });

  test('that falls silent is given up after its time, unless it makes progress', async () => {
    const servers = startServers({ everything, hostile: fixtureServer() }, { mcpCallIdleMs: 400 });
    await Promise.all([servers.ready('everything', signal), servers.ready('hostile', signal)]);

    const long = callTool(servers, 'mcp__everything__trigger-long-running-operation', { duration: 1, steps: 10 });
    await expect(callTool(servers, 'mcp__hostile__hang')).rejects.toMatchObject({ code: 'timeout' });
    await expect(long).resolves.toMatchObject({ content: expect.stringContaining('completed') });
  });
});

describe('a cancelled call', () => {
  test('ends at once and the server is told', async () => {
    const servers = startServers({ hostile: fixtureServer() });
    await servers.ready('hostile', signal);
    const cancel = new AbortController();

    const call = callTool(servers, 'mcp__hostile__hang', {}, { signal: cancel.signal });
    setImmediate(() => cancel.abort());

    await expect(call).rejects.toMatchObject({ code: 'cancelled' });
    const { content } = await callTool(servers, 'mcp__hostile__cancelled');
    expect(JSON.parse(content as string)).toHaveLength(1);
  });
});

describe('a server that ends in the middle of a call', () => {
  test('fails that call once, says so, and is there for the next', async () => {
    const servers = startServers({ hostile: fixtureServer() });
    await servers.ready('hostile', signal);
    const tools = servers.tools();

    await expect(callTool(servers, 'mcp__hostile__crash')).rejects.toMatchObject({
      code: 'tool_failed',
      message: expect.stringContaining('exited with code 7'),
    });

    expect(servers.tools()).toBe(tools);
    await expect(callTool(servers, 'mcp__hostile__echo', { back: true })).resolves.toMatchObject({
      content: '{"back":true}',
    });
    expect(servers.pids).toHaveLength(2);
  });

  test('fails every pending call when it is killed', async () => {
    const servers = startServers({ hostile: fixtureServer() });
    await servers.ready('hostile', signal);

    const calls = ['hang', 'hang', 'hang'].map((name) => callTool(servers, `mcp__hostile__${name}`));
    setImmediate(() => process.kill(servers.pids[0] ?? 0, 'SIGKILL'));

    const outcomes = await Promise.allSettled(calls);
    expect(outcomes.map((outcome) => outcome.status === 'rejected' && outcome.reason.code)).toEqual(
      Array(3).fill('tool_failed'),
    );
  });

  test('is cut off when one message grows too large', async () => {
    const servers = startServers({ hostile: fixtureServer() });
    await servers.ready('hostile', signal);

    await expect(callTool(servers, 'mcp__hostile__huge')).rejects.toMatchObject({
      code: 'tool_failed',
      message: expect.stringContaining('more than 10485760 bytes'),
    });
    await expect(callTool(servers, 'mcp__hostile__echo')).resolves.toMatchObject({ content: '{}' });
  });
});

describe('closing', () => {
  test('ends the servers and what they started', async () => {
    const servers = startServers({ hostile: fixtureServer() });
    await servers.ready('hostile', signal);
    const { content } = await callTool(servers, 'mcp__hostile__grandchild');

    await servers.close();

    for (const pid of [...servers.pids, Number(content)]) await eventually(() => isGone(pid));
  });

  test('leaves a call that waits for the server cancelled', async () => {
    const servers = startServers({ silent: fixtureServer('silent') });
    const waiting = servers.ready('silent', signal);
    await eventually(() => servers.pids.length === 1);

    await Promise.all([servers.close(), expect(waiting).rejects.toMatchObject({ code: 'cancelled' })]);
  });
});

/** Whether the process is gone; one that waits to be reaped is. */
function isGone(pid: number): boolean {
  try {
    return / Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return true;
  }
}
