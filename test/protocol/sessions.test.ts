/** PROTOCOL 3: sessions, their events, results and search. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { sharedWorkspace } from '../helpers/shared-workspace.ts';
import { block, type ServerAddress, type WireClient } from '../helpers/wire-client.ts';

let server: ServerAddress;
let client: WireClient;
let folder: string;

beforeAll(async () => {
  ({ server, client, folder } = await sharedWorkspace('sessions'));
});

describe('a session', () => {
  it('is made with what was asked for, and read back the same', async () => {
    mkdirSync(join(folder, 'inside'), { recursive: true });
    const asked = {
      cwd: join(folder, 'inside'),
      mode: 'acceptEdits',
      tool_mode: 'normal',
      title: 'A title',
      rules: { allow: ['Bash(touch:*)'], ask: ['Read(./x)'], deny: ['Sleep'] },
      additional_directories: [folder],
      on_ask: 'deny',
    };
    const { status, body } = await client.post('/sessions', asked);
    expect(status).toBe(201);
    expect(body).toMatchObject({
      session_id: expect.stringMatching(/^[A-Za-z0-9_-]{1,128}$/),
      cwd: asked.cwd,
      mode: 'acceptEdits',
      title: 'A title',
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      permission_context: { version: 1, mode: 'acceptEdits', rules: { session: asked.rules } },
    });
    const again = (await client.get(`/sessions/${body.session_id}`)).body;
    expect(again).toMatchObject({ ...body, state: 'idle', head: expect.any(Number), running: [] });
  });

  it('stands in the list until it is deleted, and is gone afterwards', async () => {
    const sessionId = await client.session();
    const listed = async () => (await client.get('/sessions')).body.sessions.map(({ session_id }) => session_id);
    expect(await listed()).toContain(sessionId);
    const deleted = await client.send('DELETE', `/sessions/${sessionId}`);
    expect({ status: deleted.status, text: deleted.text }).toEqual({ status: 204, text: '' });
    expect(await listed()).not.toContain(sessionId);
    for (const path of ['', '/events', '/permissions', '/prompts', '/results/x', '/search?q=a']) {
      expect((await client.get(`/sessions/${sessionId}${path}`)).status).toBe(404);
    }
    expect((await client.post('/execute', { session_id: sessionId, tool_uses: [block('Read', {})] })).status).toBe(404);
    expect((await client.send('DELETE', `/sessions/${sessionId}`)).status).toBe(404);
  });

  it('ends what runs when it is deleted', async () => {
    const sessionId = await client.session();
    const stream = await client.stream(sessionId);
    stream.send({ type: 'tool_use', tool_use: block('Sleep', { duration_ms: 60_000 }) });
    await stream.next(({ type, state }) => type === 'state' && state === 'executing');
    expect((await client.get(`/sessions/${sessionId}`)).body).toMatchObject({ state: 'running' });
    await client.send('DELETE', `/sessions/${sessionId}`);
    expect(await stream.closed).toMatchObject({ code: 4410 });
  });

  it.each([
    ['outside the workspace', { cwd: '/' }, 403],
    ['beside the workspace', { cwd: '..' }, 403],
    ['nowhere', { cwd: 'not/there' }, 400],
    ['with a NUL', { cwd: 'a\0b' }, 400],
  ])('is refused a folder %s', async (_what, options, status) => {
    expect((await client.post('/sessions', options)).status).toBe(status);
  });

  it.each([
    { mode: 'sometimes' },
    { tool_mode: 'loud' },
    { rules: { allow: ['Bash('] } },
    { rules: { allow: 'Bash' } },
    { on_ask: 'maybe' },
    { cwd: 7 },
    { title: 'x'.repeat(10_000) },
  ])('is refused what cannot be: %j', async (options) => {
    const { status, body } = await client.post('/sessions', options);
    expect({ status, code: body.error.code }).toEqual({ status: 400, code: 'invalid_request' });
  });
});

describe('the events of a session', () => {
  it('come in pages that join without a gap', async () => {
    const sessionId = await client.session();
    await client.execute(sessionId, [block('Nothing', {}), block('Nothing', {})]);
    const whole = (await client.get(`/sessions/${sessionId}/events?from_seq=0`)).body;
    const joined = [];
    for (let from = 0, done = false; !done;) {
      const { body } = await client.get(`/sessions/${sessionId}/events?from_seq=${from}&limit=2`);
      expect(body.frames.length).toBeLessThanOrEqual(2);
      joined.push(...body.frames);
      from = body.frames.at(-1)?.seq ?? from;
      done = body['up_to_date'] === true;
    }
    expect(joined).toEqual(whole.frames);
    expect(joined.map(({ seq }) => seq)).toEqual(joined.map((_frame, index) => index + 1));
    expect(whole).toMatchObject({
      first: 1,
      head: joined.length,
      up_to_date: true,
      epoch: expect.not.stringContaining('.'),
    });
  });

  it('come as Server-Sent Events with ids to resume from', async () => {
    const sessionId = await client.session();
    await client.execute(sessionId, [block('Nothing', {})]);
    const { epoch, head } = (await client.get(`/sessions/${sessionId}/events`)).body;
    const read = (headers: object) =>
      firstEvents(client.url, sessionId, { authorization: `Bearer ${server.token}`, ...headers });
    const first = await read({});
    expect(first[0]).toBe(`${epoch}.1`);
    expect(first).toHaveLength(head);
    expect((await read({ 'last-event-id': `${epoch}.2` }))[0]).toBe(`${epoch}.3`);
  });

  it.each(['from_seq=-1', 'from_seq=a', 'from_seq=1.5', 'limit=0', 'limit=1e9'])('are refused %s', async (query) => {
    const sessionId = await client.session();
    expect((await client.get(`/sessions/${sessionId}/events?${query}`)).status).toBe(400);
  });

  it('come a thousand at most, however many were asked for', async () => {
    const sessionId = await client.session();
    expect((await client.get(`/sessions/${sessionId}/events?limit=5000`)).status).toBe(200);
  });
});

describe('a result', () => {
  it('is read whole by range, spilled or not', async () => {
    const sessionId = await client.session({ cwd: folder });
    const call = block('Bash', { command: 'echo hello' });
    await client.execute(sessionId, [call]);
    const read = async (query: string) => (await client.get(`/sessions/${sessionId}/results/${call.id}${query}`)).body;
    expect(await read('')).toEqual({ text: 'hello', total_chars: 5, offset_chars: 0 });
    expect(await read('?offset_chars=1&limit_chars=3')).toEqual({
      text: 'ell',
      total_chars: 5,
      offset_chars: 1,
      next_offset_chars: 4,
    });
    expect(await read('?offset_chars=99')).toMatchObject({ text: '', total_chars: 5 });
    expect((await client.get(`/sessions/${sessionId}/results/none`)).status).toBe(404);
  });
});

describe('search', () => {
  it('finds calls by the text that was shown', async () => {
    const sessionId = await client.session({ cwd: folder });
    const call = block('Bash', { command: 'echo needle-in-hay' });
    await client.execute(sessionId, [call, block('Bash', { command: 'echo straw' })]);
    const { body } = await client.get(`/sessions/${sessionId}/search?q=needle-in`);
    expect(body['hits']).toEqual([
      { seq: expect.any(Number), tool_use_id: call.id, snippet: expect.stringContaining('needle-in') },
    ]);
    for (const absent of ['nothing-like-it', 'tool_use', call.id])
      expect((await client.get(`/sessions/${sessionId}/search?q=${absent}`)).body).toEqual({ hits: [] });
    expect((await client.get(`/sessions/${sessionId}/search`)).status).toBe(400);
  });
});

describe('tickets', () => {
  it('open one stream, once, without a token', async () => {
    const sessionId = await client.session();
    const { status, body } = await client.post('/tickets', { session_id: sessionId });
    expect(status).toBeLessThan(300);
    expect(Date.parse(String(body['expires_at']))).toBeGreaterThan(Date.now());
    const protocols = ['gauntlet.v1', `gauntlet.ticket.${String(body['ticket'])}`];
    const stream = await client.stream(sessionId, {}, { protocols, headers: {} });
    expect(stream.socket.protocol).toBe('gauntlet.v1');
    await stream.close();
    await expect(client.stream(sessionId, {}, { protocols, headers: {} })).rejects.toThrow('401');
  });

  it('open no other session, and none for a session that is not there', async () => {
    const [own, other] = [await client.session(), await client.session()];
    const { body } = await client.post('/tickets', { session_id: own });
    const protocols = ['gauntlet.v1', `gauntlet.ticket.${String(body['ticket'])}`];
    await expect(client.stream(other, {}, { protocols, headers: {} })).rejects.toThrow(/40[134]/);
    expect((await client.post('/tickets', { session_id: 'ses_none' })).status).toBe(404);
  });
});

/** Ids of the events up to the head, then the connection is let go. */
async function firstEvents(url: string, sessionId: string, headers: Record<string, string>): Promise<string[]> {
  const ended = new AbortController();
  const { head } = (await (await fetch(`${url}/sessions/${sessionId}`, { headers })).json()) as { head: number };
  const reply = await fetch(`${url}/sessions/${sessionId}/events`, {
    headers: { accept: 'text/event-stream', ...headers },
    signal: ended.signal,
  });
  expect(reply.headers.get('content-type')).toMatch(/^text\/event-stream/);
  const ids: string[] = [];
  let text = '';
  for await (const piece of reply.body ?? []) {
    text += Buffer.from(piece).toString();
    ids.splice(0, ids.length, ...[...text.matchAll(/^id: ?(\S+)$/gm)].map((match) => match[1] ?? ''));
    if (ids.at(-1)?.endsWith(`.${head}`)) break;
  }
  ended.abort();
  return ids;
}
