import type { Server } from '@modelcontextprotocol/server';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type McpSession, McpSessions, MAX_PRINCIPAL_SESSIONS } from '../../../routes/mcp/mcp-sessions.ts';
import { until } from '../../helpers/wire-client.ts';

function sessionsOf(idleMs?: number) {
  const sessions = new McpSessions(idleMs);
  onTestFinished(() => sessions.close());
  const ended: string[] = [];
  function begin(id: string, principal = 'owner'): McpSession {
    sessions.makeRoom(principal);
    const server = { close: () => Promise.resolve(void ended.push(id)) } as unknown as Server;
    const session: McpSession = { id, principal, address: '/mcp', server, transport: undefined as never };
    sessions.add(session);
    return session;
  }
  const beginMany = (count: number, principal?: string) =>
    Array.from({ length: count }, (_, index) => begin(`${principal ?? ''}${index}`, principal));
  return { sessions, ended, begin, beginMany };
}

/** Keep a request of a session open. @returns A function that ends it. */
function occupy(sessions: McpSessions, session: McpSession): () => Promise<void> {
  let release: () => void = () => undefined;
  const used = sessions.use(session, () => new Promise<void>((resolve) => (release = resolve)));
  return () => {
    release();
    return used;
  };
}

describe('MCP sessions', () => {
  it('end when nobody uses them, and not while a request is open', async () => {
    const { sessions, ended, begin } = sessionsOf(20);
    const held = begin('held');
    const release = occupy(sessions, held);
    begin('idle');
    await until(() => Promise.resolve(ended.length > 0));
    expect(ended).toEqual(['idle']);
    expect(sessions.find('held', 'owner', '/mcp')).toBe(held);
    await release();
    await until(() => Promise.resolve(ended.includes('held')));
    expect(sessions.size).toBe(0);
  });

  it('of one principal are bounded: the one unused for longest makes room', async () => {
    const { sessions, ended, begin, beginMany } = sessionsOf();
    const [first] = beginMany(MAX_PRINCIPAL_SESSIONS);
    begin('of another', 'other');
    expect(ended).toEqual([]);
    if (first) await sessions.use(first, () => Promise.resolve());
    begin('one more');
    expect(ended).toEqual(['1']);
  });

  it('that are all in use make no room', () => {
    const { sessions, ended, begin, beginMany } = sessionsOf();
    for (const session of beginMany(MAX_PRINCIPAL_SESSIONS)) void occupy(sessions, session);
    const details = { reason: 'mcp_sessions' };
    expect(() => begin('one more')).toThrow(expect.objectContaining({ code: 'rate_limited', details }));
    begin('of another', 'other');
    expect(ended).toEqual([]);
  });

  it('are bounded in all', () => {
    const { sessions, ended, begin, beginMany } = sessionsOf();
    for (let index = 0; index < 10; index += 1) beginMany(MAX_PRINCIPAL_SESSIONS, `p${index}-`);
    begin('one more', 'last');
    expect([sessions.size, ended]).toEqual([1_000, ['p0-0']]);
  });

  it('take a bounded number of requests at once', async () => {
    const { sessions, begin } = sessionsOf();
    const session = begin('busy');
    const releases = Array.from({ length: 256 }, () => occupy(sessions, session));
    const details = { reason: 'mcp_requests' };
    const refused = { code: 'rate_limited', details };
    await expect(sessions.use(session, () => Promise.resolve())).rejects.toMatchObject(refused);
    await releases[0]?.();
    await expect(sessions.use(session, () => Promise.resolve('done'))).resolves.toBe('done');
  });
});
