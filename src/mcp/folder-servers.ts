/**
 * MCP servers that the files `.mcp.json` of trusted folders name: each for the sessions in its folder alone.
 *
 * A person is asked before such a server is connected for the first time, once for each definition. Until then, and
 * whenever it is not connected, the session's list holds one tool in its place, which connects it.
 */
import { createHash } from 'node:crypto';
import { join, resolve } from 'node:path';
import pLimit from 'p-limit';
import { SETTINGS_FILE_BYTES } from '../../config/limits.ts';
import { mcpServerEntries } from '../../config/settings/mcp-servers.ts';
import { parseSettingsText } from '../../config/settings/settings-file.ts';
import { errorMessage, GauntletError } from '../base/errors.ts';
import { readSmallFile } from '../files/open-checked.ts';
import { foldersAround } from '../files/real-folders.ts';
import { resolveRealPath } from '../files/real-path.ts';
import type { OpenSharedStore } from '../log/shared-store.ts';
import type { PoolContext, SessionHome } from '../pool/get-tools.ts';
import type { Tool } from '../tool/tool.ts';
import { connectTool, type FolderServer } from './connect-tool.ts';
import type { McpEnvironment } from './environment.ts';
import { OwnedLinks } from './owned-links.ts';
import { openPinStore, type PinStore } from './pin-store.ts';
import type { McpServer } from './server.ts';
import type { McpServerSettings } from './server-settings.ts';

/** File of a folder. */
const FILE = '.mcp.json';

/** Servers of one session. */
const MAX_SERVERS_OF_SESSION = 16;

/** Servers of all sessions together; each may be a process. */
const MAX_OPEN_SERVERS = 64;

/** Longest name of a server, in characters. */
const MAX_NAME_CHARS = 100;

/** Longest definition, in characters of JSON: a person reads it whole. */
const MAX_DEFINITION_CHARS = 4_000;

/** Servers whose pins are kept: those connected last. */
const MAX_PINNED_SERVERS = 256;

/** Where answers are remembered, by digest. */
const NAMESPACE = 'mcp-folder-servers';

/** Options of `createFolderServers`. */
export interface FolderServersOptions extends Omit<McpEnvironment, 'onToolsChanged'> {
  /** The setting `trustedWorkspaces`. */
  readonly trusted: readonly string[];
  /** Names of the operator's servers, which win. */
  readonly taken: readonly string[];
  readonly store: OpenSharedStore;
  /** Real path of the file that stores the pins of tool definitions. */
  readonly pinFile: string;
  /** Called when the tools of a session changed. */
  readonly onSessionTools: (sessionId: string) => void;
}

/** Servers of trusted folders. */
export interface FolderServers {
  /** Add the tools of a session's own servers to `others`; the same array until something changed. */
  withTools(context: PoolContext, others: readonly Tool[]): readonly Tool[];
  /** Close the connections of a session. */
  endSession(sessionId: string): Promise<void>;
  close(): Promise<void>;
}

interface Listed {
  readonly others: readonly Tool[];
  readonly tools: readonly Tool[];
}

/** Create them; a file is read when its first session lists its tools. */
export function createFolderServers(options: FolderServersOptions): FolderServers {
  const sessions = new Map<string, SessionServers>();
  const limitConnecting = pLimit(2);
  const ownedLinks = new OwnedLinks();
  let pins: PinStore | undefined;
  const shared: SharedParts = {
    limitConnecting,
    ownedLinks,
    pins: () =>
      (pins ??= openPinStore(options.pinFile, {
        maxFormerServers: MAX_PINNED_SERVERS,
        onFailure: (reason) => options.onNotice('warning', 'mcp_pins_not_saved', reason),
      })),
    countOpen: () => [...sessions.values()].reduce((count, { openCount }) => count + openCount, 0),
  };

  return {
    withTools({ home, principal }, others) {
      if (home === undefined || principal === undefined || options.trusted.length === 0) return others;
      const known = sessions.get(home.rootId) ?? new SessionServers(home, principal, options, shared);
      sessions.set(home.rootId, known);
      return known.withTools(others);
    },
    async endSession(sessionId) {
      const ended = sessions.get(sessionId);
      sessions.delete(sessionId);
      await ended?.close();
    },
    async close() {
      const ended = [...sessions.values()];
      sessions.clear();
      await Promise.all(ended.map((each) => each.close()));
      await pins?.close();
    },
  };
}

interface SharedParts {
  readonly limitConnecting: ReturnType<typeof pLimit>;
  readonly ownedLinks: OwnedLinks;
  pins(): PinStore;
  /** Return the number of servers that are connected or being connected. */
  countOpen(): number;
}

/** The servers of one session. */
class SessionServers {
  readonly #servers: readonly OneServer[];
  #isClosed = false;
  #listed: Listed | undefined;

  constructor({ rootId, folder }: SessionHome, principal: string, options: FolderServersOptions, shared: SharedParts) {
    const onToolsChanged = () => {
      this.#listed = undefined;
      if (!this.#isClosed) options.onSessionTools(rootId);
    };
    this.#servers = readServers(folder, options).map(
      (server) => new OneServer(server, principal, { ...options, onToolsChanged }, shared),
    );
  }

  get openCount(): number {
    return this.#servers.filter(({ isOpen }) => isOpen).length;
  }

