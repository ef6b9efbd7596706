/** PROTOCOL 8: spans of calls, from the built server with a preloaded SDK to a collector. */
import { readFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { join } from 'node:path';
import type { AddressInfo } from 'node:net';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startServer, type BuiltServer } from '../helpers/built-server.ts';
import { pipeFetch } from '../helpers/mcp-http.ts';
import { scriptedModel, type ScriptedModel } from '../helpers/scripted-model.ts';
import { type ReceivedSpan, spanReceiver } from '../helpers/span-receiver.ts';
import { block, until, wireClient, type WireClient, type WirePrompt } from '../helpers/wire-client.ts';

const SDK = new URL('../fixtures/tracing-sdk.mjs', import.meta.url).href;
const CALLER = 'b7ad6b7169203331';
/** Headers of a trace of its own, whose id ends with the number. */
const caller = (number: number) => ({
  traceparent: `00-0af7651916cd43dd8448eb21${String(number).padStart(8, '0')}-${CALLER}-01`,
  tracestate: 'vendor=kept',
});
const traceIdOf = ({ traceparent }: { readonly traceparent: string }) => traceparent.split('-')[1];

/** The message that the upstream was sent with its call. */
interface SeenCall {
  readonly headers: IncomingHttpHeaders;
  readonly meta: Readonly<Record<string, unknown>> | undefined;
}

const upstreamCalls: SeenCall[] = [];
let spans: readonly ReceivedSpan[];
let model: ScriptedModel;
let server: BuiltServer;
let client: WireClient;
const ids: Record<string, string> = {};

/** An MCP server that notes the trace of each call. */
async function tracedUpstream(): Promise<string> {
  let headers: IncomingHttpHeaders = {};
  const handler = createMcpHandler(() => {
    const mcp = new McpServer({ name: 'traced', version: '1' });
    mcp.registerTool('echo', { annotations: { readOnlyHint: true } }, ({ mcpReq }) => {
      upstreamCalls.push({ headers, meta: mcpReq._meta });
      return { content: [{ type: 'text', text: 'echo' }] };
    });
    return mcp;
  });
  const http = createServer((request, response) => {
    headers = request.headers;
    void pipeFetch(request, response, (asked) => handler.fetch(asked));
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  afterAll(async () => {
    await handler.close();
    http.closeAllConnections();
    http.close();
  });
  return `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`;
}

/** Run one block below the caller's span. */
async function run(name: string, call: ReturnType<typeof block>, headers: Record<string, string>, more: object = {}) {
  ids[name] = call.id;
  const { body } = await client.post('/execute', { tool_uses: [call], ...more }, { headers });
  return body;
}

beforeAll(async () => {
  const upstream = await tracedUpstream();
  model = await scriptedModel(({ turn }) =>
    turn === 0 ? { calls: [{ name: 'Bash', input: { command: 'echo from-the-agent' } }] } : { text: 'done' },
  );
  const receiver = await spanReceiver();
  ({ spans } = receiver);
  server = await startServer({
    settings: {
      mcpServers: { up: { type: 'http', url: upstream } },
      models: { default: model.settings() },
      permissions: { allow: ['mcp__up', 'Agent'], deny: ['Bash(rm:*)'] },
    },
    environment: {
      NODE_OPTIONS: `--import ${SDK}`,
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
      // Longer than the test: what arrives was flushed at the end of the server.
      OTEL_BSP_SCHEDULE_DELAY: '60000',
    },
  });
  client = wireClient(server);
  await until(async () => {
    const { body } = await client.get('/tools');
    return body.tools.some(({ name }) => name === 'mcp__up__echo');
  });

  await run('denied', block('Bash', { command: 'rm -rf secret-folder' }), caller(1));
  await run('upstream', block('mcp__up__echo', {}), caller(2));
  await run('agent', block('Agent', { description: 'a test', prompt: 'begin' }), caller(3));
  await run('unknown', block('Invented', {}), caller(4));
  await runAsked();
  await runStreamed();
  await runOverMcp();
  await server.end();
});

async function runAsked() {
  const id = await client.session();
  const asked = run('asked', block('Bash', { command: 'touch made' }), caller(5), { session_id: id, on_ask: 'wait' });
  const [prompt] = await until(async (): Promise<readonly WirePrompt[] | false> => {
    const { body } = await client.get(`/sessions/${id}/prompts`);
    return body.prompts.length === 1 && body.prompts;
  });
  await client.post(`/sessions/${id}/prompts/${prompt?.request_id}`, { behavior: 'allow' });
  expect((await asked).calls[0]).toMatchObject({ status: 'ok' });
  ids['session'] = id;
}

async function runStreamed() {
  const { traceparent } = caller(6);
  const stream = await client.stream(
    await client.session(),
    {},
    { headers: { authorization: `Bearer ${server.token}`, traceparent } },
  );
  await stream.next('live');
  const [named, linked] = [block('Bash', { command: 'echo 1' }), block('Bash', { command: 'echo 2' })];
  Object.assign(ids, { named: named.id, linked: linked.id });
  stream.send({ type: 'tool_use', tool_use: named, ...caller(7) });
  await stream.next('result');
  stream.send({ type: 'tool_use', tool_use: linked });
  await stream.next('result');
  await stream.close();
}

async function runOverMcp() {
  const { traceparent } = caller(8);
  const request = (id: number, method: string, params: object) =>
    client.post('/mcp', { jsonrpc: '2.0', id, method, params }, { headers: mcpHeaders });
  const mcpHeaders: Record<string, string> = { accept: 'application/json, text/event-stream' };
  const about = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } };
  const { headers } = await request(1, 'initialize', about);
  mcpHeaders['mcp-session-id'] = headers.get('mcp-session-id') ?? '';
  const params = { name: 'Bash', arguments: { command: 'echo 3' }, _meta: { traceparent } };
  const { text } = await request(2, 'tools/call', params);
  expect(text).toContain('3');
}

