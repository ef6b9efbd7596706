/**
 * Types of an entry of the `mcpServers` setting, and where this server describes itself as an OAuth client.
 *
 * The settings file is validated elsewhere; the shape is that of `.mcp.json` (PROTOCOL section 1).
 */

/** File name of the client metadata document, which stands beside the callback. */
export const CLIENT_METADATA_FILE = 'client-metadata.json';

interface CommonSettings {
  /** True if its tools are never deferred. */
  readonly alwaysLoad?: boolean;
  /** True if it is only listed as disabled and never connected. */
  readonly disabled?: boolean;
  /**
   * `session`: each session calls its tools over a connection of its own. `shared`: all sessions share one, over which
   * the server can ask nothing. Default: shared until the server asks something, then each session has its own.
   */
  readonly connection?: 'shared' | 'session';
  /** Longest call, in milliseconds, in place of the limits `mcpCallIdleMs` and `mcpCallMs`. */
  readonly timeout?: number;
}

/** A server that runs as a child process and communicates over its standard input and output. */
export interface StdioServerSettings extends CommonSettings {
  readonly type?: 'stdio';
  /** Path of the program, or its name on PATH; never passed to a shell. */
  readonly command: string;
  readonly args?: readonly string[];
  /** Added to the environment that children inherit. */
  readonly env?: Readonly<Record<string, string>>;
  /** Working directory; relative paths start from the workspace. */
  readonly cwd?: string;
}

/** A server behind a URL: Streamable HTTP, or the older SSE transport. */
export interface RemoteServerSettings extends CommonSettings {
  readonly type: 'http' | 'sse';
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Command line for a shell that prints further headers. */
  readonly headersHelper?: string;
  readonly oauth?: OAuthSettings;
}

/** A client that was registered by hand at the authorization server, and what it asks for. */
export interface OAuthSettings {
  /** `client_credentials`: the client has tokens of its own, and no person logs in. Default: `authorization_code`. */
  readonly grant?: 'authorization_code' | 'client_credentials';
  readonly clientId?: string;
  readonly clientSecret?: string;
  /** PEM of the key that proves who the client is, in place of a secret. */
  readonly privateKey?: string;
  /** The only authorization server that may be asked. */
  readonly issuer?: string;
  /** Asked for in place of those that the server names. */
  readonly scopes?: readonly string[];
}

/** Any MCP server. */
export type McpServerSettings = StdioServerSettings | RemoteServerSettings;

/** An entry that cannot be used. */
export interface UnusableServerSettings {
  readonly type: 'unusable';
  readonly reason: string;
}

/** The setting `mcpServers`. */
export type ServerEntries = Readonly<Record<string, McpServerSettings | UnusableServerSettings>>;
