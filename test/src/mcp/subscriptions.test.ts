/** Subscriptions to resources of servers in both revisions, and of servers that keep no promise. */
import { describe, expect, test } from 'vitest';
import { callTool, eventually, offeringServer, startServers } from '../../helpers/mcp-servers.ts';
import { modernOfferingServer } from '../../helpers/mcp-http.ts';

const signal = AbortSignal.timeout(60_000);

/** A subscriber that keeps what it is told of. */
function subscriber(id = 'one') {
  const updated: string[] = [];
  return { id, updated, onUpdated: (uri: string) => void updated.push(uri) };
}

/** The addresses that a server was asked about, by the method. */
async function asked(servers: ReturnType<typeof startServers>, method: string) {
  const { content } = await callTool(servers, 'mcp__notes__asked');
  const requests = JSON.parse(String(content)) as { method: string; uri?: string }[];
  return requests.filter((request) => request.method === method).map(({ uri }) => uri);
}

describe('in 2025-11-25', () => {
  test('a resource is subscribed to once, and until nobody wants it', async () => {
    const servers = startServers({ notes: offeringServer() });
    await servers.ready('notes', signal);
    const [one, two] = [subscriber('one'), subscriber('two')];
    servers.subscribe('notes', 'notes://one', one);
    servers.subscribe('notes', 'notes://one', two);
    await callTool(servers, 'mcp__notes__touch');
    expect([one.updated, two.updated]).toEqual([['notes://one'], ['notes://one']]);
    servers.endSubscriptions('one');
    expect(await asked(servers, 'resources/unsubscribe')).toEqual([]);
    servers.unsubscribe('notes', 'notes://one', 'two');
    await expect.poll(() => asked(servers, 'resources/unsubscribe')).toEqual(['notes://one']);
    expect(await asked(servers, 'resources/subscribe')).toEqual(['notes://one']);
  });

  test('resources are bounded for one subscriber, the oldest going first, and for a server', async () => {
    const servers = startServers({ notes: offeringServer() });
    await servers.ready('notes', signal);
    const one = subscriber();
    for (let index = 0; index < 70; index++) servers.subscribe('notes', `notes://${index}`, one);
    for (let index = 0; index < 300; index++)
      servers.subscribe('notes', `many://${index}`, subscriber(`many ${index}`));
    await callTool(servers, 'mcp__notes__touch', { uri: 'notes://5' });
    await callTool(servers, 'mcp__notes__touch', { uri: 'notes://6' });
    expect(one.updated).toEqual(['notes://6']);
    await expect.poll(async () => new Set(await asked(servers, 'resources/subscribe')).size).toBe(256 + 6);
  });

  test('one principal cannot keep the others from subscribing', async () => {
    const servers = startServers({ notes: offeringServer() });
    await servers.ready('notes', signal);
    const subscribers = (name: string, count: number) =>
      Array.from({ length: count }, (_, index) => {
        const one = subscriber(`${name} ${index}`);
        servers.subscribe('notes', `${name}://${index}`, one, name);
        return one;
      });
    const greedy = subscribers('greedy', 300);
    const modest = subscribers('modest', 300);
    const touched = async (name: string, of: readonly ReturnType<typeof subscriber>[], index: number) => {
      await callTool(servers, 'mcp__notes__touch', { uri: `${name}://${index}` });
      return of[index]?.updated.length;
    };
    // Each has its half: the greedy one lost its oldest, the other got no more.
    expect(await touched('greedy', greedy, 127)).toBe(0);
    expect(await touched('greedy', greedy, 128)).toBe(1);
    expect(await touched('modest', modest, 127)).toBe(1);
    expect(await touched('modest', modest, 128)).toBe(0);
  });

  test('many changes at once are told as few', async () => {
    const servers = startServers({ notes: offeringServer() });
    await servers.ready('notes', signal);
    const one = subscriber();
    servers.subscribe('notes', 'notes://one', one);
    await callTool(servers, 'mcp__notes__touch', { times: 1_000 });
    expect(one.updated).toHaveLength(1);
  });

  test('a server that never acknowledges holds up nothing', async () => {
    const servers = startServers({ notes: offeringServer('silent') });
    await servers.ready('notes', signal);
    const one = subscriber();
    servers.subscribe('notes', 'notes://one', one);
    await callTool(servers, 'mcp__notes__touch');
    expect(one.updated).toEqual(['notes://one']);
  });

  test('a server that was restarted is told again', async () => {
    const servers = startServers({ notes: offeringServer() });
    await servers.ready('notes', signal);
    servers.subscribe('notes', 'notes://one', subscriber());
    await callTool(servers, 'mcp__notes__asked');
    const [first] = servers.pids;
    process.kill(first ?? 0, 'SIGKILL');
    await eventually(() => servers.pids.length > 1);
    await servers.ready('notes', signal);
    await expect.poll(() => asked(servers, 'resources/subscribe')).toEqual(['notes://one']);
  });
});

describe('in 2026-07-28', () => {
  test('a stream listens to what is wanted, and another one when that changes', async () => {
    const { url, touch, listened } = await modernOfferingServer();
    const servers = startServers({ notes: { type: 'http', url } });
    await servers.ready('notes', signal);
    const one = subscriber();
    servers.subscribe('notes', 'notes://one', one);
    await eventually(() => listened.length === 1);
    servers.subscribe('notes', 'notes://two', one);
    await eventually(() => listened.length === 2);
    expect(listened).toEqual([['notes://one'], ['notes://one', 'notes://two']]);
    await eventually(() => {
      touch('notes://two');
      return one.updated.includes('notes://two');
    });
    expect(one.updated).not.toContain('notes://one');
    servers.endSubscriptions('one');
  });

  test('a server that never acknowledges a stream holds up nothing, and is asked again', async () => {
    const { url, listened } = await modernOfferingServer({ isSilent: true });
    const servers = startServers({ notes: { type: 'http', url } }, { mcpConnectMs: 300 });
    await servers.ready('notes', signal);
    servers.subscribe('notes', 'notes://one', subscriber());
    expect(await servers.listTemplates('notes', signal)).toHaveLength(1);
    await eventually(() => listened.length > 1);
    await servers.close();
  });

  test('instructions, prompts, templates and completions are read', async () => {
    const { url } = await modernOfferingServer();
    const servers = startServers({ notes: { type: 'http', url } });
    const offer = await eventually(() => servers.offers().find(({ prompts }) => prompts.length > 0));
    const [prompt] = offer.prompts;
    if (!prompt) throw new Error('No prompt');
    expect(offer.instructions).toBe('Be modern.');
    expect(await servers.getPrompt(prompt, { topic: 'tides' }, signal)).toEqual([
      { type: 'text', text: 'Explain tides' },
    ]);
    expect(await servers.listTemplates('notes', signal)).toMatchObject([{ uriTemplate: 'notes://{id}' }]);
    const request = { ref: { type: 'ref/prompt', name: 'explain' }, argument: { name: 'topic', value: 't' } } as const;
    expect((await servers.complete('notes', request, signal)).values).toEqual(['t-1', 't-2']);
  });
});
