/** PROTOCOL 7: `/openapi.json` says of the HTTP routes what they do, field by field. */
import { beforeAll, describe, expect, it } from 'vitest';
import { describedApi, type DescribedApi } from '../helpers/described-api.ts';
import { sharedWorkspace } from '../helpers/shared-workspace.ts';
import { block, until, type WireClient } from '../helpers/wire-client.ts';

let client: WireClient;
let folder: string;
let described: DescribedApi;
/** Routes whose replies were compared, as `get /tools`. */
const compared = new Set<string>();

beforeAll(async () => {
  ({ client, folder } = await sharedWorkspace('openapi'));
  described = await describedApi(client);
});

async function expectDescribed(method: string, path: string, address: string, body?: unknown, accept?: string) {
  compared.add(`${method} ${path}`);
  const reply = await client.send(method.toUpperCase(), address, body, accept ? { headers: { accept } } : {});
  expect({ path, status: reply.status, faults: described.replyFaults(method, path, reply) }).toMatchObject({
    faults: [],
  });
  return reply;
}

describe('every reply fits its description', () => {
  it('of a session and what it may do', async () => {
    const rules = { allow: ['Bash(touch:*)'], ask: [], deny: [] };
    const begin = { cwd: folder, title: 'One', on_ask: 'deny', rules };
    const { body } = await expectDescribed('post', '/sessions', '/sessions', begin);
    const at = `/sessions/${body.session_id}`;
    const below = (method: string, rest: string, asked?: unknown) =>
      expectDescribed(method, `/sessions/{id}${rest}`, at + rest, asked);
    await expectDescribed('get', '/sessions', '/sessions?limit=1');
    await expectDescribed('get', '/tools', `/tools?session_id=${body.session_id}`);
    await expectDescribed('post', '/tickets', '/tickets', { session_id: body.session_id });
    const { body: ticket } = await expectDescribed('post', '/console/tickets', '/console/tickets', {});
    const signIn = { ticket: ticket['ticket'] };
    await expectDescribed('post', '/console/credentials', '/console/credentials', signIn);
    await expectDescribed('delete', '/console/credentials', '/console/credentials');
    await below('get', '');
    await below('get', '/permissions');
    await below('post', '/permissions', { updates: [{ type: 'setMode', mode: 'acceptEdits' }] });
    for (const command of ['touch a', 'ls && mv a b', 'echo "']) {
      await below('post', '/permissions/explain', { name: 'Bash', input: { command } });
    }
    await below('post', '/permissions', { updates: [{ type: 'addRules', behavior: 'deny', rules: ['Bsah'] }] });
    await below('post', '/permissions/test', { mode: 'plan' });
    await expectDescribed('get', '/principals/self', '/principals/self');
    await expectDescribed('get', '/principals', '/principals');
    await below('post', '/cancel', {});
    await below('patch', '', { title: 'Two', archived: true });
    await below('delete', '');
    await below('get', '');
  });

  it('of calls, in the three shapes and as they happen', async () => {
    const text = JSON.stringify({ command: 'echo hi' });
    const named = { name: 'Bash', arguments: text };
    const tool_uses = [block('Bash', { command: 'seq 20000' }), block('Nothing', {}), block('Bash', {})];
    const execute = (body: unknown, accept?: string) => expectDescribed('post', '/execute', '/execute', body, accept);
    await execute({ tool_calls: [{ id: 'call_1', type: 'function', function: named }] });
    await execute({ output: [{ type: 'function_call', call_id: 'call_1', ...named }] });
    await execute({ tool_uses: [] });
    const { body } = await execute({ tool_uses });
    expect((await execute({ session_id: body.session_id, tool_uses })).body.calls[0]?.replayed).toBe(true);
    for (const accept of ['application/x-ndjson', 'text/event-stream']) await execute({ tool_uses }, accept);
    const below = (rest: string) =>
      expectDescribed('get', `/sessions/{id}${rest.split('?')[0]}`, `/sessions/${body.session_id}${rest}`);
    await below('/events?limit=3');
    await below('/export');
    await below('/export?format=markdown');
    await below('/search?q=seq');
    await expectDescribed('get', '/search', '/search?q=seq&limit=1');
    const one = `/sessions/${body.session_id}/results/${tool_uses[0]?.id}?limit_chars=10`;
    await expectDescribed('get', '/sessions/{id}/results/{tool_use_id}', one);
  });

  it('of questions, changes and the way back', async () => {
    const sessionId = await client.session({ cwd: folder });
    const socket = await client.stream(sessionId);
    const write = block('Write', { file_path: 'new.txt', content: 'one\n' });
    const executed = client.execute(sessionId, [write]);
    const { request_id } = await socket.next(({ type }) => type === 'permission_request');
    const below = (method: string, rest: string, path = rest, asked?: unknown) =>
      expectDescribed(method, `/sessions/{id}${path}`, `/sessions/${sessionId}${rest}`, asked);
    await below('get', '/prompts');
    await expectDescribed('get', '/prompts', '/prompts');
    const answer = [`/prompts/${String(request_id)}`, '/prompts/{request_id}', { behavior: 'allow' }] as const;
    await below('post', ...answer);
    expect((await below('post', ...answer)).status).toBe(409);
    await executed;
    expect((await below('get', '/changes')).body['changes']).toHaveLength(1);
    await below('post', '/undo', '/undo', { tool_use_id: write.id });
    await socket.close();
  });

  it('of background tasks', async () => {
    const sessionId = await client.session({ cwd: folder, mode: 'bypassPermissions' });
    const below = (method: string, rest: string, path = rest) =>
      expectDescribed(method, `/sessions/{id}${path}`, `/sessions/${sessionId}${rest}`);
    const command = 'echo one; sleep 60';
    await client.execute(sessionId, [block('Bash', { command, run_in_background: true })]);
    const { body } = await below('get', '/tasks');
    const [task] = body['tasks'] as readonly { readonly task_id: string }[];
    const at = `/tasks/${task?.task_id}`;
    await below('get', `${at}/output`, '/tasks/{task_id}/output');
    const { body: stopped } = await below('post', `${at}/stop`, '/tasks/{task_id}/stop');
    expect(stopped['state']).toBe('killed');
  });

  it('of a session with a running call, in the list too', async () => {
    const output_schema = { type: 'object', properties: { done: { type: 'boolean' } } };
    const sessionId = await client.session({ cwd: folder, mode: 'bypassPermissions', tools: ['Bash'], output_schema });
    const executed = client.execute(sessionId, [block('Bash', { command: 'sleep 60' })]);
    const { body } = await until(async () => {
      const reply = await expectDescribed('get', '/sessions/{id}', `/sessions/${sessionId}`);
      return (reply.body['running'] as readonly unknown[]).length > 0 && reply;
    });
    expect(body['state']).toBe('running');
    await expectDescribed('get', '/sessions', '/sessions');
    await expectDescribed('get', '/tools', `/tools?session_id=${sessionId}`);
    await client.post(`/sessions/${sessionId}/cancel`);
    await executed;
  });

  it('of results with blocks, in the three shapes', async () => {
    const tool_uses = [block('ToolSearch', { query: 'select:NotebookEdit' })];
    await expectDescribed('post', '/execute', '/execute', { tool_uses });
    const named = { name: 'ToolSearch', arguments: JSON.stringify({ query: 'notebook' }) };
    const output = [{ type: 'function_call', call_id: 'call_1', ...named }];
    await expectDescribed('post', '/execute', '/execute', { output });
  });

  it('of a saved batch', async () => {
    const sessionId = await client.session({ cwd: folder, mode: 'bypassPermissions' });
    const body = { title: 'A test', tool_uses: [{ name: 'Bash', input: { command: 'echo hi' } }] };
    const { results } = await client.execute(sessionId, [block('RemoteTrigger', { action: 'create', body })]);
    const id = /trg_[0-9a-f]+/.exec(String(results[0]?.content))?.[0];
    const reply = await expectDescribed('post', '/triggers/{id}', `/triggers/${id}`);
    expect(reply.body.calls).toMatchObject([{ status: 'ok' }]);
  });

  it('of errors', async () => {
    for (const [method, path, address] of [
      ['get', '/sessions/{id}', '/sessions/ses_none'],
      ['get', '/sessions', '/sessions?limit=x'],
      ['post', '/execute', '/execute'],
      ['post', '/mcp-servers/{name}/reconnect', '/mcp-servers/none/reconnect'],
    ] as const) {
      const reply = await expectDescribed(method, path, address, method === 'post' ? { sesion_id: 'x' } : undefined);
      expect(reply.status).toBeGreaterThanOrEqual(400);
    }
  });

  it('of the tool list and of what operators ask', async () => {
    for (const format of ['anthropic', 'openai-chat', 'openai-responses', 'mcp', 'full', 'table']) {
      await expectDescribed('get', '/tools', `/tools?format=${format}`);
      await expectDescribed('get', '/tools', `/tools?format=${format}&schemas=none`);
    }
    await expectDescribed('get', '/tools/{name}', '/tools/Bash');
    for (const path of ['/healthz', '/readyz', '/metrics', '/mcp-servers']) await expectDescribed('get', path, path);
    await expectDescribed('get', '/readyz', '/readyz?verbose');
  });

  it('and no route is left out', () => {
    const routes = Object.entries(described.api.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method} ${path}`),
    );
    // Frames over the WebSocket are compared in `frames.test.ts`, news of the list in `session-list.test.ts`, logins at MCP servers in `mcp-login.test.ts`.
    const metadata = ['', '/mcp', '/mcp/servers/{name}'].map(
      (path) => `get /.well-known/oauth-protected-resource${path}`,
    );
    const elsewhere = [
      'get /sessions/events',
      'get /oauth/client-metadata.json',
      'get /oauth/callback',
      'post /mcp-servers/{name}/login',
      'delete /mcp-servers/{name}/login',
      ...metadata,
      'get /sessions/{id}/stream',
    ];
    expect(routes.filter((route) => !compared.has(route))).toEqual(elsewhere);
  });

  it('and no route is left without one', () => {
    const operations = Object.entries(described.api.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { responses }]) => ({ name: `${method} ${path}`, responses })),
    );
    const bare = operations.filter(({ responses }) => !('101' in responses || '204' in responses));
    expect(bare.filter(({ responses }) => !Object.values(responses).every(({ content }) => content))).toEqual([]);
  });

  it('and every reference leads to a schema', () => {
    const references = [...JSON.stringify(described.api).matchAll(/"\$ref":"([^"]*)"/g)].map(
      ([, target = '']) => target,
    );
    const names = new Set(Object.keys(described.api.components.schemas).map((name) => `#/components/schemas/${name}`));
    expect(references.length).toBeGreaterThan(50);
    expect(references.filter((target) => !names.has(target))).toEqual([]);
  });
});
