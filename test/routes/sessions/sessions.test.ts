import request from 'supertest';
import { describe, expect, test } from 'vitest';
import { AUTHORIZATION, listeningApp, TOKEN } from '../../helpers/listening-app.ts';
import { plainTool } from '../../helpers/plain-tool.ts';
import { waitingTool } from '../../helpers/slow-tools.ts';
import { openStream } from '../../helpers/stream-client.ts';
import { testSessions } from '../../helpers/test-sessions.ts';

const echo = plainTool('Echo', { touchesOnlySession: () => true, isConcurrencySafe: () => true });
const { tool: wait, release } = waitingTool();
const { directory, newSessionPool, workspace } = testSessions([echo, wait, plainTool('Asking')]);
const { url } = await listeningApp({ directory, newSessionPool });
const other = { authorization: `Bearer ${TOKEN}-other` };
const get = (path: string) => request(url).get(path).set(AUTHORIZATION);
const post = (path: string, body: object = {}) => request(url).post(path).set(AUTHORIZATION).send(body);
const call = (id: string, name = 'Echo', text = 'hello') => ({ type: 'tool_use', id, name, input: { text } });

async function newSession(body: object = {}): Promise<string> {
  return (await post('/sessions', body).expect(201)).body.session_id as string;
}

describe('a session', () => {
  test('says what it is', async () => {
    const asked = { mode: 'plan', tool_mode: 'simple', title: 'mine', on_ask: 'deny', rules: { deny: ['Asking'] } };
    const { body } = await post('/sessions', asked).expect(201);
    expect(body).toMatchObject({
      cwd: workspace,
      mode: 'plan',
      tool_mode: 'simple',
      title: 'mine',
      state: 'idle',
      running: [],
    });
    expect(body.permission_context).toMatchObject({ version: 1, rules: { session: { deny: ['Asking'] } } });
    expect((await get(`/sessions/${body.session_id}`).expect(200)).body).toMatchObject({ session_id: body.session_id });
  });

  test('needs no body', async () => {
    await request(url).post('/sessions').set(AUTHORIZATION).expect(201);
  });

  test.each([{ mode: 'reckless' }, { rules: { deny: 'Bash' } }, { title: 1 }])('%j is refused', async (body) => {
    await post('/sessions', body).expect(400);
  });

  test('is listed until it is deleted', async () => {
    const id = await newSession();
    const ids = async () => (await get('/sessions')).body.sessions.map((one: { session_id: string }) => one.session_id);
    expect(await ids()).toContain(id);
    await request(url).delete(`/sessions/${id}`).set(AUTHORIZATION).set('content-type', 'application/json').expect(204);
    expect(await ids()).not.toContain(id);
    await get(`/sessions/${id}`).expect(404);
  });

  test("is nobody else's business", async () => {
    const id = await newSession();
    const theirs = (path: string) => request(url).get(`/sessions/${id}${path}`).set(other);
    const missing = await request(url).get('/sessions/nobody').set(other).expect(404);
    for (const path of ['', '/permissions', '/prompts', '/events', '/results/a', '/search?q=x']) {
      const reply = await theirs(path).expect(404);
      expect(reply.body.error).toEqual({
        ...missing.body.error,
        message: missing.body.error.message.replace('nobody', id),
      });
    }
    await request(url).get(`/tools?session_id=${id}`).set(other).expect(404);
    await request(url).post('/tickets').set(other).send({ session_id: id }).expect(404);
    await request(url).delete(`/sessions/${id}`).set(other).expect(404);
    await request(url)
      .post('/execute')
      .set(other)
      .send({ session_id: id, tool_uses: [call('a')] })
      .expect(404);
  });

  test.each(['%2e%2e%2fx', '..%5cx', 'a%00', `${'a'.repeat(129)}`, 'a b'])(
    'of id %.20s is refused by its charset',
    async (id) => {
      for (const path of ['', '/events', '/results/a', '/permissions']) await get(`/sessions/${id}${path}`).expect(400);
    },
  );
});

