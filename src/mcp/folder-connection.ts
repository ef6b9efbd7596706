/**
 * One server that a trusted folder names, for one session: it is connected once a person has said yes to its definition.
 */
import { createHash } from 'node:crypto';
import type { LimitFunction } from 'p-limit';
import { errorMessage, GauntletError } from '../base/errors.ts';
import type { OpenSharedStore } from '../log/shared-store.ts';
import type { Tool } from '../tool/tool.ts';
import type { Authorizations } from './authorization.ts';
import { connectTool, type FolderServer } from './connect-tool.ts';
import { serverState, type McpServerState } from './connections.ts';
import type { McpEnvironment } from './environment.ts';
import type { AuthorizationTarget } from './grants.ts';
import type { ResourceSubscriber } from './subscriptions.ts';
import type { ServerOffer } from './offers.ts';
import type { OwnedLinks } from './owned-links.ts';
import type { PinStore } from './pin-store.ts';
import type { McpServer } from './server.ts';
import { visibleLine } from './visible-text.ts';

/** Servers of all sessions together; each may be a process. */
const MAX_OPEN_SERVERS = 64;

/** Longest reason why one could not be begun, in characters. */
const FAILURE_CHARS = 2_000;

/** Answers that are remembered, by digest. */
const NAMESPACE = 'mcp-folder-servers';

/** Options of `FolderConnection`. */
export interface FolderConnectionOptions extends McpEnvironment {
  readonly store: OpenSharedStore;
}

/** Parts that all servers of folders share. */
export interface FolderParts {
  readonly limitConnecting: LimitFunction;
  readonly ownedLinks: OwnedLinks;
  pins(): PinStore;
  /** Logins at servers of folders; loaded with the first server that has an address. */
  authorizations(): Promise<Authorizations>;
  /** Return the number of servers that are connected or being connected. */
  countOpen(): number;
}

/** One server of one session. */
export class FolderConnection {
  readonly #server: FolderServer;
  readonly #principal: string;
  readonly #options: FolderConnectionOptions;
  readonly #shared: FolderParts;
  readonly #approvals: ReturnType<OpenSharedStore>;
  readonly #digest: string;
  readonly #tool: Tool;
  #isApproved = false;
  /** Time at which its state began while it has no connection. */
  #since = new Date().toISOString();
  #isClosed = false;
  #opening: Promise<McpServer> | undefined;
  #opened: McpServer | undefined;
  /** Reason why it could not even be begun. */
  #failure: string | undefined;

