/**
 * All configured MCP servers, and their tools as one list that changes only when a tool did.
 *
 * Nothing here blocks: servers connect in the background, a few at a time, and a dead server does not affect the
 * others.
 */
import pLimit from 'p-limit';
import { errorMessage, GauntletError } from '../base/errors.ts';
import type { Tool } from '../tool/tool.ts';
import type { McpOutput } from './call-result.ts';
import type { McpServerStatus } from './connection.ts';
import { openPinStore, type PinStore } from './pin-store.ts';
import type { McpResource } from './resources.ts';
import type { McpServer } from './server.ts';
import type { McpServerSettings } from './server-settings.ts';
import type { McpEnvironment } from './environment.ts';

/** Options of `createMcpConnections`. */
export interface McpConnectionsOptions extends McpEnvironment {
  /** The setting `mcpServers`. */
  readonly servers: Readonly<Record<string, McpServerSettings>>;
  /** Real path of the file that stores the pins of tool definitions. */
  readonly pinFile: string;
}

/** Status of one server, for people. */
export interface McpServerState {
  readonly name: string;
  readonly state: McpServerStatus;
  /** Reason for the missing connection. */
  readonly reason?: string;
  readonly toolCount: number;
}

/** The configured servers. */
export interface McpConnections {
  /** Connect in the background; returns at once. */
  start(): void;
  /** Tools of all servers; the same array until something changed. */
  tools(): readonly Tool[];
  states(): readonly McpServerState[];
  /**
   * Wait until a server is connected; a failed server is tried once more.
   *
   * @throws {GauntletError} `not_found`, `tool_failed` with the reason, or `cancelled`.
   */
  ready(name: string, signal: AbortSignal): Promise<void>;
  /** @throws {GauntletError} As `ready`, or `timeout`. */
  listResources(name: string, signal: AbortSignal): Promise<readonly McpResource[]>;
  /** @throws {GauntletError} As `listResources`. */
  readResource(name: string, uri: string, signal: AbortSignal): Promise<McpOutput>;
  /** Close every connection and end every server process. */
  close(): Promise<void>;
}

/** Servers connecting at once; each may be a process that starts. */
const MAX_CONNECTING = 4;

/** Former servers whose pins are kept: one that is configured again has the pins that it had. */
const MAX_FORMER_SERVERS = 64;

/**
 * Create the connections; nothing is loaded or started before `start`.
 *
 * @throws {GauntletError} `invalid_setting` if the file of pins is malformed.
 */
export function createMcpConnections(options: McpConnectionsOptions): McpConnections {
  const { onToolsChanged } = options;
  const enabled = Object.entries(options.servers).filter(([, settings]) => settings.disabled !== true);
  const limitConnecting = pLimit(MAX_CONNECTING);
  const pinStore = openPins(options);
  const servers = new Map<string, McpServer>();
  let tools: readonly Tool[] = Object.freeze([]);
  let loading: Promise<void> | undefined;
  let loadFailure: string | undefined;
  let isClosed = false;

  /** Loaded lazily: the SDK and ajv are needed only where a server is configured. */
  async function load(): Promise<void> {
    const { createMcpServer } = await import('./server.ts');
    for (const [name, settings] of enabled) {
      const pins = pinStore.pinsOf(name, settings);
      const server = createMcpServer({ ...options, name, settings, pins, limitConnecting, onToolsChanged: collect });
      servers.set(name, server);
      if (!isClosed) server.connection.start();
    }
  }

  function collect(): void {
    const next = [...servers.values()].flatMap((server) => server.tools());
    if (next.length === tools.length && next.every((tool, index) => tool === tools[index])) return;
    tools = Object.freeze(next);
    onToolsChanged();
  }

  function start(): void {
    if (enabled.length === 0) return;
    loading ??= load().catch((error: unknown) => {
      loadFailure = errorMessage(error);
      options.onNotice('warning', 'mcp_unavailable', `Cannot load the MCP client: ${loadFailure}`);
    });
  }

  async function serverNamed(name: string): Promise<McpServer> {
    start();
    await loading;
    const server = servers.get(name);
    if (server !== undefined) return server;
    const others = enabled.length === 0 ? '' : `; those that are: ${enabled.map(([known]) => `"${known}"`).join(', ')}`;
    throw new GauntletError('not_found', `No MCP server "${name}" is configured and enabled${others}`);
  }

  return {
    start,
    tools: () => tools,
    states: () =>
      Object.entries(options.servers).map(([name, { disabled }]) =>
        disabled === true ? { name, state: 'disabled', toolCount: 0 } : stateOf(name, servers.get(name), loadFailure),
      ),
    ready: async (name, signal) => void (await (await serverNamed(name)).connection.ready(signal)),
    listResources: async (name, signal) => (await serverNamed(name)).listResources(signal),
    readResource: async (name, uri, signal) => (await serverNamed(name)).readResource(uri, signal),
    async close() {
      isClosed = true;
      await loading;
      await Promise.all([...servers.values()].map((server) => server.connection.close()));
      await pinStore.close();
    },
  };
}

function openPins({ pinFile, onNotice }: McpConnectionsOptions): PinStore {
  return openPinStore(pinFile, {
    maxFormerServers: MAX_FORMER_SERVERS,
    onFailure: (reason) =>
      onNotice('warning', 'mcp_pins_not_saved', `Pinned definitions of MCP tools are not saved: ${reason}`),
  });
}

/** Describe an enabled server; before the client is loaded, it is `connecting`. */
function stateOf(name: string, server: McpServer | undefined, loadFailure: string | undefined): McpServerState {
  if (server === undefined) {
    return loadFailure === undefined
      ? { name, state: 'connecting', toolCount: 0 }
      : { name, state: 'failed', reason: loadFailure, toolCount: 0 };
  }
  const { status, reason } = server.connection;
  return { name, state: status, ...(reason === undefined ? {} : { reason }), toolCount: server.tools().length };
}
