/**
 * Logins of principals at MCP servers: begun, finished in a browser, described and forgotten.
 */
import { GauntletError } from '../base/errors.ts';
import type { AuthorizationAnswer, Authorizations, LoginState } from './authorization.ts';
import type { AuthorizationTarget } from './grants.ts';
import type { McpServer } from './server.ts';
import type { ServerSet } from './server-set.ts';
import type { ServerEntries } from './server-settings.ts';

/** A login that was finished. */
export interface FinishedLogin {
  readonly server: string;
  readonly principal: string;
}

/** Methods of the connections that concern logins. */
export interface McpLogins {
  /**
   * Begin the authorization of a principal at a server.
   *
   * @returns The address that the person opens; undefined if the server is connected without an authorization.
   * @throws {GauntletError} `not_found`, `invalid_input` for a server without OAuth, `tool_failed` or `cancelled`.
   */
  authorize(name: string, principal: string, signal: AbortSignal): Promise<string | undefined>;
  /**
   * Finish an authorization and connect with its tokens, in the background.
   *
   * @param onFound Called at once if the authorization was begun here.
   * @returns The server, and the principal whose login it is.
   * @throws {GauntletError} `not_found` for an unknown state, `tool_failed` if no tokens were granted.
   */
  finishAuthorization(answer: AuthorizationAnswer, onFound?: () => void): Promise<FinishedLogin>;
  /**
   * Forget the login of a principal at a server, end its connection and revoke its tokens.
   *
   * @throws {GauntletError} As `authorize`.
   */
  logOut(name: string, principal: string): Promise<{ readonly wasHeld: boolean; readonly isRevoked: boolean }>;
  /** Describe the login of a principal at a server; undefined where there is none to have. */
  login(name: string, principal: string): Promise<LoginState | undefined>;
  /** Return the document that describes this client to authorization servers, where it has an address. */
  clientMetadata(): Promise<object | undefined>;
}

/** Parts that need the SDK. */
export interface LoadedLogins {
  readonly authorizations: Authorizations;
  /** Connect a principal with its tokens, in place of the connection that it had. */
  connectOwn(target: AuthorizationTarget): void;
}

/** Parts that logins need. */
export interface LoginParts {
  /** The setting `mcpServers`. */
  readonly entries: ServerEntries;
  readonly servers: ServerSet;
  readonly serverNamed: (name: string, principal?: string) => Promise<McpServer>;
  /** Parts that need the SDK; absent where there is no server. */
  readonly loaded: () => Promise<LoadedLogins | undefined> | undefined;
}

/** Create the methods. */
export function createLogins({ entries, servers, serverNamed, loaded }: LoginParts): McpLogins {
  return {
    async authorize(name, principal, signal) {
      const { connection } = await serverNamed(name, principal);
      const target = remoteTarget(principal, name, entries[name]);
      if (!(await needsAuthorization(connection, servers.hasOwn(name, principal), signal))) return undefined;
      return (await loaded())?.authorizations.begin(target, signal);
    },
    async finishAuthorization(answer, onFound) {
      const parts = await loaded();
      if (parts === undefined) throw new GauntletError('not_found', 'No MCP server is configured here');
      const target = await parts.authorizations.finish(answer, onFound);
      parts.connectOwn(target);
      return { server: target.name, principal: target.principal };
    },
    async logOut(name, principal) {
      await serverNamed(name);
      const target = remoteTarget(principal, name, entries[name]);
      void servers.release(principal, name)?.connection.close();
      return (await loaded())?.authorizations.forget(target) ?? { wasHeld: false, isRevoked: false };
    },
    async login(name, principal) {
      const settings = entries[name];
      if (settings === undefined || !('url' in settings) || settings.oauth?.grant === 'client_credentials')
        return undefined;
      return (await loaded())?.authorizations.login({ principal, name, settings });
    },
    clientMetadata: async () => (await loaded())?.authorizations.clientMetadata(),
  };
}

/**
 * Report whether a server wants an authorization; one that has it may be authorized again, with another account.
 *
 * @throws {GauntletError} If it cannot be reached at all.
 */
async function needsAuthorization(
  connection: McpServer['connection'],
  isAuthorized: boolean,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    // The reply 401 tells where to authorize, so it is tried first.
    await connection.ready(signal);
    return isAuthorized;
  } catch (error) {
    signal.throwIfAborted();
    if (connection.status === 'needs_auth') return true;
    throw error;
  }
}

/** @throws {GauntletError} `invalid_input` for a program, which has no OAuth. */
function remoteTarget(
  principal: string,
  name: string,
  settings: ServerEntries[string] | undefined,
): AuthorizationTarget {
  if (settings !== undefined && 'url' in settings) return { principal, name, settings };
  const why = 'it is a program of this machine. Its credentials belong into "env" in the setting "mcpServers"';
  throw new GauntletError('invalid_input', `Cannot authorize the MCP server "${name}": ${why}`);
}