  constructor(server: FolderServer, principal: string, options: FolderConnectionOptions, shared: FolderParts) {
    this.#server = server;
    this.#principal = principal;
    this.#options = options;
    this.#shared = shared;
    this.#approvals = options.store(principal, NAMESPACE);
    this.#digest = createHash('sha256')
      .update(JSON.stringify([server.name, server.folder, server.settings]))
      .digest('hex');
    this.#tool = connectTool(server, {
      isApproved: () => this.#isApproved,
      connect: (signal) => this.#connect(signal),
    });
    // An answer that cannot be read counts as none: the person is asked again.
    this.#recall().catch((error: unknown) => this.#tell(error));
  }

  get name(): string {
    return this.#server.name;
  }

  get isRemote(): boolean {
    return 'url' in this.#server.settings;
  }

  /** Report whether it is the server that a login is for. */
  isAt({ name, settings }: AuthorizationTarget): boolean {
    const own = this.#server.settings;
    return this.name === name && 'url' in own && own.url === settings.url;
  }

  /** True while it takes one of the places. */
  get isOpen(): boolean {
    return this.#opening !== undefined;
  }

  tools(): readonly Tool[] {
    const tools = this.#opened?.tools() ?? [];
    return tools.length > 0 || this.#opened?.connection.status === 'connected' ? tools : [this.#tool];
  }

  /** Return what it offers beside tools; undefined until it was connected. */
  offer(): ServerOffer | undefined {
    return this.#opened?.offer();
  }

  /** As `McpConnections.subscribe`, while it is connected. */
  subscribe(uri: string, subscriber: ResourceSubscriber): void {
    this.#opened?.subscriptions.add(uri, subscriber);
  }

  /** Return the state, for people. */
  state(): McpServerState {
    const common = { name: this.name, isRemote: this.isRemote };
    const unconnected = { ...common, since: this.#since, toolCount: 0 };
    if (!this.#isApproved) return { ...unconnected, state: 'needs_approval', reason: this.#callFirst };
    if (this.#opened) return { ...common, ...serverState(this.#opened) };
    if (this.#failure === undefined) return { ...unconnected, state: 'connecting' };
    return { ...unconnected, state: 'failed', reason: this.#failure };
  }

  /** Return the server, connected or not. @throws {GauntletError} `tool_failed` if nobody has said yes to it. */
  async approved(): Promise<McpServer> {
    if (this.#isApproved) return this.#open();
    throw new GauntletError('tool_failed', `Cannot reach the MCP server "${this.name}": ${this.#callFirst}`);
  }

  /** The server as a principal logs in there. @throws {GauntletError} `invalid_input` for a program. */
  target(): AuthorizationTarget {
    const { name, settings } = this.#server;
    if ('url' in settings) return { principal: this.#principal, name, settings };
    const why = 'it is a program of this machine, which has no login';
    throw new GauntletError('invalid_input', `Cannot authorize the MCP server "${name}": ${why}`);
  }

  /**
   * Connect again, now.
   *
   * @throws {GauntletError} `conflict` if nobody has said yes to it, otherwise as `McpConnections.ready`.
   */
  async reconnectNow(signal: AbortSignal): Promise<void> {
    if (!this.#isApproved)
      throw new GauntletError('conflict', `Cannot connect to the MCP server "${this.name}": ${this.#callFirst}`);
    const isNew = this.#opened === undefined;
    const { connection } = await this.#open();
    await (isNew ? connection.ready(signal) : connection.reconnect(signal));
  }

  /** Connect again, with the tokens that there are now. */
  async reconnect(): Promise<void> {
    await this.#end();
    if (this.#isApproved && !this.#isClosed) await this.#open();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#end();
  }

  get #callFirst(): string {
    return `a person has to say yes to it first: call ${this.#tool.name}`;
  }

  async #end(): Promise<void> {
    const opening = this.#opening;
    this.#opening = undefined;
    await opening?.then(
      (server) => server.connection.close(),
      // It was never opened; whoever called was told.
      () => undefined,
    );
    this.#opened = undefined;
  }

  /** Connect if the person said yes to this definition in an earlier session. */
  async #recall(): Promise<void> {
    this.#isApproved = (await this.#approvals.get(this.#digest)) !== undefined;
    if (this.#isApproved) await this.#open();
  }

  /** Remember the answer of the person who was asked, and connect. @returns Names of the tools. */
  async #connect(signal: AbortSignal): Promise<readonly string[]> {
    const { name, folder } = this.#server;
    await this.#approvals.set(this.#digest, { name, folder });
    this.#isApproved = true;
    this.#since = new Date().toISOString();
    const server = await this.#open();
    await server.connection.ready(signal);
    return server.tools().map((tool) => tool.name);
  }

  #open(): Promise<McpServer> {
    if (this.#isClosed) return Promise.reject(new GauntletError('cancelled', 'The session was closed'));
    if (this.#opening === undefined && this.#shared.countOpen() >= MAX_OPEN_SERVERS) {
      const message = `Cannot connect "${this.name}": ${MAX_OPEN_SERVERS} servers of folders are connected. End sessions that are not needed`;
      return Promise.reject(new GauntletError('rate_limited', message, { details: { reason: 'mcp_connections' } }));
    }
    this.#opening ??= this.#start().catch((error: unknown) => {
      this.#opening = undefined;
      throw error;
    });
    return this.#opening;
  }

  async #start(): Promise<McpServer> {
    const { name, settings, folder } = this.#server;
    const { createMcpServer } = await import('./server.ts');
    const { limitConnecting, ownedLinks, pins, authorizations } = this.#shared;
    const credentials = 'url' in settings ? (await authorizations()).credentialsOf(this.target()) : undefined;
    const parts = {
      credentials,
      limitConnecting,
      ownedLinks,
      pins: pins().pinsOf(name, settings, { isConfigured: false }),
      delegates: new Map(),
    };
    const server = createMcpServer({ ...this.#options, ...parts, name, settings, folder });
    this.#opened = server;
    this.#failure = undefined;
    if (!this.#isClosed) server.connection.start();
    return server;
  }

  #tell(error: unknown): void {
    this.#since = new Date().toISOString();
    this.#failure = visibleLine(errorMessage(error), FAILURE_CHARS);
    this.#options.onNotice('warning', 'mcp_failed', `MCP server "${this.name}": ${errorMessage(error)}`);
  }
}
