/**
 * One server as the rest sees it: its connection and the tools made from its definitions.
 *
 * Loaded only where a server is configured, for it brings the SDK and ajv with it.
 */
import type { Tool } from '../tool/tool.ts';
import { adaptTool, type McpToolCall } from './adapt.ts';
import type { McpOutput } from './call-result.ts';
import { callTool } from './call-tool.ts';
import { McpConnection } from './connection.ts';
import { definitionPins } from './definition-pins.ts';
import { listResources, readResource, type McpResource } from './resources.ts';
import { linkOpener } from './server-link.ts';
import { secretMask } from './secret-mask.ts';
import type { McpServerOptions } from './environment.ts';
import type { McpToolDefinition } from './tool-definition.ts';
import { visibleLine } from './visible-text.ts';

/** Names that are remembered for each that may be listed at once. */
const PINS_PER_TOOL = 4;

/** Longest text of one notice. */
const NOTICE_CHARS = 2_000;

/** One configured server. */
export interface McpServer {
  readonly connection: McpConnection;
  /** The same tools until something changed. */
  tools(): readonly Tool[];
  /** @throws {GauntletError} `cancelled`, `timeout` or `tool_failed`. */
  listResources(signal: AbortSignal): Promise<readonly McpResource[]>;
  /** @throws {GauntletError} As `listResources`. */
  readResource(uri: string, signal: AbortSignal): Promise<McpOutput>;
}

/** Make the server; it connects when its connection is started. */
export function createMcpServer(options: McpServerOptions): McpServer {
  const { name, settings, limits, limitConnecting } = options;
  const mask = secretMask(settings);
  const notice = (level: 'info' | 'warning', code: string, text: string) =>
    options.onNotice(level, code, visibleLine(`MCP server "${name}": ${mask(text)}`, NOTICE_CHARS));
  const pins = definitionPins(options.pins, PINS_PER_TOOL * limits.mcpServerTools, (toolName) =>
    notice('warning', 'mcp_tool_changed', `"${toolName}" changed its definition; the next call is asked about`),
  );
  const openLink = linkOpener(settings, options);
  let definitions: readonly McpToolDefinition[] = [];
  /** By hash: a tool whose definition stayed is the same object in the next list. */
  let byHash = new Map<string, Tool>();
  let toldReason: string | undefined;

  const connection = new McpConnection({
    name,
    limits,
    mask,
    open: (hooks) => limitConnecting(() => openLink(hooks)),
    onRemark: (remark) => notice('warning', 'mcp_tools_left_out', remark),
    onChange,
  });
  const source = { server: name, isAlwaysLoaded: settings.alwaysLoad === true, limits, call, ...pins };

  function onChange(): void {
    tellFailure();
    if (connection.definitions === definitions) return;
    definitions = connection.definitions;
    pins.see(definitions);
    byHash = new Map(
      definitions.map((definition) => [definition.hash, byHash.get(definition.hash) ?? adaptTool(definition, source)]),
    );
    options.onToolsChanged();
  }

  /** Once for each reason, not for each try. */
  function tellFailure(): void {
    const { status, reason = status } = connection;
    if (status === 'connected') toldReason = undefined;
    if ((status !== 'failed' && status !== 'needs_auth') || reason === toldReason) return;
    toldReason = reason;
    notice('warning', `mcp_${status}`, reason);
  }

  function call({ signal, isRepeatable, ...request }: McpToolCall) {
    return connection.request({ signal, isRepeatable, run: (client) => callTool(client, request, signal, limits) });
  }

  return {
    connection,
    tools: () => [...byHash.values()],
    listResources: (signal) =>
      connection.request({ signal, isRepeatable: true, run: (client) => listResources(client, limits, signal) }),
    readResource: (uri, signal) =>
      connection.request({ signal, isRepeatable: true, run: (client) => readResource(client, uri, limits, signal) }),
  };
}
