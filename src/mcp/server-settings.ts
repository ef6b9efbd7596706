/**
 * One entry of the `mcpServers` setting, as this part reads it.
 *
 * The settings file is checked elsewhere; the shape is that of `.mcp.json` (PROTOCOL section 1).
 */

interface CommonSettings {
  /** Its tools are never deferred. */
  readonly alwaysLoad?: boolean;
  /** Listed as disabled, never connected. */
  readonly disabled?: boolean;
}

/** A server that runs as a child and speaks over its standard input and output. */
export interface StdioServerSettings extends CommonSettings {
  readonly type?: 'stdio';
  /** Program, by path or by name on PATH; never given to a shell. */
  readonly command: string;
  readonly args?: readonly string[];
  /** Added to the allow-listed environment. */
  readonly env?: Readonly<Record<string, string>>;
  /** Relative paths start from the workspace. */
  readonly cwd?: string;
}

/** A server behind a URL: Streamable HTTP, or the SSE transport that came before it. */
export interface RemoteServerSettings extends CommonSettings {
  readonly type: 'http' | 'sse';
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Any MCP server. */
export type McpServerSettings = StdioServerSettings | RemoteServerSettings;
