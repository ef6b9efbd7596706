/** PROTOCOL 1: a field that the server does not know is refused by name, in every body, query and client frame. */
import { beforeAll, describe, expect, it } from 'vitest';
import { sharedWorkspace } from '../helpers/shared-workspace.ts';
import { block, until, type WireClient } from '../helpers/wire-client.ts';

interface Operation {
  readonly parameters?: readonly { readonly name: string; readonly in: string }[];
  readonly requestBody?: {
    readonly content: { readonly 'application/json': { readonly schema: { readonly properties?: object } } };
  };
}

interface Refusal {
  readonly status: number;
  readonly path: unknown;
  readonly message: string;
}

let client: WireClient;
let folder: string;
let operations: readonly { readonly method: string; readonly path: string; readonly operation: Operation }[];

beforeAll(async () => {
  ({ client, folder } = await sharedWorkspace('unknown-fields'));
  const { paths } = (await client.get('/openapi.json')).body as unknown as {
    paths: Record<string, Record<string, Operation>>;
  };
  operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );
});

/** Bodies that fit, of the routes that want one: a body is looked at before a query. */
const FITTING: Readonly<Record<string, object>> = {
  '/console/credentials': { ticket: 'none' },
  '/execute': { tool_uses: [] },
  '/tickets': { session_id: 'ses_none' },
  '/sessions/{id}/permissions': { updates: [{ type: 'setMode', mode: 'plan' }] },
  '/sessions/{id}/permissions/explain': { name: 'Read' },
  '/sessions/{id}/prompts/{request_id}': { behavior: 'deny' },
  '/sessions/{id}/undo': { to_seq: 0 },
};

/** An address of the route; nothing is there, which no route looks at before its fields. */
function address(path: string): string {
  return path.replace(/\{\w+\}/g, 'ses_none');
}

async function refusal(method: string, path: string, body?: unknown): Promise<Refusal> {
  const reply = await client.send(method, path, body);
  if (reply.status !== 400) return { status: reply.status, path: undefined, message: reply.text };
  const { message, details } = reply.body.error;
  return { status: reply.status, path: details?.['path'], message };
}

/** What a refusal of a misspelt `name` says. */
function namedRefusal(path: string, name: string) {
  return { status: 400, path, message: expect.stringContaining(`did you mean "${name}"?`) };
}

describe('every route of the description', () => {
  it('is walked', () => {
    expect(operations.length).toBeGreaterThan(20);
  });

  it('refuses an unknown key of a query, and names the nearest', async () => {
    for (const { method, path, operation } of operations) {
      // Authorization servers may add keys of their own.
      if (path === '/oauth/callback') continue;
      const known = (operation.parameters ?? []).filter((parameter) => parameter.in === 'query');
      const body = operation.requestBody && (FITTING[path] ?? {});
      const at = address(path);
      const stray = await refusal(method, `${at}?zzqqzz=1`, body);
      expect({ at, ...stray }).toMatchObject({ at, status: 400, path: 'zzqqzz' });
      for (const { name } of known) {
        const misspelt = await refusal(method, `${at}?${name}x=1`, body);
        expect({ at, ...misspelt }).toMatchObject({ at, ...namedRefusal(`${name}x`, name) });
      }
    }
  });

  it('refuses an unknown key of a body, and names the nearest', async () => {
    for (const { method, path, operation } of operations) {
      if (method === 'GET') continue;
      const known = Object.keys(operation.requestBody?.content['application/json'].schema.properties ?? {});
      const at = `${method} ${address(path)}`;
      const stray = await refusal(method, address(path), { zzqqzz: 1 });
      expect({ at, ...stray }).toMatchObject({ at, status: 400, path: 'zzqqzz' });
      for (const name of known) {
        const misspelt = await refusal(method, address(path), { [`${name}x`]: 1 });
        expect({ at, ...misspelt }).toMatchObject({ at, ...namedRefusal(`${name}x`, name) });
      }
    }
  });
});

