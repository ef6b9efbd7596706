/** PROTOCOL 3: the list of sessions, its filters and labels, and its news as they happen. */
import { createHash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { startServer, type BuiltServer } from '../helpers/built-server.ts';
import { block, until, wireClient, type WireClient } from '../helpers/wire-client.ts';

const ANNS_TOKEN = 'token-of-ann-0123456789';

let server: BuiltServer;
let client: WireClient;

beforeAll(async () => {
  const tokenSha256 = createHash('sha256').update(ANNS_TOKEN).digest('hex');
  server = await startServer({ settings: { principals: [{ name: 'ann', tokenSha256, roots: [] }] } });
  client = wireClient(server);
});

interface Listed {
  readonly session_id: string;
  readonly title?: string;
  readonly archived: boolean;
  readonly state: string;
  readonly last_activity_at: string;
}

async function list(query: string, from = client): Promise<readonly Listed[]> {
  return (await from.get(`/sessions?${query}`)).body.sessions as readonly Listed[];
}

/** Follow the news; they end with the test. */
async function follow(token = server.token) {
  const ended = new AbortController();
  onTestFinished(() => ended.abort());
  const reply = await fetch(`${server.url}/sessions/events`, {
    headers: { authorization: `Bearer ${token}` },
    signal: ended.signal,
  });
  expect(reply.headers.get('content-type')).toMatch(/^text\/event-stream/);
  let text = '';
  void (async () => {
    for await (const chunk of reply.body ?? []) text += Buffer.from(chunk as Uint8Array).toString();
  })().catch(() => undefined);
  return () =>
    [...text.matchAll(/^event: (\w+)\ndata: (.*)\n\n/gm)].map(([, event, data = '']) => ({
      event,
      ...(JSON.parse(data) as Partial<Listed>),
    }));
}

describe('a label', () => {
  it('is a title that replaces the first one, and survives the server', async () => {
    const sessionId = await client.session({ title: 'Before' });
    const { status, body } = await client.send('PATCH', `/sessions/${sessionId}`, { title: 'After' });
    expect({ status, title: body['title'] }).toEqual({ status: 200, title: 'After' });
    await server.end('SIGKILL');
    server = await startServer({ home: server.home });
    client = wireClient(server);
    expect(await list('q=AFTER')).toMatchObject([{ session_id: sessionId, title: 'After' }]);
    await client.send('PATCH', `/sessions/${sessionId}`, { title: '' });
    expect((await client.get(`/sessions/${sessionId}`)).body['title']).toBeUndefined();
  });

  it('takes an archived session out of the list, and back', async () => {
    const sessionId = await client.session({ title: 'Old work' });
    expect((await client.send('PATCH', `/sessions/${sessionId}`, { archived: true })).body['archived']).toBe(true);
    const ids = async (query: string) => (await list(query)).map(({ session_id: id }) => id);
    expect(await ids('')).not.toContain(sessionId);
    expect(await ids('archived=true')).toEqual([sessionId]);
    expect(await ids('archived=all')).toContain(sessionId);
    await client.execute(sessionId, [block('Glob', { pattern: '*' })]);
    await client.send('PATCH', `/sessions/${sessionId}`, { archived: false });
    expect(await ids('')).toContain(sessionId);
  });

  it('of another shape is refused by name, and of no session is not found', async () => {
    const sessionId = await client.session();
    const wrong = await client.send('PATCH', `/sessions/${sessionId}`, { titel: 'x' });
    expect(wrong.body.error).toMatchObject({ code: 'invalid_request', details: { path: 'titel' } });
    expect((await client.send('PATCH', '/sessions/ses_none', { title: 'x' })).status).toBe(404);
    expect((await client.get('/sessions?archived=maybe')).status).toBe(400);
  });
});

describe('a search of the list', () => {
  it('finds title, folder and id, page by page', async () => {
    mkdirSync(join(server.workspace, 'needle-folder'), { recursive: true });
    const inFolder = await client.session({ cwd: join(server.workspace, 'needle-folder') });
    const titled = await client.session({ title: 'The NEEDLE of it' });
    await client.session({ title: 'Hay' });
    expect((await list('q=needle')).map(({ session_id: id }) => id)).toEqual([titled, inFolder]);
    expect((await list(`q=${inFolder.slice(4)}`)).map(({ session_id: id }) => id)).toEqual([inFolder]);
    const { body } = await client.get('/sessions?q=needle&limit=1');
    expect(body.sessions).toMatchObject([{ session_id: titled }]);
    const next = await client.get(`/sessions?q=needle&limit=1&cursor=${String(body['next_cursor'])}`);
    expect(next.body.sessions).toMatchObject([{ session_id: inFolder }]);
  });
});

describe('the news of the list', () => {
  it('tell of a session that begins, runs, is idle again and is removed', async () => {
    const news = await follow();
    const sessionId = await client.session({ mode: 'bypassPermissions' });
    const running = client.execute(sessionId, [block('Bash', { command: 'sleep 0.5' })]);
    const of = () => news().filter(({ session_id: id }) => id === sessionId);
    await until(async () => of().some(({ state }) => state === 'running'));
    await running;
    await until(async () => of().at(-1)?.state === 'idle');
    const { last_activity_at: last = '' } = of().at(-1) ?? {};
    expect(Date.parse(last)).toBeGreaterThan(Date.now() - 60_000);
    expect(await list(`q=${sessionId}`)).toMatchObject([{ last_activity_at: expect.any(String), state: 'idle' }]);
    await client.send('DELETE', `/sessions/${sessionId}`);
    await until(async () => of().at(-1)?.event === 'removed');
  });

  it('tell of many changes in few records, and of a new title', async () => {
    const news = await follow();
    const sessionId = await client.session();
    for (let count = 0; count < 50; count += 1) {
      await client.send('PATCH', `/sessions/${sessionId}`, { title: `Title ${count}` });
    }
    const of = () => news().filter(({ session_id: id }) => id === sessionId);
    await until(async () => of().at(-1)?.title === 'Title 49');
    expect(of().length).toBeLessThan(25);
  });

  it("hold nothing of another principal's sessions, and want a credential", async () => {
    const [own, others] = [await follow(), await follow(ANNS_TOKEN)];
    await client.session();
    await until(async () => own().length > 0);
    expect(others()).toEqual([]);
    expect((await fetch(`${server.url}/sessions/events`)).status).toBe(401);
  });
});
