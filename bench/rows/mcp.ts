/**
 * MCP: a call over `/mcp` beside the same over `/execute`, one through `/mcp/servers/{name}` beside the upstream itself, and
 * what configured servers cost a start.
 */
import { request, Agent } from 'node:http';
import { fileURLToPath } from 'node:url';
import { httpClient, type Reply } from '../clients.ts';
import { type Row, short } from '../row.ts';
import { type RunningServer, startMcpProxy, startMcpUpstream, startOurs } from '../servers.ts';
import { newBlock, newSession } from '../sessions.ts';
import { inTurn, median, medianMs } from '../statistics.ts';
import { NOOP } from './http.ts';

/** Calls of each side, in turn, so that both share a load that comes and goes. */
const CALLS = 1_000;

/** Calls of each side of an upstream that takes its time. */
const SLOW_CALLS = 150;

/** Time that a call of such an upstream takes, in milliseconds: one that asks a service beside it. */
const UPSTREAM_MS = 20;

const STARTS = 7;

const SERVERS = 40;

/** The stdio server of the tests, one of whose moods each slow or dead server has. */
const STDIO_SERVER = fileURLToPath(new URL('../../test/fixtures/mcp-server.mjs', import.meta.url));
const BAD_MOODS = ['slow=5000', 'silent', 'crash-at-start', 'crash-after-start'];

/** An MCP session of revision 2025-11-25 over one kept-alive connection. */
interface McpClient {
  call(name: string, input: object): Promise<Reply>;
  close(): void;
}

/** A call over each door of MCP. */
export async function mcpRows(): Promise<readonly Row[]> {
  const upstream = await startMcpUpstream();
  const proxy = await startMcpProxy(`${upstream.url}/mcp`);
  const mcpServers = { upstream: { type: 'http', url: `${upstream.url}/mcp` } };
  const ours = await startOurs(undefined, { mcpServers, permissions: { allow: ['Bash', 'mcp__upstream'] } });
  try {
    const session_id = await newSession(ours);
    await untilConnected(ours);
    const http = httpClient(ours);
    const own = await mcpClient(ours, `/mcp?session_id=${session_id}`);
    const execute = () => http.send('POST', '/execute', { session_id, tool_uses: [newBlock(NOOP.name, NOOP.input)] });
    const door = await inTurn(
      CALLS,
      () => medianMs(1, () => own.call(NOOP.name, NOOP.input)),
      () => medianMs(1, execute),
    );
    const through = await mcpClient(ours, '/mcp/servers/upstream');
    const direct = await mcpClient(upstream, '/mcp');
    const passed = (calls: number, ms: number) =>
      inTurn(
        calls,
        () => medianMs(1, () => through.call('work', { ms })),
        () => medianMs(1, () => direct.call('work', { ms })),
      );
    const slow = await passed(SLOW_CALLS, UPSTREAM_MS);
    const empty = await passed(CALLS, 0);
    const bare = await mcpClient(proxy, '/mcp');
    const beside = await inTurn(
      CALLS,
      () => medianMs(1, () => through.call('work', {})),
      () => medianMs(1, () => bare.call('work', {})),
    );
    for (const client of [http, own, through, direct, bare]) client.close();
    const rows = [
      { what: 'a no-op over `/mcp`, of the same over `/execute`', atMost: 1.5, ...door },
      {
        what: `through \`/mcp/servers/{name}\`, of the upstream directly, a call of ${UPSTREAM_MS} ms`,
        atMost: 1.3,
        ...slow,
      },
      {
        what: 'through `/mcp/servers/{name}`, of the upstream directly, a call that does nothing',
        atMost: 1.3,
        ...empty,
      },
      { what: 'the same, of a bare proxy made from the SDK', atMost: 1.5, ...beside },
    ];
    return rows.map(({ what, atMost, ours: one, floor, ratio }) => ({
      what: `${what}, latency p50 ms`,
      toReach: `at most ${atMost}`,
      measured: `${short(one)} / ${short(floor)} = ${short(ratio)}`,
      isReached: ratio <= atMost,
    }));
  } finally {
    await ours.stop();
    await proxy.stop();
    await upstream.stop();
  }
}

