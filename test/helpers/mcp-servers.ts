/** What the tests of MCP connections share: a process host, a set of servers, a way to wait. */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { afterAll, onTestFinished } from 'vitest';
import { DEFAULT_LIMITS, type Limits } from '../../config/limits.ts';
import type { OpenSharedStore } from '../../src/log/shared-store.ts';
import { openSqliteLog } from '../../src/log/sqlite-log.ts';
import { RETRY_PACE, type RetryPace } from '../../src/mcp/retry-pause.ts';
import { createMcpConnections, type McpConnections, type McpConnectionsOptions } from '../../src/mcp/connections.ts';
import type { ToolResultBlock } from '../../src/wire/blocks.ts';
import type { McpServerSettings, StdioServerSettings } from '../../src/mcp/server-settings.ts';
import { createProcessHost } from '../../src/process/host-client.ts';
import type { ProcessHost } from '../../src/process/process-host.ts';
import { createLookup } from '../../src/process/proxy/lookup.ts';
import { temporaryFolder } from './temporary-folder.ts';
import { allowEverything, parentMessage, toolUseContextIn } from './tool-use-context.ts';

const require = createRequire(import.meta.url);

/** Settings that start a package's own server with Node. */
export function packageServer(specifier: string, ...args: string[]): StdioServerSettings {
  return { command: process.execPath, args: [require.resolve(specifier), ...args] };
}

/** The hostile fixture in one of its moods. */
export function fixtureServer(...args: string[]): StdioServerSettings {
  return {
    command: process.execPath,
    args: [new URL('../fixtures/mcp-server.mjs', import.meta.url).pathname, ...args],
  };
}

/** The fixture that offers prompts, resources and instructions, in one of its moods. */
export function offeringServer(...args: string[]): StdioServerSettings {
  const program = new URL('../fixtures/mcp-offers.mjs', import.meta.url).pathname;
  return { command: process.execPath, args: [program, ...args] };
}

/** Where authorization servers would send a browser. */
export const CALLBACK = 'http://127.0.0.1:1/oauth/callback';

/** Everything a test may look at. */
export interface RunningConnections extends McpConnections {
  readonly notices: readonly { code: string; message: string }[];
  readonly pids: readonly number[];
  readonly changes: () => number;
}

/** Start servers; they end with the test file. */
export function startServers(
  servers: Record<string, McpServerSettings>,
  { firstMs = 20, maxFailures = RETRY_PACE.maxFailures, ...limits }: Partial<Limits & RetryPace> = {},
  {
    pinFile = join(temporaryFolder(), 'mcp-pins.json'),
    store = temporaryStore(),
    lookup = createLookup(),
    callback = CALLBACK,
  }: Partial<Pick<McpConnectionsOptions, 'pinFile' | 'store' | 'lookup'> & { callback: string }> = {},
): RunningConnections {
  const notices: { code: string; message: string }[] = [];
  const pids: number[] = [];
  let changes = 0;
  const processHost = notingProcessHost(pids);
  const connections = createMcpConnections({
    servers,
    processHost,
    folder: process.cwd(),
    pinFile,
    store,
    principals: ['owner', 'other'],
    lookup,
    limits: { ...DEFAULT_LIMITS, ...limits },
    pace: { firstMs, maxFailures },
    onToolsChanged: () => changes++,
    onNotice: (_level, code, message) => notices.push({ code, message }),
  });
  onTestFinished(() => connections.close());
  connections.start(callback);
  return { ...connections, notices, pids, changes: () => changes };
}

/** A real store in a folder of its own. */
export function temporaryStore(): OpenSharedStore {
  const log = openSqliteLog({ folder: temporaryFolder(), limits: DEFAULT_LIMITS, durability: 'process' });
  onTestFinished(() => log.close());
  return log.store;
}

/** Call a tool of a server as a session would, gates left out. */
export async function callTool(
  connections: McpConnections,
  name: string,
  input: Record<string, unknown> = {},
  { signal = new AbortController().signal, onProgress }: CallOptions = {},
): Promise<ToolResultBlock> {
  const tool = connections.tools().find((candidate) => candidate.name === name);
  if (tool === undefined) throw new Error(`No tool "${name}"`);
  const context = toolUseContextIn(process.cwd(), { signal });
  const { data } = await tool.call(input, context, allowEverything, parentMessage, (progress) =>
    onProgress?.(progress.data),
  );
  return tool.mapToolResultToToolResultBlockParam(data, 'call-1');
}

interface CallOptions {
  readonly signal?: AbortSignal;
  readonly onProgress?: (data: object) => void;
}

/** Poll until `read` gives something, at most ten seconds. */
export async function eventually<Value>(read: () => Value | undefined | false): Promise<Value> {
  for (const deadline = Date.now() + 10_000; Date.now() < deadline;) {
    const value = read();
    if (value !== undefined && value !== false) return value;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error('It did not happen within ten seconds');
}

/** The real process host, one a test file. */
let sharedHost: ProcessHost | undefined;

function notingProcessHost(pids: number[]): ProcessHost {
  sharedHost ??= createProcessHost({ limits: DEFAULT_LIMITS, ownerId: `test-${process.pid}` });
  const host = sharedHost;
  return {
    spawn(request) {
      const child = host.spawn(request);
      // A start that fails is the business of whoever asked for it.
      child.started.then(({ pid }) => pids.push(pid)).catch(() => undefined);
      return child;
    },
    close: () => Promise.resolve(),
  };
}

afterAll(() => sharedHost?.close());
