/**
 * One server as the rest sees it: its connection and the tools made from its definitions.
 *
 * Loaded only where a server is configured, for it brings the SDK and ajv with it.
 */
import type { CallToolResult, Client, Tool as SdkTool } from '@modelcontextprotocol/client';
import type { Tool } from '../contract/tool.ts';
import { adaptTool, type McpToolCall } from './adapt.ts';
import { McpConnection, type ConnectionOptions } from './connection.ts';
import { definitionPins } from './definition-pins.ts';
import { openStdioLink } from './stdio-link.ts';
import { remoteOpener } from './remote-link.ts';
import type { McpServerSettings } from './server-settings.ts';
import type { Slots } from './slots.ts';
import type { McpSurroundings } from './surroundings.ts';
import type { McpToolDefinition } from './tool-definition.ts';
import { visibleLine } from './visible-text.ts';

/** Names that are remembered for each that may be listed at once. */
const PINS_PER_TOOL = 4;

/** Longest text of one notice. */
const NOTICE_CHARS = 2_000;

/** One configured server. */
export interface McpServer {
  readonly connection: McpConnection;
  /** The same list until something changed. */
  tools(): readonly Tool[];
}

/** What a server is made from. */
export interface McpServerOptions extends McpSurroundings {
  readonly name: string;
  readonly settings: McpServerSettings;
  readonly slots: Slots;
}

/** Make the server; it connects when its connection is started. */
export function createMcpServer(options: McpServerOptions): McpServer {
  const { name, settings, limits, slots } = options;
  const notice = (level: 'info' | 'warning', code: string, text: string) =>
    options.onNotice(level, code, visibleLine(`MCP server "${name}": ${text}`, NOTICE_CHARS));
  const pins = definitionPins(PINS_PER_TOOL * limits.mcpServerTools, (toolName) =>
    notice('warning', 'mcp_tool_changed', `"${toolName}" changed its definition; the next call is asked about`),
  );
  const openLink = linkOpener(settings, options);
  let definitions: readonly McpToolDefinition[] = [];
  /** By hash: a tool whose definition stayed is the same object in the next list. */
  let byHash = new Map<string, Tool>();
  let status = 'connecting';

  const connection = new McpConnection({
    name,
    limits,
    open: (hooks) => slots(() => openLink(hooks)),
    onRemark: (remark) => notice('warning', 'mcp_tools_left_out', remark),
    onChange,
  });
  const source = { server: name, isAlwaysLoaded: settings.alwaysLoad === true, limits, call, ...pins };

  function onChange(): void {
    if (connection.status !== status) {
      status = connection.status;
      if (status === 'failed' || status === 'needs_auth')
        notice('warning', `mcp_${status}`, connection.reason ?? status);
    }
    if (connection.definitions === definitions) return;
    definitions = connection.definitions;
    pins.see(definitions);
    byHash = new Map(
      definitions.map((definition) => [definition.hash, byHash.get(definition.hash) ?? adaptTool(definition, source)]),
    );
    options.onToolsChanged();
  }

  function call({ signal, isRepeatable, ...request }: McpToolCall): Promise<CallToolResult> {
    return connection.request({ signal, isRepeatable, run: (client) => callTool(client, request, signal, limits) });
  }

  return { connection, tools: () => [...byHash.values()] };
}

function linkOpener(settings: McpServerSettings, surroundings: McpServerOptions): ConnectionOptions['open'] {
  if ('url' in settings) return remoteOpener(settings, surroundings.limits);
  return (hooks) => openStdioLink(settings, surroundings, hooks);
}

function callTool(
  client: Client,
  { toolName, arguments: input, inputSchema, onProgress }: Omit<McpToolCall, 'signal' | 'isRepeatable'>,
  signal: AbortSignal,
  limits: Pick<McpServerOptions['limits'], 'mcpCallIdleMs' | 'mcpCallMs'>,
): Promise<CallToolResult> {
  return client.callTool(
    { name: toolName, arguments: { ...input } },
    {
      signal,
      timeout: limits.mcpCallIdleMs,
      maxTotalTimeout: limits.mcpCallMs,
      resetTimeoutOnProgress: true,
      onprogress: onProgress,
      // Spares the SDK its own listing, and keeps it from compiling the server's output schema.
      toolDefinition: { name: toolName, inputSchema } as SdkTool,
    },
  );
}