describe('a typing mistake widens nothing', () => {
  it('in the mode of a new session', async () => {
    const begun = await refusal('POST', '/sessions', { permission_mode: 'plan' });
    expect(begun).toMatchObject(namedRefusal('permission_mode', 'mode'));
  });

  it('in the session of a batch', async () => {
    const batch = { sesion_id: await client.session(), tool_uses: [block('Bash', { command: 'echo hi' })] };
    expect(await refusal('POST', '/execute', batch)).toMatchObject(namedRefusal('sesion_id', 'session_id'));
  });

  it('in what is cancelled', async () => {
    const sessionId = await client.session({ cwd: folder });
    const stream = await client.stream(sessionId);
    stream.send({ type: 'tool_use', tool_use: block('Sleep', { duration_ms: 60_000 }, 'runs') });
    await stream.next(({ type, state }) => type === 'state' && state === 'executing');
    const asked = await refusal('POST', `/sessions/${sessionId}/cancel`, { toolUseId: 'other' });
    expect(asked).toMatchObject(namedRefusal('toolUseId', 'tool_use_id'));
    stream.send({ type: 'cancel', toolUseId: 'other' });
    await stream.next('error');
    expect((await client.get(`/sessions/${sessionId}`)).body).toMatchObject({ state: 'running' });
    await client.post(`/sessions/${sessionId}/cancel`);
    await stream.close();
  });

  it('in what runs in place of an input that was asked about', async () => {
    const sessionId = await client.session({ cwd: folder });
    const call = block('Bash', { command: 'touch dangerous' });
    const executed = client.execute(sessionId, [call], { on_ask: 'wait' });
    const prompt = await until(async () => (await client.get(`/sessions/${sessionId}/prompts`)).body.prompts[0]);
    const path = `/sessions/${sessionId}/prompts/${prompt.request_id}`;
    const answer = { behavior: 'allow', updatedInput: { command: 'echo harmless' } };
    expect(await refusal('POST', path, answer)).toMatchObject(namedRefusal('updatedInput', 'updated_input'));
    expect((await client.get(`/sessions/${sessionId}/prompts`)).body.prompts).toHaveLength(1);
    expect((await client.post(path, { behavior: 'deny' })).status).toBe(200);
    expect((await executed).calls).toMatchObject([{ status: 'denied' }]);
  });

  it('in updates and rules', async () => {
    const sessionId = await client.session();
    const update = { type: 'addRules', behaviour: 'deny', behavior: 'deny', rules: ['Bash'] };
    expect(await refusal('POST', `/sessions/${sessionId}/permissions`, { updates: [update] })).toMatchObject(
      namedRefusal('updates[0].behaviour', 'behavior'),
    );
    const rules = { denny: ['Bash'] };
    expect(await refusal('POST', '/sessions', { rules })).toMatchObject(namedRefusal('rules.denny', 'deny'));
  });
});

describe('a client frame', () => {
  it.each([
    ['tool_use', 'tool_use', { tool_use: block('Nothing', {}) }],
    ['stream_event', 'turn_id', { event: { type: 'message_start' } }],
    ['turn_end', 'turn_id', { turn_id: 't' }],
    ['cancel', 'tool_use_id', {}],
    ['interrupt', 'type', {}],
    ['discard', 'turn_id', { turn_id: 't' }],
    ['permission_answer', 'updated_input', { request_id: 'r', behavior: 'allow' }],
    ['ack', 'seq', { seq: 0 }],
    ['ping', 't', {}],
    ['hello', 'from_seq', {}],
  ])('%s with an unknown key is refused by name, and the connection stays', async (type, known, fields) => {
    const stream = await client.stream(await client.session());
    await stream.next('live');
    const misspelt = `${known}x`;
    stream.send({ type, ...fields, [misspelt]: 1 });
    expect(await stream.next('error')).toMatchObject({
      code: 'invalid_request',
      path: misspelt,
      message: expect.stringContaining(`did you mean "${known}"?`),
    });
    stream.send({ type: 'ping', t: 'still here' });
    expect(await stream.next('pong')).toMatchObject({ t: 'still here' });
    expect(stream.frames.filter(({ type }) => type === 'error')).toHaveLength(1);
    await stream.close();
  });

  it('hello may be said again once its mistake was told', async () => {
    const stream = await client.stream(await client.session(), { fromSeq: 0 });
    expect(await stream.next('error')).toMatchObject({ path: 'fromSeq' });
    stream.send({ type: 'hello', from_seq: 0 });
    await stream.next('live');
    await stream.close();
  });
});

