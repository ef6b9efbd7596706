/**
 * All configured MCP servers, and their tools as one list that changes only when a tool did.
 *
 * Nothing here blocks: servers connect in the background, a few at a time, and a dead server does not affect the
 * others.
 */
import pLimit from 'p-limit';
import { errorMessage, GauntletError } from '../base/errors.ts';
import type { OpenSharedStore } from '../log/shared-store.ts';
import type { Lookup } from '../process/proxy/lookup.ts';
import type { Tool } from '../tool/tool.ts';
import type { AuthorizationParts, Authorizations } from './authorization.ts';
import type { LinkHandlers } from './link-handlers.ts';
import type { McpLink } from './link.ts';
import type { McpServerStatus } from './connection.ts';
import type { ServerCredentials } from './credentials.ts';
import type { AuthorizationTarget } from './grants.ts';
import { type LinkOwner, OwnedLinks } from './owned-links.ts';
import { createLogins, type LoadedLogins, type McpLogins } from './logins.ts';
import { openPinStore, type PinStore } from './pin-store.ts';
import type { ServerOffer } from './offers.ts';
import { createReads, type McpReads } from './reads.ts';
import type { McpServer } from './server.ts';
import { ServerSet } from './server-set.ts';
import type { McpServerSettings, ServerEntries } from './server-settings.ts';
import { type DelegatedCall, delegateKey, type McpEnvironment } from './environment.ts';

/** Options of `createMcpConnections`. */
export interface McpConnectionsOptions extends McpEnvironment {
  /** The setting `mcpServers`. */
  readonly servers: ServerEntries;
  /** Real path of the file that stores the pins of tool definitions. */
  readonly pinFile: string;
  /** Stores the tokens of each principal. */
  readonly store: OpenSharedStore;
  /** All principals there are: tokens that they have are used from the start. */
  readonly principals: readonly string[];
  /** Resolves names of authorization servers. */
  readonly lookup: Lookup;
}

/** Status of one server, for people. */
export interface McpServerState {
  readonly name: string;
  readonly state: McpServerStatus | 'needs_approval';
  /** Time at which the state began, ISO 8601. */
  readonly since: string;
  /** Reason for the missing connection. */
  readonly reason?: string;
  readonly toolCount: number;
  /** Median of the latest round trips; absent where there was none. */
  readonly latencyMs?: number;
  /** True for a server with an address, false for a program. */
  readonly isRemote: boolean;
}

/** The configured servers. */
export interface McpConnections extends McpLogins, McpReads {
  /** Connect in the background; returns at once. @param callbackUrl Address that authorization servers redirect to. */
  start(callbackUrl?: string): void;
  /** Tools of all servers, as the principal sees them; the same array until something changed. */
  tools(principal?: string): readonly Tool[];
  /** Instructions and prompts of all servers, as the principal sees them; the same array until something changed. */
  offers(principal?: string): readonly ServerOffer[];
  states(principal?: string): readonly McpServerState[];
  /**
   * Wait until a server is connected; a failed server is tried once more.
   *
   * @throws {GauntletError} `not_found`, `tool_failed` with the reason, or `cancelled`.
   */
  ready(name: string, signal: AbortSignal, principal?: string): Promise<void>;
  /**
   * Connect a principal to a server again, now.
   *
   * @param isForAll True: a working connection that others share is closed, too; otherwise it stays.
   * @throws {GauntletError} `not_found`, `conflict` for a server that is disabled or cannot be used, otherwise as `ready`.
   */
  reconnect(name: string, principal: string, isForAll: boolean, signal: AbortSignal): Promise<void>;
  /**
   * Open a connection that belongs to one principal and session, with the principal's credentials. The caller closes it;
   * it is not restored when it ends. Capabilities are declared for the handlers that are given.
   *
   * @throws {GauntletError} `not_found`, `rate_limited` if the principal or all together have too many, `tool_failed`
   *   or `cancelled`.
   */
  openOwned(name: string, owner: LinkOwner, handlers: LinkHandlers, signal: AbortSignal): Promise<McpLink>;
  /**
   * Call `listener` with the name of each server whose resources may have changed, as the principal sees them.
   *
   * @returns A function that ends that.
   */
  onResourcesChanged(principal: string, listener: (server: string) => void): () => void;
  /**
   * Send the call of a tool in another way than its own, once the gate has let it through.
   *
   * @returns A function that takes it back.
   */
  delegate(sessionId: string, toolUseId: string, call: DelegatedCall): () => void;
  /** Close the connections of a session that has ended. */
  endSession(sessionId: string): Promise<void>;
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
  const enabled = enabledServers(options.servers);
  const pinStore = openPins(options);
  const names = enabled.map(([name]) => name);
  const servers = new ServerSet(names, options.onToolsChanged);
  const closing = new AbortController();
  const { delegates, delegate } = createDelegation();
  let loading: Promise<LoadedLogins | undefined> | undefined;
  let loadFailure: string | undefined;
  let callbackUrl: string | undefined;
  const since = new Date().toISOString();

