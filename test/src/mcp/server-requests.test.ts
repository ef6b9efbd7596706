/** Requests and logs of servers while a call of a session runs, and how much of them is taken. */
import { describe, expect, test } from 'vitest';
import { createSampling } from '../../../src/mcp/sampling.ts';
import { SessionLinks } from '../../../src/mcp/session-links.ts';
import type { ToolUseContext } from '../../../src/tool/tool.ts';
import { modernServer } from '../../helpers/mcp-http.ts';
import { eventually, fixtureServer, type RunningConnections, startServers } from '../../helpers/mcp-servers.ts';
import { allowEverything, parentMessage, toolUseContextIn } from '../../helpers/tool-use-context.ts';

const signal = AbortSignal.timeout(60_000);

async function callIn(servers: RunningConnections, name: string, input: object, changes: Partial<ToolUseContext>) {
  const tool = servers.tools().find((each) => each.name === name);
  const context = toolUseContextIn(process.cwd(), changes);
  const result = await tool?.call({ ...input }, context, allowEverything, parentMessage);
  return result?.data as { content: readonly { text: string }[] } | undefined;
}

describe('a server of 2026-07-28 that answers with what it needs first', () => {
  test('gets it from the person of the session, and is called again', async () => {
    const { url } = await modernServer();
    const servers = startServers({ web: { type: 'http', url } });
    await servers.ready('web', signal);
    const asked: string[] = [];
    const data = await callIn(
      servers,
      'mcp__web__ask',
      {},
      {
        ask: (question) => {
          asked.push(question.description);
          return Promise.resolve({ behavior: 'allow', updatedInput: { answers: { which: 'the other' } } });
        },
      },
    );
    expect(asked).toEqual(['Which one?']);
    expect(data?.content).toEqual([{ type: 'text', text: 'chose the other' }]);
  });
});

describe('a server that logs during a call', () => {
  test('tells the session, and not without end', async () => {
    const servers = startServers({ own: fixtureServer() });
    await servers.ready('own', signal);
    const notices: unknown[] = [];
    const notify: ToolUseContext['notify'] = (...words) => void notices.push(words);
    await callIn(servers, 'mcp__own__logs', { count: 1 }, { notify });
    expect(notices).toEqual([['warning', 'mcp_log', 'MCP server "own" (disk): log 1']]);
    await callIn(servers, 'mcp__own__logs', { count: 100 }, { notify });
    expect(notices).toHaveLength(20);
  });
});

describe('a server that asks for messages of a model', () => {
  test('gets ten in a minute', async () => {
    const reply = () => Promise.resolve({ text: 'words', isCut: false });
    const sample = createSampling({ name: 'tiny', maxTokens: 10, reply });
    const ask = () => Promise.resolve({ behavior: 'allow' } as const);
    const content = { type: 'text', text: 'a prompt' } as const;
    const next = () =>
      sample({ messages: [{ role: 'user', content }], maxTokens: 1 }, { server: 's', input: {}, ask, signal }, signal);
    for (let count = 0; count < 10; count++) await expect(next()).resolves.toMatchObject({ model: 'tiny' });
    await expect(next()).rejects.toThrow('at most 10 requests a minute');
  });
});

describe('a connection of a session', () => {
  test('is closed when it was not used for a while, and not during a call', async () => {
    const servers = startServers({ own: fixtureServer() });
    await servers.ready('own', signal);
    const opened: Awaited<ReturnType<RunningConnections['openOwned']>>[] = [];
    const links = new SessionLinks(
      {
        server: 'own',
        mask: (text) => text,
        async open(sessionId, handlers) {
          const link = await servers.openOwned('own', { principal: 'owner', sessionId }, handlers, signal);
          opened.push(link);
          return link;
        },
      },
      50,
    );
    const during = (sessionId: string, work: () => Promise<void>) => {
      const context = toolUseContextIn(process.cwd(), { sessionId });
      return links.during({ context, input: {}, whilePaused: (paused) => paused() }, work);
    };
    let release: () => void = () => undefined;
    const long = during('held', () => new Promise<void>((resolve) => (release = resolve)));
    await during('held', () => Promise.resolve());
    // Twice the idle time, measured by other connections.
    for (const sessionId of ['one', 'other']) {
      await during(sessionId, () => Promise.resolve());
      await opened.at(-1)?.closed;
    }
    expect(opened).toHaveLength(3);
    expect(opened[0]?.endReason()).toBeUndefined();
    release();
    await long;
    await eventually(() => opened[0]?.endReason() !== undefined);
  });
});