const call = (name: string): ReceivedSpan => {
  const found = spans.find(({ attributes }) => attributes['gen_ai.tool.call.id'] === ids[name]);
  if (!found) throw new Error(`No span of "${name}" among ${spans.length}`);
  return found;
};
const below = ({ spanId }: ReceivedSpan, name?: string) =>
  spans.filter((span) => span.parentSpanId === spanId && (name === undefined || span.name === name));

describe('the span of a call', () => {
  it("is below the caller's span, and says what was called and how it ended", () => {
    const span = call('upstream');
    expect(span).toMatchObject({ name: 'execute_tool mcp__up__echo', traceId: traceIdOf(caller(2)), statusCode: 0 });
    expect(span.parentSpanId).toBe(CALLER);
    expect(span.attributes).toMatchObject({
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': 'mcp__up__echo',
      'gen_ai.tool.type': 'extension',
      'mcp.method.name': 'tools/call',
      'gauntlet.tool.origin': 'mcp',
      'gauntlet.call.status': 'ok',
      'gauntlet.decision.behavior': 'allow',
      'gauntlet.decision.reason': 'rule',
    });
  });

  it('has the gate and the run below it, one after the other and within it', () => {
    const span = call('upstream');
    const [gate, run] = [below(span, 'gate')[0], below(span, 'run')[0]];
    if (!gate || !run) throw new Error('A step is missing');
    const times = [span.startNs, gate.startNs, gate.endNs, run.startNs, run.endNs, span.endNs];
    expect(times).toEqual(times.toSorted((one, other) => Number(one - other)));
  });

  it('shows a denial as an error of its kind, without a run and without the input', () => {
    const span = call('denied');
    expect(span.statusCode).toBe(2);
    expect(span.attributes).toMatchObject({
      'error.type': 'permission_denied',
      'gauntlet.decision.behavior': 'deny',
      'gauntlet.decision.reason': 'rule',
    });
    expect([below(span, 'gate').length, below(span, 'run').length]).toEqual([1, 0]);
    expect(JSON.stringify(spans, (_, value: unknown) => (typeof value === 'bigint' ? '' : value))).not.toContain(
      'secret-folder',
    );
  });

  it('has the wait for a person below its gate, and names who answered', () => {
    const span = call('asked');
    expect(span.attributes['gauntlet.session.id']).toBe(ids['session']);
    const [gate] = below(span, 'gate');
    const [wait, ...more] = gate ? below(gate) : [];
    expect(more).toEqual([]);
    expect(wait?.attributes).toMatchObject({
      'gauntlet.wait.for': 'person',
      'gauntlet.answer.behavior': 'allow',
      'gauntlet.answer.by': 'owner',
    });
    expect(below(span, 'run')).toHaveLength(1);
  });

  it('has no invented name in its own name', () => {
    expect(call('unknown')).toMatchObject({ name: 'execute_tool', statusCode: 2 });
    expect(call('unknown').attributes).toMatchObject({ 'gen_ai.tool.name': 'Invented', 'error.type': 'unknown_tool' });
  });
});