  function start(callback?: string): void {
    callbackUrl ??= callback;
    if (enabled.length === 0) return;
    const parts = { enabled, pinStore, delegates, set: servers, closing: closing.signal };
    loading ??= load({ ...options, ...parts, callbackUrl: () => callbackUrl }).catch((error: unknown) => {
      loadFailure = errorMessage(error);
      options.onNotice('warning', 'mcp_unavailable', `Cannot load the MCP client: ${loadFailure}`);
      return undefined;
    });
  }

  async function serverNamed(name: string, principal?: string): Promise<McpServer> {
    start();
    await loading;
    const server = servers.find(name, principal);
    if (server !== undefined) return server;
    throw unknownServer(name, names, options.servers[name]);
  }

  return {
    start,
    tools: (principal) => servers.tools(principal),
    offers: (principal) => servers.offers(principal),
    states: (principal) =>
      describeServers(options.servers, { since, loadFailure }, (name) => servers.find(name, principal)),
    reconnect: async (name, principal, isForAll, signal) => {
      refuseUnusable(name, options.servers[name]);
      const { connection } = await serverNamed(name, principal);
      const mayClose = isForAll || servers.hasOwn(name, principal);
      await (mayClose ? connection.reconnect(signal) : connection.ready(signal));
    },
    ready: async (name, signal, who) => void (await (await serverNamed(name, who)).connection.ready(signal)),
    ...createReads(serverNamed, servers),
    ...createLogins({ entries: options.servers, servers, serverNamed, loaded: () => loading }),
    openOwned: async (name, owner, handlers, signal) =>
      (await serverNamed(name, owner.principal)).openOwned(owner, handlers, signal),
    onResourcesChanged: servers.onResourcesChanged.bind(servers),
    delegate,
    endSession: async (sessionId) => void (await Promise.all(servers.all().map((one) => one.endSession(sessionId)))),
    async close() {
      closing.abort();
      await loading;
      await Promise.all(servers.all().map((server) => server.connection.close()));
      await pinStore.close();
    },
  };
}

/** Create the calls that others send in their own way. */
function createDelegation() {
  const delegates = new Map<string, DelegatedCall>();
  const delegate: McpConnections['delegate'] = (sessionId, toolUseId, call) => {
    const key = delegateKey(sessionId, toolUseId);
    delegates.set(key, call);
    return () => void (delegates.get(key) === call && delegates.delete(key));
  };
  return { delegates, delegate };
}

interface LoadOptions extends McpConnectionsOptions, Pick<AuthorizationParts, 'callbackUrl'> {
  readonly enabled: readonly (readonly [string, McpServerSettings])[];
  readonly pinStore: PinStore;
  readonly delegates: ReadonlyMap<string, DelegatedCall>;
  readonly set: ServerSet;
  /** Aborted when the connections close. */
  readonly closing: AbortSignal;
}

/** Connect to all servers. Loaded lazily: the SDK and ajv are needed only where a server is configured. */
async function load(options: LoadOptions): Promise<LoadedLogins> {
  const { set: servers, enabled, closing, pinStore } = options;
  const [{ createMcpServer }, { Authorizations }] = await Promise.all([
    import('./server.ts'),
    import('./authorization.ts'),
  ]);
  const limitConnecting = pLimit(MAX_CONNECTING);
  const authorizations = new Authorizations(options);
  const ownedLinks = new OwnedLinks();

  function connect(name: string, settings: McpServerSettings, credentials?: ServerCredentials): McpServer {
    const pins = pinStore.pinsOf(name, settings);
    const onToolsChanged = () => servers.collect();
    const parts = { name, settings, pins, credentials, limitConnecting, ownedLinks, onToolsChanged };
    const onResourcesChanged = () => servers.announceResources(name, server);
    const server = createMcpServer({ ...options, ...parts, onResourcesChanged });
    return server;
  }

  function connectOwn(target: AuthorizationTarget): void {
    if (closing.aborted) return;
    const server = connect(target.name, target.settings, authorizations.credentialsOf(target));
    const former = servers.assign(target.principal, target.name, server);
    server.connection.start();
    void former?.connection.close();
  }

  for (const [name, settings] of enabled) {
    const server = connect(
      name,
      settings,
      'url' in settings ? authorizations.sharedCredentials(name, settings) : undefined,
    );
    servers.share(name, server);
    if (!closing.aborted) server.connection.start();
  }
  for (const target of await granted(authorizations, options)) connectOwn(target);
  return { authorizations, connectOwn };
}

