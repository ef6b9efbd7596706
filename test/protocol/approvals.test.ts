/** PROTOCOL 1: approvals, the model of mode "auto", and rules that never decide, over a whole server. */
import { createHmac } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type BuiltServer, startServer } from '../helpers/built-server.ts';
import { block, wireClient, type WireClient } from '../helpers/wire-client.ts';

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