/** A start with many servers configured, half of them slow or dead, beside one with none. */
export async function mcpStartRows(): Promise<readonly Row[]> {
  const mcpServers = Object.fromEntries(
    Array.from({ length: SERVERS }, (_, index) => {
      const mood = index % 2 === 0 ? [] : [BAD_MOODS[((index - 1) / 2) % BAD_MOODS.length] ?? ''];
      return [`server${index}`, { command: process.execPath, args: [STDIO_SERVER, ...mood] }];
    }),
  );
  const listMs: number[] = [];
  const measure = async (settings: object, lists?: number[]) => {
    const server = await startOurs([], settings);
    const client = httpClient(server);
    const tookMs = await medianMs(1, () => client.send('GET', '/tools'));
    lists?.push(tookMs);
    client.close();
    await server.stop();
    return server.startMs;
  };
  const start = await inTurn(
    STARTS,
    () => measure({ mcpServers }, listMs),
    () => measure({}),
  );
  return [
    {
      what: `start with ${SERVERS} MCP servers, half of them slow or dead, of one with none, ms`,
      toReach: 'at most 1.05',
      measured: `${short(start.ours)} / ${short(start.floor)} = ${short(start.ratio)}`,
      isReached: start.ratio <= 1.05,
    },
    {
      what: 'the first `GET /tools` after such a start, ms',
      toReach: 'at most 100',
      measured: short(median(listMs)),
      isReached: median(listMs) <= 100,
    },
  ];
}

async function untilConnected(server: RunningServer): Promise<void> {
  const client = httpClient(server);
  for (const deadlineMs = performance.now() + 10_000; performance.now() < deadlineMs;) {
    const { servers } = (await client.send('GET', '/mcp-servers')) as { servers: readonly { state: string }[] };
    if (servers.every(({ state }) => state === 'connected')) return client.close();
  }
  throw new Error('The upstream was not connected within ten seconds');
}

async function mcpClient(server: RunningServer, path: string): Promise<McpClient> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1, noDelay: true });
  let sessionId: string | undefined;
  let requests = 0;

  const post = (message: object): Promise<Reply> =>
    new Promise((resolve, reject) => {
      const text = JSON.stringify({ jsonrpc: '2.0', ...message });
      const headers = {
        ...server.headers,
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(text),
        accept: 'application/json, text/event-stream',
        ...(sessionId !== undefined && { 'mcp-session-id': sessionId, 'mcp-protocol-version': '2025-11-25' }),
      };
      const outgoing = request(`${server.url}${path}`, { method: 'POST', agent, headers }, (incoming) => {
        const chunks: Buffer[] = [];
        sessionId ??= incoming.headers['mcp-session-id']?.toString();
        incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
        incoming.on('end', () => {
          const reply = Buffer.concat(chunks).toString();
          const data = /^data: (\{.*)$/m.exec(reply)?.[1] ?? (reply || '{}');
          const read = (incoming.statusCode ?? 500) < 300 ? (JSON.parse(data) as Reply) : { error: reply };
          if (read['error'] === undefined) resolve(read);
          else reject(new Error(`${path} answered ${incoming.statusCode}: ${JSON.stringify(read['error'])}`));
        });
      });
      outgoing.on('error', reject);
      outgoing.end(text);
    });

  const clientInfo = { name: 'bench', version: '1' };
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo };
  await post({ id: requests++, method: 'initialize', params });
  await post({ method: 'notifications/initialized' });
  return {
    call: async (name, input) => {
      const { result } = await post({ id: requests++, method: 'tools/call', params: { name, arguments: input } });
      const reply = result as Reply;
      if (reply['isError'] === true) throw new Error(`${name} failed: ${JSON.stringify(reply)}`);
      return reply;
    },
    close: () => agent.destroy(),
  };
}