/** Find the principals and servers that there are tokens for. */
async function granted(
  authorizations: Authorizations,
  { enabled, principals, onNotice }: LoadOptions,
): Promise<readonly AuthorizationTarget[]> {
  const targets = enabled.flatMap(([name, settings]) =>
    'url' in settings ? principals.map((principal) => ({ principal, name, settings })) : [],
  );
  const known = await Promise.all(
    targets.map((target) =>
      authorizations.hasGrant(target).catch((error: unknown) => {
        // One damaged entry must not keep the other servers from connecting.
        onNotice('warning', 'mcp_tokens_unreadable', `Tokens for "${target.name}": ${errorMessage(error)}`);
        return false;
      }),
    ),
  );
  return targets.filter((_target, index) => known[index]);
}

function openPins({ pinFile, onNotice }: McpConnectionsOptions): PinStore {
  return openPinStore(pinFile, {
    maxFormerServers: MAX_FORMER_SERVERS,
    onFailure: (reason) =>
      onNotice('warning', 'mcp_pins_not_saved', `Pinned definitions of MCP tools are not saved: ${reason}`),
  });
}

/** Members of a server's state that depend on its connection. */
type ConnectionState = Pick<McpServerState, 'state' | 'since' | 'reason' | 'latencyMs' | 'toolCount'>;

function enabledServers(servers: ServerEntries): readonly (readonly [string, McpServerSettings])[] {
  return Object.entries(servers).flatMap(([name, entry]) =>
    entry.type === 'unusable' || entry.disabled === true ? [] : [[name, entry] as const],
  );
}

function unknownServer(
  name: string,
  names: readonly string[],
  entry: ServerEntries[string] | undefined,
): GauntletError {
  if (entry?.type === 'unusable') {
    return new GauntletError('tool_failed', `Cannot use the MCP server "${name}": ${entry.reason}`);
  }
  const others = names.length === 0 ? '' : `; those that are: ${names.map((known) => `"${known}"`).join(', ')}`;
  return new GauntletError('not_found', `No MCP server "${name}" is configured and enabled${others}`);
}

/** @throws {GauntletError} `conflict` for a server that is configured and has no connection by intent. */
function refuseUnusable(name: string, entry: ServerEntries[string] | undefined): void {
  if (entry === undefined) return;
  if (entry.type === 'unusable')
    throw new GauntletError('conflict', `Cannot connect to the MCP server "${name}": ${entry.reason}`);
  if (entry.disabled === true)
    throw new GauntletError('conflict', `The MCP server "${name}" is disabled in the setting "mcpServers"`);
}

/** Describe all servers. @param start State of those without a connection, when the server started. */
function describeServers(
  settings: McpConnectionsOptions['servers'],
  start: { readonly since: string; readonly loadFailure: string | undefined },
  find: (name: string) => McpServer | undefined,
): readonly McpServerState[] {
  const { since, loadFailure } = start;
  return Object.entries(settings).map(([name, entry]) => ({
    name,
    isRemote: 'url' in entry,
    ...(entry.type === 'unusable'
      ? { state: 'failed', since, reason: entry.reason, toolCount: 0 }
      : entry.disabled
        ? { state: 'disabled', since, toolCount: 0 }
        : (serverState(find(name)) ??
          (loadFailure === undefined
            ? { state: 'connecting', since, toolCount: 0 }
            : { state: 'failed', since, reason: loadFailure, toolCount: 0 }))),
  }));
}

/** Describe a server by its connection. */
export function serverState(server: McpServer): ConnectionState;
export function serverState(server: McpServer | undefined): ConnectionState | undefined;
export function serverState(server: McpServer | undefined): ConnectionState | undefined {
  if (server === undefined) return undefined;
  const { status, since, reason, latencyMs } = server.connection;
  return {
    state: status,
    since: since.toISOString(),
    ...(reason !== undefined && { reason }),
    ...(latencyMs !== undefined && { latencyMs }),
    toolCount: server.tools().length,
  };
}
