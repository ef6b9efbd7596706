/** Connections that belong to one principal and session. */
import { describe, expect, test } from 'vitest';
import { createSampling } from '../../../src/mcp/sampling.ts';
import { modernServer } from '../../helpers/mcp-http.ts';
import { eventually, fixtureServer, packageServer, startServers } from '../../helpers/mcp-servers.ts';

const signal = AbortSignal.timeout(60_000);
const everything = packageServer('@modelcontextprotocol/server-everything/dist/index.js', 'stdio');
const owner = { principal: 'owner', sessionId: 's1' };
const text = ({ content }: { content: readonly object[] }) => JSON.stringify(content);

describe('a connection of one session', () => {
  test('declares what it is given handlers for, and passes the requests of the server on', async () => {
    const servers = startServers({ everything });
    const link = await servers.openOwned(
      'everything',
      owner,
      {
        elicit: (params) => Promise.resolve({ action: 'accept', content: { name: params.message } }),
        sample: () =>
          Promise.resolve({ role: 'assistant', model: 'tiny', content: { type: 'text', text: 'a sampled text' } }),
        listRoots: () => Promise.resolve([{ uri: 'file:///the-root' }]),
      },
      signal,
    );

    const elicited = await link.client.callTool({ name: 'trigger-elicitation-request', arguments: {} });
    const sampled = await link.client.callTool({ name: 'trigger-sampling-request', arguments: { prompt: 'hi' } });
    const roots = await link.client.callTool({ name: 'get-roots-list', arguments: {} });

    expect(text(elicited)).toContain('Please provide inputs');
    expect(text(sampled)).toContain('a sampled text');
    expect(text(roots)).toContain('file:///the-root');
    await link.close();
    await expect(link.closed).resolves.toContain('the connection was closed');
  });

  test('without handlers declares nothing', async () => {
    const servers = startServers({ everything });
    const link = await servers.openOwned('everything', owner, {}, signal);
    const names = (await link.client.listTools()).tools.map(({ name }) => name);
    expect(names).not.toContain('trigger-elicitation-request');
    expect(names).not.toContain('get-roots-list');
  });

  test('tells of lists that change, in the newer era too', async () => {
    const { url, grow } = await modernServer();
    const servers = startServers({ web: { type: 'http', url } });
    const changed: string[] = [];
    await servers.openOwned('web', owner, { onListChanged: (kind) => changed.push(kind) }, signal);
    await eventually(() => changed.length === 1);
    grow();
    await eventually(() => changed.length === 2);
    expect(new Set(changed)).toEqual(new Set(['tools']));
  });

  test('is one of a bounded number of its principal, and makes room when it is closed', async () => {
    const { url } = await modernServer();
    const servers = startServers({ web: { type: 'http', url } });
    const open = () => servers.openOwned('web', owner, {}, signal);
    const links = await Promise.all(Array.from({ length: 64 }, open));
    await expect(open()).rejects.toMatchObject({ code: 'rate_limited' });
    await expect(servers.openOwned('web', { ...owner, principal: 'other' }, {}, signal)).resolves.toBeDefined();
    await links[0]?.close();
    await expect(open()).resolves.toBeDefined();
  });

  test('that cannot be opened says why', async () => {
    const servers = startServers({ broken: fixtureServer('crash-at-start') });
    await expect(servers.openOwned('broken', owner, {}, signal)).rejects.toMatchObject({
      code: 'tool_failed',
      message: expect.stringContaining('cannot find my configuration'),
    });
    await expect(servers.openOwned('none', owner, {}, signal)).rejects.toMatchObject({ code: 'not_found' });
  });
});

test('a prompt whose end hidden characters would push out of sight is refused', async () => {
  const reply = () => Promise.resolve({ text: '', isCut: false });
  const sample = createSampling({ name: 'tiny', maxTokens: 10, reply });
  const ask = () => Promise.resolve({ behavior: 'allow' } as const);
  const content = { type: 'text', text: `${'\u200b'.repeat(30_000)}the end` } as const;
  const params = { messages: [{ role: 'user', content }], maxTokens: 1 } as const;
  const asking = sample({ ...params, messages: [...params.messages] }, { server: 's', input: {}, ask, signal }, signal);
  await expect(asking).rejects.toThrow('the prompt has more than 65536 characters');
});