describe('a trace goes on', () => {
  it('at MCP servers, in the request and in its headers', () => {
    const [run] = below(call('upstream'), 'run');
    const traceparent = `00-${run?.traceId}-${run?.spanId}-01`;
    expect(upstreamCalls).toHaveLength(1);
    expect(upstreamCalls[0]?.meta).toMatchObject({ traceparent, tracestate: 'vendor=kept' });
    expect(upstreamCalls[0]?.headers).toMatchObject({ traceparent, tracestate: 'vendor=kept' });
  });

  it('in the calls of an agent, and in its requests to the model', () => {
    const [run] = below(call('agent'), 'run');
    const children = run ? below(run) : [];
    expect(children.filter(({ name }) => name === 'execute_tool Bash')).toMatchObject([
      { traceId: traceIdOf(caller(3)) },
    ]);
    const named = model.requests.map(({ headers }) => String(headers['traceparent']).split('-')[2]);
    expect(named).toHaveLength(2);
    const chats = children.filter(({ name }) => name === 'chat scripted');
    expect(chats.map(({ spanId }) => spanId)).toEqual(named);
    expect(chats[0]?.attributes).toMatchObject({
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'anthropic',
    });
  });

  it('from a frame of a WebSocket; a call without one is linked to that of the connection', () => {
    expect(call('named')).toMatchObject({ traceId: traceIdOf(caller(7)), parentSpanId: CALLER });
    expect(call('linked').traceId).not.toBe(traceIdOf(caller(6)));
    expect(call('linked').links).toMatchObject([{ traceId: traceIdOf(caller(6)), spanId: CALLER }]);
  });

  it('from the _meta of a request to /mcp', () => {
    const [span] = spans.filter(({ traceId }) => traceId === traceIdOf(caller(8)));
    expect(spans.some(({ name, traceId }) => name === 'execute_tool Bash' && traceId === span?.traceId)).toBe(true);
  });
});

describe('a start without an SDK', () => {
  const dist = join(import.meta.dirname, '../../dist');
  const partsOf = (name: string, keyword: RegExp) =>
    [...readFileSync(join(dist, name), 'utf8').matchAll(keyword)].map(([, part = '']) => part);

  it('loads nothing of OpenTelemetry', () => {
    const [serve = ''] = partsOf('gauntlet.js', /import\("\.\/(serve-\w+\.js)"\)/g);
    const loaded = new Set<string>();
    const visit = (name: string): void => {
      if (loaded.has(name)) return;
      loaded.add(name);
      partsOf(name, /(?:from|import)\s*"\.\/([^"]+)"/g).forEach(visit);
    };
    visit(serve);
    const isOfApi = (name: string) => readFileSync(join(dist, name), 'utf8').includes('NoopContextManager');
    expect(loaded.size).toBeGreaterThan(5);
    expect([...loaded].filter(isOfApi)).toEqual([]);
  });
});
