/** PROTOCOL 7: `/openapi.json` says of the HTTP routes what they do, field by field. */
import { Ajv2020 } from 'ajv/dist/2020.js';
import ajvFormats from 'ajv-formats';
import { beforeAll, describe, expect, it } from 'vitest';
import { sharedWorkspace } from '../helpers/shared-workspace.ts';
import { block, type WireClient, type WireReply } from '../helpers/wire-client.ts';

interface Described {
  readonly paths: Record<string, Record<string, { responses: Record<string, { content?: Record<string, unknown> }> }>>;
}

let client: WireClient;
let folder: string;
let api: Described;
const ajv = new Ajv2020({ strict: false, allErrors: true });
ajvFormats.default(ajv);

beforeAll(async () => {
  ({ client, folder } = await sharedWorkspace('openapi'));
  api = closed((await client.get('/openapi.json')).body) as Described;
  ajv.addSchema({ $id: 'api', ...api });
});

/** The same, with no field allowed that is not described. */
function closed(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(closed);
  const copy = Object.fromEntries(Object.entries(value).map(([key, member]) => [key, closed(member)]));
  const isClosable = copy['type'] === 'object' && 'properties' in copy && !('additionalProperties' in copy);
  return isClosable ? { ...copy, additionalProperties: false } : copy;
}

/** What is wrong with a reply, by the description of its route. */
function faults(method: string, path: string, reply: WireReply): unknown {
  const { status, headers, text } = reply;
  const { responses } = api.paths[path]?.[method] ?? { responses: {} };
  const key = String(status) in responses ? String(status) : 'default';
  const types = responses[key]?.content ?? {};
  const type = headers.get('content-type')?.split(';')[0];
  if (type === undefined) return text === '' && Object.keys(types).length === 0 ? [] : 'a body is missing';
  if (!(type in types)) return `${type} is not described for ${status}`;
  if (type !== 'application/json') return [];
  const place = [path, method, 'responses', key, 'content', type].map((part) =>
    encodeURIComponent(part.replaceAll('/', '~1')),
  );
  const validate = ajv.compile({ $ref: `api#/paths/${place.join('/')}/schema` });
  return validate(reply.body) ? [] : validate.errors;
}

async function expectDescribed(method: string, path: string, address: string, body?: unknown, accept?: string) {
  const reply = await client.send(method.toUpperCase(), address, body, accept ? { headers: { accept } } : {});
  expect({ path, status: reply.status, faults: faults(method, path, reply) }).toMatchObject({ faults: [] });
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
    await below('get', '');
    await below('get', '/permissions');
    await below('post', '/permissions', { updates: [{ type: 'setMode', mode: 'acceptEdits' }] });
    for (const command of ['touch a', 'ls && mv a b', 'echo "']) {
      await below('post', '/permissions/explain', { name: 'Bash', input: { command } });
    }
    await below('post', '/cancel', {});
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
    await below('/search?q=seq');
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
    const answer = [`/prompts/${String(request_id)}`, '/prompts/{request_id}', { behavior: 'allow' }] as const;
    await below('post', ...answer);
    expect((await below('post', ...answer)).status).toBe(409);
    await executed;
    expect((await below('get', '/changes')).body['changes']).toHaveLength(1);
    await below('post', '/undo', '/undo', { tool_use_id: write.id });
    await socket.close();
  });

  it('of the tool list and of what operators ask', async () => {
    for (const format of ['anthropic', 'openai-chat', 'openai-responses', 'mcp', 'full', 'table']) {
      await expectDescribed('get', '/tools', `/tools?format=${format}`);
    }
    await expectDescribed('get', '/tools/{name}', '/tools/Bash');
    for (const path of ['/healthz', '/readyz', '/metrics']) await expectDescribed('get', path, path);
  });

  it('and no route is left without one', () => {
    const operations = Object.entries(api.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { responses }]) => ({ name: `${method} ${path}`, responses })),
    );
    const bare = operations.filter(({ responses }) => !('101' in responses || '204' in responses));
    expect(bare.filter(({ responses }) => !Object.values(responses).every(({ content }) => content))).toEqual([]);
  });
});
