/**
 * MCP servers as one caller has them: those of the settings, and those of the trusted folders around its session.
 */
import { GauntletError, isGauntletError } from '../base/errors.ts';
import type { AuthorizationAnswer, LoginState } from './authorization.ts';
import type { McpOutput } from './call-result.ts';
import type { McpConnections, McpServerState } from './connections.ts';
import type { FolderConnection } from './folder-connection.ts';
import type { FolderServers } from './folder-servers.ts';
import type { FinishedLogin } from './logins.ts';
import type { ServerOffer } from './offers.ts';
import type { McpPrompt } from './prompts.ts';
import type { McpResource, McpResourceTemplate } from './resources.ts';
import type { ResourceSubscriber } from './subscriptions.ts';
import type { PromptArguments } from './server-reads.ts';
import type { ResultContentBlock } from '../wire/blocks.ts';

/**
 * Methods by the name of a server. With the id of a session, the one above all others, they know the servers of its folders,
 * if it belongs to the principal.
 */
export interface CallerServers {
  states(principal?: string, sessionId?: string): readonly McpServerState[];
  /** As `McpConnections.offers`. */
  offers(principal?: string, sessionId?: string): readonly ServerOffer[];
  /** As `McpConnections.getPrompt`. */
  getPrompt(
    prompt: McpPrompt,
    args: PromptArguments,
    signal: AbortSignal,
    principal?: string,
    sessionId?: string,
  ): Promise<readonly ResultContentBlock[]>;
  /** As `McpConnections.listResources`. */
  listResources(
    name: string,
    signal: AbortSignal,
    principal?: string,
    sessionId?: string,
  ): Promise<readonly McpResource[]>;
  /** As `McpConnections.listTemplates`. */
  listTemplates(
    name: string,
    signal: AbortSignal,
    principal?: string,
    sessionId?: string,
  ): Promise<readonly McpResourceTemplate[]>;
  /** As `McpConnections.readResource`. */
  readResource(
    name: string,
    uri: string,
    signal: AbortSignal,
    principal?: string,
    sessionId?: string,
  ): Promise<McpOutput>;
  /** As `McpConnections.subscribe`. */
  subscribe(name: string, uri: string, subscriber: ResourceSubscriber, principal?: string, sessionId?: string): void;
  /** As `McpConnections.reconnect`; `conflict` also for one that nobody has said yes to. */
  reconnect(name: string, principal: string, isForAll: boolean, signal: AbortSignal, sessionId?: string): Promise<void>;
  /** As `McpConnections.authorize`. */
  authorize(name: string, principal: string, signal: AbortSignal, sessionId?: string): Promise<string | undefined>;
  /** As `McpConnections.finishAuthorization`. */
  finishAuthorization(answer: AuthorizationAnswer, onFound?: () => void): Promise<FinishedLogin>;
  /** As `McpConnections.logOut`. */
  logOut(name: string, principal: string, sessionId?: string): ReturnType<McpConnections['logOut']>;
  /** As `McpConnections.login`. */
  login(name: string, principal: string, sessionId?: string): Promise<LoginState | undefined>;
  clientMetadata(): Promise<object | undefined>;
}

/** Finds a folder's server. */
type FindServer = (name: string, principal?: string, sessionId?: string) => FolderConnection | undefined;

/** Join the servers of the settings with those of folders. */
export function joinServers(mcp: McpConnections, folderServers: FolderServers): CallerServers {
  const find: FindServer = (name, principal, sessionId) =>
    folderServers.of(principal, sessionId).find((server) => server.name === name);

  return {
    states: (principal, sessionId) => [
      ...mcp.states(principal),
      ...folderServers.of(principal, sessionId).map((server) => server.state()),
    ],
    offers(principal, sessionId) {
      const own = folderServers.of(principal, sessionId).flatMap((server) => server.offer() ?? []);
      const shared = mcp.offers(principal);
      return own.length === 0 ? shared : [...shared, ...own];
    },
    async getPrompt(prompt, args, signal, principal, sessionId) {
      const server = find(prompt.server, principal, sessionId);
      return server
        ? (await server.approved()).getPrompt(prompt, args, signal)
        : mcp.getPrompt(prompt, args, signal, principal);
    },
    async listResources(name, signal, principal, sessionId) {
      const server = find(name, principal, sessionId);
      return server ? (await server.approved()).listResources(signal) : mcp.listResources(name, signal, principal);
    },
    async listTemplates(name, signal, principal, sessionId) {
      const server = find(name, principal, sessionId);
      return server ? (await server.approved()).listTemplates(signal) : mcp.listTemplates(name, signal, principal);
    },
    async readResource(name, uri, signal, principal, sessionId) {
      const server = find(name, principal, sessionId);
      if (server) return (await server.approved()).readResource(uri, signal);
      return mcp.readResource(name, uri, signal, principal);
    },
    subscribe(name, uri, subscriber, principal, sessionId) {
      const server = find(name, principal, sessionId);
      if (server) server.subscribe(uri, subscriber);
      else mcp.subscribe(name, uri, subscriber, principal);
    },
    async reconnect(name, principal, isForAll, signal, sessionId) {
      const server = find(name, principal, sessionId);
      await (server ? server.reconnectNow(signal) : mcp.reconnect(name, principal, isForAll, signal));
    },
    ...joinLogins(mcp, folderServers, find),
  };
}

type JoinedLogins = 'authorize' | 'finishAuthorization' | 'logOut' | 'login' | 'clientMetadata';

function joinLogins(
  mcp: McpConnections,
  folderServers: FolderServers,
  find: FindServer,
): Pick<CallerServers, JoinedLogins> {
  return {
    async authorize(name, principal, signal, sessionId) {
      const server = find(name, principal, sessionId);
      return server ? authorizeAt(server, folderServers, signal) : mcp.authorize(name, principal, signal);
    },
    async finishAuthorization(answer, onFound) {
      try {
        return await mcp.finishAuthorization(answer, onFound);
      } catch (error) {
        if (!isGauntletError(error, 'not_found')) throw error;
        const target = await (await folderServers.authorizations()).finish(answer, onFound);
        await folderServers.reconnect(target);
        return { server: target.name, principal: target.principal };
      }
    },
    async logOut(name, principal, sessionId) {
      const server = find(name, principal, sessionId);
      if (!server) return mcp.logOut(name, principal);
      const target = server.target();
      const end = await (await folderServers.authorizations()).forget(target);
      await folderServers.reconnect(target);
      return end;
    },
    async login(name, principal, sessionId) {
      const server = find(name, principal, sessionId);
      if (!server) return mcp.login(name, principal);
      return server.isRemote ? (await folderServers.authorizations()).login(server.target()) : undefined;
    },
    clientMetadata: async () => (await mcp.clientMetadata()) ?? (await folderServers.authorizations()).clientMetadata(),
  };
}

/** Begin a login. @returns undefined if the server is connected. */
async function authorizeAt(
  server: FolderConnection,
  folderServers: FolderServers,
  signal: AbortSignal,
): Promise<string | undefined> {
  const target = server.target();
  const { connection } = await server.approved();
  const authorizations = await folderServers.authorizations();
  try {
    await connection.ready(signal);
    // One that has a login may be authorized again, with another account.
    if (!(await authorizations.hasGrant(target))) return undefined;
  } catch (error) {
    if (signal.aborted) throw new GauntletError('cancelled', 'The login was cancelled');
    if (connection.status !== 'needs_auth') throw error;
  }
  return authorizations.begin(target, signal);
}