describe("a model's own words", () => {
  const vendors = { cache_control: { type: 'ephemeral' }, caller: { type: 'direct' } };

  it('in a block are let pass, and kept', async () => {
    const sessionId = await client.session();
    const calls = ['posted', 'in_message'].map((id) => ({ ...block('Nothing', {}, id), ...vendors }));
    await client.execute(sessionId, calls.slice(0, 1));
    const message = { id: 'msg_1', role: 'assistant', model: 'm', usage: {}, content: calls.slice(1) };
    const { status } = await client.post('/execute', { session_id: sessionId, message });
    expect(status).toBe(200);
    expect(await keptBlocks(sessionId)).toEqual(calls);
  });

  it('on a socket are let pass, and kept', async () => {
    const sessionId = await client.session();
    const stream = await client.stream(sessionId);
    const whole = { ...block('Nothing', {}, 'whole'), ...vendors };
    stream.send({ type: 'tool_use', turn_id: 'a', tool_use: whole });
    const streamed = { ...block('Nothing', {}, 'streamed'), ...vendors };
    const events = [
      { type: 'message_start', message: { id: 'm' }, trace: 1 },
      { type: 'content_block_start', index: 0, content_block: streamed, trace: 2 },
      { type: 'content_block_stop', index: 0, trace: 3 },
      { type: 'message_stop', 'amazon-bedrock-invocationMetrics': {} },
    ];
    for (const event of events) stream.send({ type: 'stream_event', turn_id: 'b', event });
    await stream.next(({ type, tool_use_id }) => type === 'result' && tool_use_id === 'streamed');
    expect(await keptBlocks(sessionId)).toEqual([whole, streamed]);
    expect(stream.frames.filter(({ type }) => type === 'error')).toEqual([]);
    await stream.close();
  });

  it('in tool calls of other models are let pass, and kept', async () => {
    const sessionId = await client.session();
    const extra_content = { google: { thought_signature: 'abc' } };
    const called = { name: 'Nothing', arguments: '{}' };
    const tool_calls = [{ id: 'chat', type: 'function', index: 0, extra_content, function: called }];
    const output = [{ type: 'function_call', id: 'fc_1', status: 'completed', call_id: 'item', ...called }];
    for (const calls of [{ tool_calls }, { output }]) {
      expect((await client.post('/execute', { session_id: sessionId, ...calls })).status).toBe(200);
    }
    expect(await keptBlocks(sessionId)).toMatchObject([
      { ...block('Nothing', {}, 'chat'), extra_content },
      { ...block('Nothing', {}, 'item'), status: 'completed' },
    ]);
  });

  async function keptBlocks(sessionId: string): Promise<readonly unknown[]> {
    return (await client.frames(sessionId)).filter(({ type }) => type === 'tool_use').map(({ tool_use }) => tool_use);
  }
});

describe('a missing field', () => {
  it.each([
    ['POST', '/execute', { tool_calls: [{ id: 'a', function: { name: 'Bash' } }] }, 'tool_calls[0].function.arguments'],
    ['POST', '/tickets', {}, 'session_id'],
    ['POST', '/sessions/ses_none/permissions', {}, 'updates'],
    ['POST', '/sessions/ses_none/permissions', { updates: [{ type: 'setMode' }] }, 'updates[0].mode'],
    ['POST', '/sessions/ses_none/permissions/explain', {}, 'name'],
    ['POST', '/sessions/ses_none/prompts/p', {}, 'behavior'],
    ['POST', '/execute', { tool_uses: [{ type: 'tool_use', id: 'a', input: {} }] }, 'tool_uses[0].name'],
    ['GET', '/sessions/ses_none/search', undefined, 'q'],
  ])('of %s %s %j is said to be required', async (method, path, body, field) => {
    const { status, message, ...told } = await refusal(method, path, body);
    expect({ status, ...told }).toEqual({ status: 400, path: field });
    expect(message).toContain(`"${field}": is required`);
  });

  it('of a frame, a block or an event is said to be required', async () => {
    const stream = await client.stream(await client.session());
    await stream.next('live');
    const wrong = [
      [{ type: 'turn_end' }, 'turn_id'],
      [{ type: 'tool_use', tool_use: { type: 'tool_use', id: 'x' } }, 'tool_use.name'],
      [{ type: 'stream_event', event: { type: 'content_block_start', content_block: {} } }, 'event.index'],
    ] as const;
    for (const [frame, path] of wrong) {
      stream.send(frame);
      expect((await stream.next((told) => told['path'] === path))['message']).toContain('is required');
    }
    await stream.close();
  });
});