describe('permissions', () => {
  test('all updates of a request make one version', async () => {
    const id = await newSession();
    const updates = [
      { type: 'setMode', mode: 'acceptEdits' },
      { type: 'addRules', behavior: 'allow', rules: ['Asking'] },
    ];
    const { body } = await post(`/sessions/${id}/permissions`, { updates }).expect(200);
    expect(body).toMatchObject({ version: 2, mode: 'acceptEdits', rules: { session: { allow: ['Asking'] } } });
    expect((await get(`/sessions/${id}/permissions`)).body).toEqual(body);
    await post(`/sessions/${id}/permissions`, { updates: [] }).expect(400);
  });

  test('explain says what would be decided', async () => {
    const id = await newSession();
    const { body } = await post(`/sessions/${id}/permissions/explain`, { name: 'Asking', input: {} }).expect(200);
    expect(body).toMatchObject({ behavior: 'ask', reason: { type: 'default' }, read_only: false, warnings: [] });
  });

  test('the list of a session leaves out what it denies', async () => {
    const id = await newSession({ rules: { deny: ['Asking'] } });
    const { body } = await get(`/tools?session_id=${id}`).expect(200);
    expect(body.tools.map(({ name }: { name: string }) => name)).toEqual(['Echo', 'Wait']);
  });

  test('the first answer wins, later ones are told', async () => {
    const id = await newSession({ on_ask: 'wait' });
    const running = post('/execute', { session_id: id, tool_uses: [call('a', 'Asking')] }).then();
    const stream = await openStream(url, id, { hello: { from_seq: 0 } });
    const { request_id } = await stream.next('permission_request');
    expect((await get(`/sessions/${id}/prompts`)).body.prompts).toMatchObject([{ request_id, tool_name: 'Asking' }]);
    const answer = (behavior: string) => post(`/sessions/${id}/prompts/${String(request_id)}`, { behavior });
    expect((await answer('allow').expect(200)).body).toEqual({ behavior: 'allow', by: 'owner' });
    expect((await answer('deny').expect(409)).body.error).toMatchObject({ details: { behavior: 'allow' } });
    expect((await running).body.calls).toMatchObject([{ status: 'ok' }]);
    await post(`/sessions/${id}/prompts/nobody`, { behavior: 'allow' }).expect(404);
    await stream.close();
  });
});

