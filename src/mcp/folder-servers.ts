/**
 * MCP servers that the files `.mcp.json` of trusted folders name: each for the sessions in its folder alone.
 *
 * A person is asked before such a server is connected for the first time, once for each definition. Until then, and
 * whenever it is not connected, the session's list holds one tool in its place, which connects it.
 */
import pLimit from 'p-limit';
import type { OpenSharedStore } from '../log/shared-store.ts';
import type { PoolContext } from '../pool/get-tools.ts';
import type { Lookup } from '../process/proxy/lookup.ts';
import type { SessionHome, Tool } from '../tool/tool.ts';
import type { Authorizations } from './authorization.ts';
import type { McpEnvironment } from './environment.ts';
import { FolderConnection, type FolderConnectionOptions, type FolderParts } from './folder-connection.ts';
import { type FolderFileOptions, folderServerNames, readFolderServers } from './folder-files.ts';
import type { AuthorizationTarget } from './grants.ts';
import { OwnedLinks } from './owned-links.ts';
import { openPinStore, type PinStore } from './pin-store.ts';

/** Servers whose pins are kept: those connected last. */
const MAX_PINNED_SERVERS = 256;

/** Options of `createFolderServers`. */
export interface FolderServersOptions extends Omit<McpEnvironment, 'onToolsChanged'>, FolderFileOptions {
  readonly store: OpenSharedStore;
  /** Real path of the file that stores the pins of tool definitions. */
  readonly pinFile: string;
  /** Resolves names of authorization servers. */
  readonly lookup: Lookup;
  /** Called when the tools of a session changed. */
  readonly onSessionTools: (sessionId: string) => void;
}

/** Servers of trusted folders. */
export interface FolderServers {
  /** @param callbackUrl Address that authorization servers redirect to. */
  start(callbackUrl?: string): void;
  /** Add the tools of a session's own servers to `others`; the same array until something changed. */
  withTools(context: PoolContext, others: readonly Tool[]): readonly Tool[];
  /** Return the servers of a principal's session, if it has listed its tools. @param sessionId The session above all others. */
  of(principal: string | undefined, sessionId: string | undefined): readonly FolderConnection[];
  /** Return the names of the servers of the trusted folders around a folder, or of all. @param folder Real path. */
  names(folder?: string): readonly string[];
  /** The logins at servers of folders; loaded lazily. */
  authorizations(): Promise<Authorizations>;
  /** Connect a principal's servers again after a login was finished or forgotten. */
  reconnect(target: AuthorizationTarget): Promise<void>;
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
  let callbackUrl: string | undefined;
  const { shared, closePins } = createShared(options, sessions, () => callbackUrl);

  return {
    start: (url) => void (callbackUrl = url),
    withTools({ home, principal }, others) {
      if (home === undefined || principal === undefined || options.trusted.length === 0) return others;
      const known = sessions.get(home.rootId) ?? new SessionServers(home, principal, options, shared);
      sessions.set(home.rootId, known);
      return known.withTools(others);
    },
    of(principal, sessionId) {
      const found = sessionId === undefined ? undefined : sessions.get(sessionId);
      return found?.principal === principal ? (found?.servers ?? []) : [];
    },
    names: (folder) => (options.trusted.length === 0 ? [] : folderServerNames(options, folder)),
    authorizations: shared.authorizations,
    async reconnect(target) {
      const own = [...sessions.values()].filter(({ principal }) => principal === target.principal);
      const servers = own.flatMap((session) => session.servers.filter((server) => server.isAt(target)));
      await Promise.all(servers.map((server) => server.reconnect()));
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
      await closePins();
    },
  };
}

/** Create the parts that all servers share, each when it is first needed. */
function createShared(
  options: FolderServersOptions,
  sessions: ReadonlyMap<string, SessionServers>,
  callbackUrl: () => string | undefined,
): { readonly shared: FolderParts; readonly closePins: () => Promise<void> } {
  let pins: PinStore | undefined;
  let authorizations: Promise<Authorizations> | undefined;
  const shared: FolderParts = {
    limitConnecting: pLimit(2),
    ownedLinks: new OwnedLinks(),
    pins: () =>
      (pins ??= openPinStore(options.pinFile, {
        maxFormerServers: MAX_PINNED_SERVERS,
        onFailure: (reason) => options.onNotice('warning', 'mcp_pins_not_saved', reason),
      })),
    authorizations: () =>
      (authorizations ??= import('./authorization.ts').then(
        (loaded) => new loaded.Authorizations({ ...options, callbackUrl }),
      )),
    countOpen: () => [...sessions.values()].reduce((count, { openCount }) => count + openCount, 0),
  };
  return { shared, closePins: async () => pins?.close() };
}

/** The servers of one session. */
class SessionServers {
  readonly principal: string;
  readonly servers: readonly FolderConnection[];
  #isClosed = false;
  #listed: Listed | undefined;

  constructor({ rootId, folder }: SessionHome, principal: string, options: FolderServersOptions, shared: FolderParts) {
    this.principal = principal;
    const onToolsChanged = () => {
      this.#listed = undefined;
      if (!this.#isClosed) options.onSessionTools(rootId);
    };
    const parts: FolderConnectionOptions = { ...options, onToolsChanged };
    this.servers = readFolderServers(folder, options).map(
      (server) => new FolderConnection(server, principal, parts, shared),
    );
  }

  get openCount(): number {
    return this.servers.filter(({ isOpen }) => isOpen).length;
  }

  withTools(others: readonly Tool[]): readonly Tool[] {
    if (this.servers.length === 0) return others;
    if (this.#listed?.others !== others) {
      const tools = Object.freeze([...this.servers.flatMap((server) => server.tools()), ...others]);
      this.#listed = { others, tools };
    }
    return this.#listed.tools;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all(this.servers.map((server) => server.close()));
  }
}
