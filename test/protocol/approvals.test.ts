/** PROTOCOL 1: approvals, the model of mode "auto", and rules that never decide, over a whole server. */
import { createHash, createHmac } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type BuiltServer, startServer } from '../helpers/built-server.ts';
import { block, wireClient, type WireClient } from '../helpers/wire-client.ts';

/** A hook that replaces the input by one like it. */
const CHANGES_INPUT = `printf '{"hookSpecificOutput":{"updatedInput":{"command":"mkdir hooked "}}}'`;

let outside: Server;
let server: BuiltServer;
let client: WireClient;
const told: { readonly body: string; readonly signature: unknown }[] = [];
const classified: string[] = [];

/** Both the webhook and the model. */
beforeAll(async () => {
  outside = createServer((request, response) => {
    void text(request).then((body) => {
      if (request.url === '/webhook') told.push({ body, signature: request.headers['x-gauntlet-signature'] });
      else classified.push(body);
      response.end(
        JSON.stringify({
          choices: [{ message: { content: body.includes('touch') ? 'ALLOW' : 'ASK' }, finish_reason: 'stop' }],
        }),
      );
    });
  });
  await new Promise<void>((listening) => outside.listen(0, '127.0.0.1', listening));
  const address = `http://127.0.0.1:${(outside.address() as AddressInfo).port}`;
  server = await startServer({
    environment: { WEBHOOK_SECRET: 's3cret' },
    settings: {
      approvals: {
        webhooks: [{ url: `${address}/webhook`, secretEnv: 'WEBHOOK_SECRET' }],
        twoPerson: ['Bash(git push:*)'],
      },
      models: { default: { provider: 'openai', baseUrl: address, model: 'm' } },
      permissions: { deny: ['Bsah(rm:*)'] },
      hooks: {
        PreToolUse: [
          { matcher: 'Bash', hooks: [{ type: 'command', if: 'Bash(mkdir hooked)', command: CHANGES_INPUT }] },
        ],
      },
    },
  });
  client = wireClient(server);
});
afterAll(() => new Promise((closed) => outside.close(closed)));

describe('a question', () => {
  const prompts = async (id: string) => (await client.get(`/sessions/${id}/prompts`)).body.prompts;

  it('reaches the webhook, signed, and is answered with what stands in it', async () => {
    const id = await client.session({ on_ask: 'wait' });
    const reply = client.execute(id, [block('Bash', { command: 'mkdir made' }, 'toolu_made')]);
    await expect.poll(() => told.length).toBe(1);
    const { body, signature } = told[0] ?? { body: '' };
    expect(signature).toBe(`sha256=${createHmac('sha256', 's3cret').update(body).digest('hex')}`);
    const { session_id: session, request_id: request, ...frame } = JSON.parse(body) as Record<string, string>;
    expect(frame).toMatchObject({ type: 'permission_request', tool_name: 'Bash', tool_use_id: 'toolu_made' });
    const answer = await client.post(`/sessions/${session}/prompts/${request}`, { behavior: 'allow' });
    expect(answer.body).toMatchObject({ behavior: 'allow' });
    expect((await reply).calls[0]?.status).toBe('ok');
  });

  it('that needs two persons stays open after one yes, and says that one is not enough', async () => {
    const id = await client.session({ on_ask: 'wait', mode: 'bypassPermissions', rules: { allow: ['Bash'] } });
    const reply = client.execute(id, [block('Bash', { command: 'true && git push' })]);
    await expect.poll(() => prompts(id)).toHaveLength(1);
    const [prompt] = await prompts(id);
    expect(prompt).toMatchObject({
      approvals: { needed: 2, by: [] },
      title: expect.stringContaining('can never be allowed') as string,
    });
    const answer = (behavior: string) =>
      client.post(`/sessions/${id}/prompts/${prompt?.request_id ?? ''}`, { behavior });
    expect((await answer('allow')).body).toMatchObject({ behavior: 'allow', pending: true });
    expect(await prompts(id)).toMatchObject([{ approvals: { by: ['owner'] } }]);
    expect((await answer('deny')).body).toMatchObject({ behavior: 'deny' });
    expect((await reply).calls[0]?.status).toBe('denied');
  });
});