describe('what was done', () => {
  test('is paged as frames', async () => {
    const id = await newSession();
    await post('/execute', { session_id: id, tool_uses: [call('a')] }).expect(200);
    const all = (await get(`/sessions/${id}/events`).expect(200)).body;
    expect(all).toMatchObject({ first: 1, up_to_date: true, resumed: true });
    expect(all.frames.map(({ seq }: { seq: number }) => seq)).toEqual(
      all.frames.map((_: object, index: number) => index + 1),
    );
    const page = (await get(`/sessions/${id}/events?from_seq=1&limit=2`).expect(200)).body;
    expect(page.frames).toEqual(all.frames.slice(1, 3));
    expect(page).toMatchObject({ up_to_date: false, head: all.head, epoch: all.epoch });
    expect((await get(`/sessions/${id}/events?from_seq=99`)).body).toMatchObject({
      resumed: false,
      frames: all.frames,
    });
    await get(`/sessions/${id}/events?from_seq=-1`).expect(400);
  });

  test('is followed as events, from the last that was seen', async () => {
    const id = await newSession();
    const { epoch } = (await get(`/sessions/${id}/events`)).body as { epoch: string };
    const controller = new AbortController();
    const reply = await fetch(`${url}/sessions/${id}/events`, {
      headers: { ...AUTHORIZATION, accept: 'text/event-stream', 'last-event-id': `${epoch}.1` },
      signal: controller.signal,
    });
    void post('/execute', { session_id: id, tool_uses: [call('a')] }).then();
    let text = '';
    for await (const chunk of reply.body as AsyncIterable<Uint8Array>) {
      text += Buffer.from(chunk).toString();
      if (text.includes('"turn_end"')) break;
    }
    expect(reply.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    expect(text.startsWith(`id: ${epoch}.2\ndata: {`)).toBe(true);
    controller.abort();
  });

  test('is read by range and found by its text', async () => {
    const id = await newSession();
    await post('/execute', { session_id: id, tool_uses: [call('a')] }).expect(200);
    const text = '{"text":"hello"}';
    expect((await get(`/sessions/${id}/results/a?offset_chars=2&limit_chars=4`)).body).toEqual({
      text: 'text',
      total_chars: text.length,
      offset_chars: 2,
      next_offset_chars: 6,
    });
    await get(`/sessions/${id}/results/b`).expect(404);
    expect((await get(`/sessions/${id}/search?q=hello`)).body.hits).toMatchObject([{ tool_use_id: 'a' }]);
    await get(`/sessions/${id}/search`).expect(400);
  });
});

describe('what runs', () => {
  test('is cancelled by call, by turn, or all of it', async () => {
    const id = await newSession();
    const running = post('/execute', {
      session_id: id,
      turn_id: 't',
      tool_uses: ['a', 'b', 'c'].map((one) => call(one, 'Wait')),
    }).then();
    const stream = await openStream(url, id, { hello: { from_seq: 0 } });
    await stream.next(({ type, state, tool_use_id: one }) => type === 'state' && state === 'executing' && one === 'c');
    const cancel = (body: object) => post(`/sessions/${id}/cancel`, body);
    expect((await cancel({ tool_use_id: 'b' }).expect(200)).body).toEqual({ cancelled: ['b'] });
    await cancel({ turn_id: 'nobody' }).expect(404);
    expect((await cancel({}).expect(200)).body.cancelled).toEqual(expect.arrayContaining(['a', 'c']));
    expect((await running).body.calls.map(({ status }: { status: string }) => status)).toEqual(
      Array(3).fill('cancelled'),
    );
    await stream.close();
  });

  test.each([
    [true, 'cancelled'],
    [false, 'executing'],
  ])('with cancel_on_disconnect %s a client that goes away leaves it %s', async (cancels, expected) => {
    const id = await newSession();
    const controller = new AbortController();
    const body = JSON.stringify({ session_id: id, tool_uses: [call('a', 'Wait')], cancel_on_disconnect: cancels });
    const headers = { ...AUTHORIZATION, 'content-type': 'application/json' };
    const running = fetch(`${url}/execute`, { method: 'POST', headers, body, signal: controller.signal });
    running.catch(() => undefined);
    const stream = await openStream(url, id, { hello: { from_seq: 0 } });
    await stream.next(({ type, state }) => type === 'state' && state === 'executing');
    controller.abort();
    if (cancels) expect(await stream.next('result')).toMatchObject({ call: { status: expected } });
    else expect((await get(`/sessions/${id}`)).body.running).toMatchObject([{ tool_use_id: 'a', state: expected }]);
    await stream.close();
  });

  test.each(['application/x-ndjson', 'text/event-stream', 'application/json'])(
    'goes on when the reader of %s has gone, and its result is kept',
    async (accept) => {
      const id = await newSession();
      const controller = new AbortController();
      const body = JSON.stringify({ session_id: id, tool_uses: [call('a', 'Wait')] });
      const headers = { ...AUTHORIZATION, accept, 'content-type': 'application/json' };
      const running = fetch(`${url}/execute`, { method: 'POST', headers, body, signal: controller.signal });
      running.catch(() => undefined);
      const stream = await openStream(url, id, { hello: { from_seq: 0 } });
      await stream.next(({ type, state }) => type === 'state' && state === 'executing');
      controller.abort();
      release();
      expect(await stream.next('result')).toMatchObject({ call: { status: 'ok' } });
      expect((await get(`/sessions/${id}/results/a`).expect(200)).body.text).toBe('"released"');
      await stream.close();
    },
  );
});
