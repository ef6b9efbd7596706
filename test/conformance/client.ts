/**
 * The program that the conformance suite runs as an MCP client: this server's own connections and logins, with a
 * browser that follows redirects in place of a person, and a person who accepts what a form proposes.
 *
 * The suite appends the address of its server, and names the scenario in the environment.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DEFAULT_LIMITS } from '../../config/limits.ts';
import { isGauntletError } from '../../src/base/errors.ts';
import { openSqliteLog } from '../../src/log/sqlite-log.ts';
import { createMcpConnections, type McpConnections } from '../../src/mcp/connections.ts';
import type { RemoteServerSettings } from '../../src/mcp/server-settings.ts';
import { createProcessHost } from '../../src/process/host-client.ts';
import { createLookup } from '../../src/process/proxy/lookup.ts';
import type { Tool } from '../../src/tool/tool.ts';
import { allowEverything, parentMessage, toolUseContextIn } from '../helpers/tool-use-context.ts';

const NAME = 'suite';
const PRINCIPAL = 'owner';

/** The suite expects the client's metadata document beside this address; nothing has to listen there. */
const CALLBACK = 'https://conformance-test.local/callback';

/** Logins for one call, more than the connections allow; the suite counts them. */
const MAX_LOGINS = 5;

/** What a scenario says beside the address. */
interface Agreement {
  readonly client_id?: string;
  readonly client_secret?: string;
  readonly private_key_pem?: string;
  readonly issuer?: string;
  readonly toolCalls?: readonly { readonly name: string; readonly arguments: Readonly<Record<string, unknown>> }[];
}

const url = process.argv.at(-1) ?? '';
const scenario = process.env['MCP_CONFORMANCE_SCENARIO'] ?? '';
const agreed = JSON.parse(process.env['MCP_CONFORMANCE_CONTEXT'] ?? '{}') as Agreement;
const signal = AbortSignal.timeout(50_000);
const folder = mkdtempSync(join(tmpdir(), 'gauntlet-conformance-'));
const log = openSqliteLog({ folder, limits: DEFAULT_LIMITS, durability: 'process' });
const processHost = createProcessHost({ limits: DEFAULT_LIMITS, ownerId: `conformance-${process.pid}` });
const connections = createMcpConnections({
  servers: { [NAME]: await entry() },
  processHost,
  folder,
  pinFile: join(folder, 'pins.json'),
  store: log.store,
  principals: [PRINCIPAL],
  lookup: createLookup(),
  limits: DEFAULT_LIMITS,
  onToolsChanged: () => undefined,
  onNotice: (level, code, message) => console.error(`${level} ${code}: ${message}`),
});

try {
  connections.start(CALLBACK);
  await connect(connections);
  const tools = connections.tools(PRINCIPAL);
  const calls =
    agreed.toolCalls?.map(({ name, arguments: input }) => ({ tool: named(tools, name), input })) ??
    tools.map((tool) => ({ tool, input: sampleInput(tool) }));
  for (const { tool, input } of calls) await callTool(connections, tool, input);
} finally {
  await connections.close();
  await processHost.close();
  await log.close();
  rmSync(folder, { recursive: true, force: true });
}

/** The entry of the suite's server, with what was agreed on beforehand. */
async function entry(): Promise<RemoteServerSettings> {
  const { client_id: clientId, client_secret: clientSecret, private_key_pem: privateKey } = agreed;
  if (clientId === undefined) return { type: 'http', url };
  const issuer = agreed.issuer ?? (await statedIssuer());
  const client = { clientId, ...(clientSecret && { clientSecret }), ...(privateKey && { privateKey }), issuer };
  const isForNobody = scenario.startsWith('auth/client-credentials');
  return { type: 'http', url, oauth: { ...client, ...(isForNobody && { grant: 'client_credentials' as const }) } };
}

/** Look up who may get the client's secret, as an operator does once. */
async function statedIssuer(): Promise<string> {
  const reply = await fetch(new URL('/.well-known/oauth-protected-resource/mcp', url));
  const { authorization_servers: servers = [] } = (await reply.json()) as { authorization_servers?: string[] };
  return servers[0] ?? '';
}

/** Connect, and log in where that is wanted. */
async function connect(servers: McpConnections, logins = 0): Promise<void> {
  try {
    await servers.ready(NAME, signal, PRINCIPAL);
  } catch (error) {
    if (servers.states(PRINCIPAL)[0]?.state !== 'needs_auth' || logins === MAX_LOGINS) throw error;
    await logIn(servers);
    await connect(servers, logins + 1);
  }
}

/** Do in the browser what a person would. */
async function logIn(servers: McpConnections): Promise<void> {
  const address = await servers.authorize(NAME, PRINCIPAL, signal);
  if (address === undefined) return;
  const reply = await fetch(address, { redirect: 'manual' });
  const { searchParams } = new URL(reply.headers.get('location') ?? '');
  const text = (name: string) => searchParams.get(name) ?? undefined;
  await servers.finishAuthorization({
    state: text('state') ?? '',
    code: text('code'),
    iss: text('iss'),
    error: text('error'),
  });
}

/** Call a tool, and log in again where the server wants that. A call that fails is for the suite to judge. */
async function callTool(servers: McpConnections, tool: Tool, input: Readonly<Record<string, unknown>>): Promise<void> {
  const context = toolUseContextIn(folder, { signal, ask: () => Promise.resolve({ behavior: 'allow' }) });
  for (let logins = 0; logins < MAX_LOGINS; logins++) {
    try {
      await tool.call(input, context, allowEverything, parentMessage);
      return;
    } catch (error) {
      console.error(error);
      const needsMore = isGauntletError(error) && error.details?.reason === 'insufficient_scope';
      if (!needsMore && servers.states(PRINCIPAL)[0]?.state !== 'needs_auth') return;
      await logIn(servers);
      await connect(servers);
    }
  }
}

function named(tools: readonly Tool[], name: string): Tool {
  const tool = tools.find((candidate) => candidate.name === `mcp__${NAME}__${name}`);
  if (tool === undefined) throw new Error(`There is no tool "${name}"`);
  return tool;
}

/** Values that fit the types of the tool's parameters. */
function sampleInput({ inputJSONSchema }: Tool): Readonly<Record<string, unknown>> {
  const { properties = {} } = (inputJSONSchema ?? {}) as { properties?: Record<string, { type?: string }> };
  const samples: Readonly<Record<string, unknown>> = { number: 1, integer: 1, boolean: true, array: [], object: {} };
  return Object.fromEntries(Object.entries(properties).map(([key, { type = '' }]) => [key, samples[type] ?? 'text']));
}