describe('an approval handed in with its call', () => {
  /** What a client's own person allows: explained first, then sent. */
  async function approve(sessionId: string, command: string, toolUseId: string) {
    const { body } = await client.post(`/sessions/${sessionId}/permissions/explain`, {
      name: 'Bash',
      input: { command },
    });
    return { tool_use_id: toolUseId, digest: body['digest'], context_version: body['context_version'] };
  }
  const bash = (command: string, id: string) => block('Bash', { command }, id);
  const statusOf = ({ calls }: { readonly calls: readonly { readonly status: string }[] }) =>
    calls.map(({ status }) => status);

  it('is one yes to exactly that call, and is logged', async () => {
    const id = await client.session({ on_ask: 'deny' });
    const approvals = [await approve(id, 'mkdir handed', 'a')];
    const digest = createHash('sha256').update('{"input":{"command":"mkdir handed"},"name":"Bash"}').digest('hex');
    expect(approvals).toEqual([{ tool_use_id: 'a', digest, context_version: expect.any(Number) }]);
    expect(statusOf(await client.execute(id, [bash('mkdir handed', 'a')], { approvals }))).toEqual(['ok']);
    const frames = (await client.frames(id)).filter(({ type }) => type.startsWith('permission_'));
    expect(frames).toMatchObject([
      { type: 'permission_resolved', tool_use_id: 'a', behavior: 'allow', by: 'owner', handed_in: true },
    ]);
    // The same block again only repeats the result; another call needs another yes.
    const again = [{ ...approvals[0], tool_use_id: 'b' }];
    expect(statusOf(await client.execute(id, [bash('mkdir handed2', 'b')], { approvals: again }))).toEqual(['denied']);
  });

  it('counts once, for its own block', async () => {
    const id = await client.session({ on_ask: 'deny' });
    const approvals = [await approve(id, 'mkdir -p same', 'a')];
    const calls = [bash('mkdir -p same', 'a'), bash('mkdir -p same', 'b')];
    expect(statusOf(await client.execute(id, calls, { approvals }))).toEqual(['ok', 'denied']);
  });

  it('asks as usual where input, version or folder differ', async () => {
    const id = await client.session({ on_ask: 'deny' });
    const approval = await approve(id, 'mkdir other', 'a');
    const refused = async (changes: object, blocks = [bash('mkdir other', 'a')]) =>
      statusOf(await client.execute(id, blocks, { approvals: [{ ...approval, ...changes }] }));
    expect(await refused({ digest: 'a'.repeat(64) })).toEqual(['denied']);
    const stale = { ...(await approve(id, 'mkdir other', 'b')), tool_use_id: 'b' };
    await client.post(`/sessions/${id}/permissions`, {
      updates: [{ type: 'addRules', behavior: 'allow', rules: ['Bash(true)'] }],
    });
    expect(await refused(stale, [bash('mkdir other', 'b')])).toEqual(['denied']);
    const folder = await client.session({ on_ask: 'deny', rules: { allow: ['Bash(mkdir into)', 'Bash(cd into)'] } });
    await client.execute(folder, [bash('mkdir into', 'm')]);
    const given = [await approve(folder, 'touch here', 'n')];
    const calls = [bash('cd into', 'd'), bash('touch here', 'n')];
    expect(statusOf(await client.execute(folder, calls, { approvals: given }))).toEqual(['ok', 'denied']);
  });

  it('never beats a deny, a safety check, an input that a hook changed, or a tool that needs an answer', async () => {
    const id = await client.session({ on_ask: 'deny', rules: { deny: ['Bash(rm:*)'] } });
    for (const command of ['rm -r none', 'touch .git/config', 'mkdir hooked']) {
      const approvals = [await approve(id, command, command)];
      expect({ command, status: statusOf(await client.execute(id, [bash(command, command)], { approvals })) }).toEqual({
        command,
        status: ['denied'],
      });
    }
    const questions = [
      {
        question: 'Which?',
        header: 'W',
        options: [
          { label: 'a', description: 'a' },
          { label: 'b', description: 'b' },
        ],
        multiSelect: false,
      },
    ];
    const explained = await client.post(`/sessions/${id}/permissions/explain`, {
      name: 'AskUserQuestion',
      input: { questions },
    });
    expect(explained.body).toMatchObject({ behavior: 'ask' });
    const { digest, context_version } = explained.body;
    const approvals = [{ tool_use_id: 'q', digest, context_version }];
    expect(statusOf(await client.execute(id, [block('AskUserQuestion', { questions }, 'q')], { approvals }))).toEqual([
      'denied',
    ]);
  });

  it('is one of two where two persons are needed', async () => {
    const id = await client.session({ on_ask: 'wait' });
    const approvals = [await approve(id, 'git push', 'p')];
    const reply = client.execute(id, [bash('git push', 'p')], { approvals });
    const prompts = async () => (await client.get(`/sessions/${id}/prompts`)).body.prompts;
    await expect.poll(prompts).toMatchObject([{ approvals: { needed: 2, by: ['owner'] } }]);
    const [prompt] = await prompts();
    const path = `/sessions/${id}/prompts/${prompt?.request_id ?? ''}`;
    expect((await client.post(path, { behavior: 'allow' })).body).toMatchObject({ pending: true });
    await client.post(path, { behavior: 'deny' });
    expect(statusOf(await reply)).toEqual(['denied']);
  });

  it('that names no block, or a block twice, is refused, and none is read inside a block', async () => {
    const id = await client.session({ on_ask: 'deny' });
    const approval = await approve(id, 'mkdir inner', 'a');
    const send = (approvals: object[]) =>
      client.post('/execute', { session_id: id, tool_uses: [bash('mkdir inner', 'a')], approvals });
    for (const [approvals, path] of [
      [[{ ...approval, tool_use_id: 'b' }], 'approvals[0].tool_use_id'],
      [[approval, approval], 'approvals[1].tool_use_id'],
    ] as const) {
      const { status, body } = await send([...approvals]);
      expect([status, body.error.details]).toMatchObject([400, { path }]);
    }
    const smuggled = { ...bash('mkdir inner', 'a'), approvals: [approval] };
    expect(statusOf(await client.execute(id, [smuggled]))).toEqual(['denied']);
  });

  it('goes with a block of a WebSocket, and with the id of the provider', async () => {
    const id = await client.session({ on_ask: 'deny', id_scope: 'turn' });
    const stream = await client.stream(id);
    const approvals = [await approve(id, 'mkdir socket', 'call_0')];
    stream.send({ type: 'tool_use', turn_id: 't', tool_use: bash('mkdir socket', 'call_0'), approvals });
    expect(await stream.next('result')).toMatchObject({ call: { status: 'ok', provider_id: 'call_0' } });
    stream.send({ type: 'tool_use', turn_id: 't', tool_use: bash('mkdir more', 'call_1'), approvals });
    expect(await stream.next('error')).toMatchObject({ code: 'invalid_request', path: 'approvals[0].tool_use_id' });
    await stream.close();
  });
});

it('mode "auto" runs what the model allows, asks about the rest, and does not ask the model about rules', async () => {
  const id = await client.session({ mode: 'auto', on_ask: 'deny', rules: { deny: ['Bash(rm:*)'] } });
  const status = async (command: string) => (await client.execute(id, [block('Bash', { command })])).calls[0]?.status;
  expect([await status('touch one'), await status('chmod 700 .'), await status('cat one')]).toEqual([
    'ok',
    'denied',
    'ok',
  ]);
  expect(classified.filter((body) => body.includes('cat one'))).toEqual([]);
});

it('a rule that never decides anything is counted at the start and named in the log', async () => {
  expect(server.printed()).toContain('1 never decide anything');
  await expect.poll(() => server.logged()).toContain('there is no tool \\"Bsah\\"');
});

it('the secrets of webhooks appear nowhere', () => {
  expect(server.printed() + server.logged()).not.toContain('s3cret');
});