  withTools(others: readonly Tool[]): readonly Tool[] {
    if (this.#servers.length === 0) return others;
    if (this.#listed?.others !== others) {
      const tools = Object.freeze([...this.#servers.flatMap((server) => server.tools()), ...others]);
      this.#listed = { others, tools };
    }
    return this.#listed.tools;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all(this.#servers.map((server) => server.close()));
  }
}

/** One server of one session. */
class OneServer {
  readonly #server: FolderServer;
  readonly #options: Omit<FolderServersOptions, 'onSessionTools'> & Pick<McpEnvironment, 'onToolsChanged'>;
  readonly #shared: SharedParts;
  readonly #approvals: ReturnType<OpenSharedStore>;
  readonly #digest: string;
  readonly #tool: Tool;
  #isApproved = false;
  #isClosed = false;
  #opening: Promise<McpServer> | undefined;
  #opened: McpServer | undefined;

  constructor(
    server: FolderServer,
    principal: string,
    options: Omit<FolderServersOptions, 'onSessionTools'> & Pick<McpEnvironment, 'onToolsChanged'>,
    shared: SharedParts,
  ) {
    this.#server = server;
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

  /** True while it takes one of the places. */
  get isOpen(): boolean {
    return this.#opening !== undefined;
  }

  tools(): readonly Tool[] {
    const tools = this.#opened?.tools() ?? [];
    return tools.length > 0 || this.#opened?.connection.status === 'connected' ? tools : [this.#tool];
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#opening?.then(
      (server) => server.connection.close(),
      // It was never opened; whoever called was told.
      () => undefined,
    );
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
    const server = await this.#open();
    await server.connection.ready(signal);
    return server.tools().map((tool) => tool.name);
  }

  #open(): Promise<McpServer> {
    if (this.#isClosed) return Promise.reject(new GauntletError('cancelled', 'The session was closed'));
    if (this.#opening === undefined && this.#shared.countOpen() >= MAX_OPEN_SERVERS) {
      const message = `Cannot connect "${this.#server.name}": ${MAX_OPEN_SERVERS} servers of folders are connected. End sessions that are not needed`;
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
    const { limitConnecting, ownedLinks, pins } = this.#shared;
    const parts = {
      limitConnecting,
      ownedLinks,
      pins: pins().pinsOf(name, settings, { isConfigured: false }),
      delegates: new Map(),
    };
    const server = createMcpServer({ ...this.#options, ...parts, name, settings, folder });
    this.#opened = server;
    if (!this.#isClosed) server.connection.start();
    return server;
  }

  #tell(error: unknown): void {
    this.#options.onNotice('warning', 'mcp_failed', `MCP server "${this.#server.name}": ${errorMessage(error)}`);
  }
}

/** Read the servers of the trusted folders around a session's folder; of those with one name, the innermost. */
function readServers(sessionFolder: string, options: FolderServersOptions): readonly FolderServer[] {
  const warn = (folder: string, why: string) =>
    options.onNotice('warning', 'mcp_folder_file', `"${join(folder, FILE)}": ${why}`);
  const found = new Map<string, FolderServer>();
  const folders = [...foldersAround(options.trusted, sessionFolder)].sort((one, other) => one.length - other.length);
  for (const folder of folders) {
    try {
      for (const server of serversIn(folder, options.taken, (why) => warn(folder, why))) found.set(server.name, server);
    } catch (error) {
      warn(folder, errorMessage(error));
    }
  }
  const servers = [...found.values()];
  if (servers.length > MAX_SERVERS_OF_SESSION)
    warn(sessionFolder, `only the first ${MAX_SERVERS_OF_SESSION} servers are used`);
  return servers.slice(0, MAX_SERVERS_OF_SESSION);
}

/** @throws If the file cannot be used at all. */
function serversIn(folder: string, taken: readonly string[], warn: (why: string) => void): readonly FolderServer[] {
  const path = join(folder, FILE);
  const found = resolveRealPath(path);
  if ('refusal' in found) throw new Error(found.refusal);
  if (found.stats === undefined) return [];
  if (found.real !== path) throw new Error('it is a link');
  const text = readSmallFile(found.real, path, SETTINGS_FILE_BYTES).toString('utf8');
  const file = parseSettingsText('The file', path, text);
  const { mcpServers } = (file ?? {}) as { readonly mcpServers?: unknown };
  if (typeof mcpServers !== 'object' || mcpServers === null) throw new Error('it has no "mcpServers"');
  const { servers, warnings } = mcpServerEntries({ mcpServers: { ...mcpServers } }, folder);
  warnings.forEach(warn);
  return Object.entries(servers).flatMap(([name, entry]) => {
    if (entry.type === 'unusable' || entry.disabled === true) return [];
    const settings = 'url' in entry ? entry : { ...entry, cwd: resolve(folder, entry.cwd ?? '.') };
    const refusal = refusalOf(name, settings, taken);
    if (refusal !== undefined) warn(`"mcpServers.${name}" is left out: ${refusal}`);
    const notes = warnings.filter((warning) => warning.startsWith(`"mcpServers.${name}.`));
    return refusal === undefined ? [{ name, folder, settings, notes }] : [];
  });
}

function refusalOf(name: string, settings: McpServerSettings, taken: readonly string[]): string | undefined {
  if (taken.includes(name)) return 'the settings of this server name one so';
  if (name.length > MAX_NAME_CHARS) return `its name is longer than ${MAX_NAME_CHARS} characters`;
  const { length } = JSON.stringify(settings);
  return length > MAX_DEFINITION_CHARS ? `it is longer than ${MAX_DEFINITION_CHARS} characters of JSON` : undefined;
}
