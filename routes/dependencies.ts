/**
 * Dependencies of the routes. A route decides nothing: it parses, calls one of these, and replies.
 */
import type { FastifyBaseLogger } from 'fastify';
import type { Socket } from 'node:net';
import type { Limits } from '../config/limits.ts';
import type { PrincipalLimits } from '../config/settings/principal-limits.ts';
import type { McpAuthorizationSettings } from '../config/settings/mcp-authorization.ts';
import type { CallerServers } from '../src/mcp/caller-servers.ts';
import type { McpConnections } from '../src/mcp/connections.ts';
import type { PreambleParts } from '../src/mcp/preamble.ts';
import type { PermissionMode, ToolMode } from '../src/wire/permission-context.ts';
import type { ToolPool } from '../src/pool/tool-pool.ts';
import type { ContainmentState, Readiness } from '../src/wire/server-replies.ts';
import type { SearchCalls } from '../src/session/search/search-calls.ts';
import type { SessionDirectory } from '../src/session/directory/session-directory.ts';
import type { Session } from '../src/session/session.ts';
import type { SubmittedTurn } from '../src/session/turn/intake.ts';
import type { AddressLimit } from './address-limit.ts';
import type { SignIn } from './console/sign-in.ts';
import type { RequestRates } from './request-rates.ts';
import type { SignedTokens } from './signed-token.ts';
import type { Tickets } from './tickets.ts';

/** Methods of the directory that routes use. */
export type Sessions = Pick<
  SessionDirectory,
  | 'create'
  | 'createForBatch'
  | 'open'
  | 'openToAnswer'
  | 'openQuestions'
  | 'list'
  | 'watch'
  | 'relabel'
  | 'remove'
  | 'standing'
  | 'usage'
>;

/** A skill as a prompt. */
export interface SkillPrompt {
  readonly name: string;
  readonly description: string;
  readonly argumentHint?: string;
}

/** Bounds of a principal: where it may work, and what it may answer. */
export interface PrincipalBounds {
  /** Folders that its sessions stay in; undefined: they begin in the workspace. */
  readonly roots?: readonly string[] | undefined;
  readonly maxMode?: PermissionMode | undefined;
  /** True if it may answer questions of others that want the yes of two. */
  readonly answersTwoPerson: boolean;
}

/** Dependencies of `buildApp`. */
export interface Dependencies {
  readonly directory: Sessions;
  readonly searchCalls: SearchCalls;
  /**
   * Return the tools that a new session of the principal would see, current external tools included.
   *
   * @throws {GauntletError} `invalid_request` if a settings file of a trusted folder is invalid
   */
  newSessionPool(principal: string, toolMode: ToolMode): ToolPool;
  /** Return the words ahead of a list of tools; undefined if there are none. */
  preamble(pool: ToolPool): PreambleParts | undefined;
  /** Start a saved batch. @throws {GauntletError} `not_found`, and as a new session and its first turn */
  startTrigger(principal: string, id: string): Promise<{ readonly session: Session; readonly turn: SubmittedTurn }>;
  /** Tool mode of lists that name none. */
  readonly defaultToolMode: ToolMode;
  /** True if there is a REPL tool, without which tool mode `repl` would have no tools. */
  readonly hasRepl: boolean;
  /** Return the principal of a token; compares in constant time. */
  authenticate(token: string): string | undefined;
  /** Verifies signed tokens; absent: they do not count. */
  readonly signedTokens?: SignedTokens | undefined;
  /** Names of all principals, the owner first. */
  readonly principals: readonly string[];
  /** Return the limits of a principal, which never change. */
  limitsOf(principal: string): PrincipalLimits;
  /** Return what a principal may do beside its limits. */
  describePrincipal(principal: string): PrincipalBounds;
  /** Called for each bad credential that is answered with 401. @param address Address of the client. */
  onBadCredential?(address: string): void;
  /** Allowed `Host` values, lower case, with their port; filled once the port is known. */
  readonly hosts: ReadonlySet<string>;
  /** Allowed `Origin` values in addition to the server's own. */
  readonly origins: ReadonlySet<string>;
  readonly tickets: Tickets;
  /** Tickets and credentials of the console. */
  readonly signIn: SignIn;
  /** Folder of the console's files, which may be absent; undefined if the console is switched off. */
  readonly consoleFolder: string | undefined;
  readonly limits: Limits;
  /** Must never receive a token, an input or an output. */
  readonly logger: Pick<FastifyBaseLogger, 'debug' | 'info' | 'warn' | 'error'>;
  /** Proxy addresses whose forwarding headers are trusted; `false`: none. */
  readonly trustProxy: boolean | readonly string[];
  readiness(): Readiness;
  /** Return the mechanism that contains commands that run without a question. */
  containment(): Promise<ContainmentState>;
  /** Logins at MCP servers. */
  readonly logins: Pick<
    CallerServers,
    'states' | 'reconnect' | 'authorize' | 'finishAuthorization' | 'logOut' | 'login' | 'clientMetadata'
  >;
  /** MCP servers that are passed through. */
  readonly upstreams: Pick<
    McpConnections,
    | 'openOwned'
    | 'delegate'
    | 'ready'
    | 'offers'
    | 'states'
    | 'recentResources'
    | 'recentTemplates'
    | 'onResourcesChanged'
    | 'complete'
    | 'subscribe'
    | 'unsubscribe'
    | 'endSubscriptions'
  >;
  /** Authorization servers that MCP clients are sent to for tokens of this server; undefined: none. */
  readonly mcpAuthorization?: McpAuthorizationSettings | undefined;
  /** Skills that MCP clients see as prompts, and the tool that loads one. */
  readonly skills: { readonly tool: string; readonly list: readonly SkillPrompt[] };
  /** Tool that reads a resource of an MCP server. */
  readonly resourceTool: string;
  /** Call `listener` each time external tools came or went. @returns A function that ends that. */
  onToolsChanged(listener: () => void): () => void;
  /** Return the server's own figures in the text format of Prometheus. */
  metrics?(): string;
  readonly version: string;
}

/** Dependencies of a route, and the app's closing signal. */
export interface DoorContext extends Dependencies {
  /** Aborted when the app closes: ends replies that would not end by themselves. */
  readonly closing: AbortSignal;
  readonly rates: RequestRates;
  readonly countBadCredential: AddressLimit;
  /** Spare a socket that has shown no token the end that such sockets come to soon. */
  onAuthenticated(socket: Socket): void;
}
