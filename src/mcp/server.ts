/**
 * One server as the rest sees it: its connection and the tools made from its definitions.
 *
 * Loaded only where a server is configured, for it brings the SDK and ajv with it.
 */
import type { CallToolResult, Client, Tool as SdkTool } from '@modelcontextprotocol/client';
import type { Limits } from '../../config/limits.ts';
import type { Tool } from '../tool/tool.ts';
import { adaptTool, type McpToolCall } from './adapt.ts';
import type { McpOutput } from './call-result.ts';
import { type ConnectionOptions, McpConnection } from './connection.ts';
import type { McpEnvironment, McpServerOptions } from './environment.ts';
import type { StoredPins } from './pin-store.ts';
import { remoteOpener } from './remote-link.ts';
import { listResources, type McpResource, readResource } from './resources.ts';
import type { McpServerSettings } from './server-settings.ts';
import { openStdioLink } from './stdio-transport.ts';
import type { McpToolDefinition } from './tool-definition.ts';
import { visibleLine } from './visible-text.ts';

/** Names of environment variables that hold keys. */
const SECRET_NAME = /key|token|secret|pass|auth|credential|cookie|session/i;

/** Shorter values are words that may stand anywhere (`true`, `8080`). */
const SECRET_CHARS = 8;

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

/**
 * Send one `tools/call`; progress puts off its timeout, but not for ever.
 *
 * @throws Whatever the SDK threw, an abort as a timeout.
 */
function callTool(
  client: Client,
  { toolName, arguments: input, inputSchema, onProgress }: Omit<McpToolCall, 'signal' | 'isRepeatable'>,
  signal: AbortSignal,
  limits: Pick<Limits, 'mcpCallIdleMs' | 'mcpCallMs'>,
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

/** The pins of one server. */
interface DefinitionPins {
  /** Note what is listed now: the first sight of a tool pins it, a later change is told. */
  see(definitions: readonly McpToolDefinition[]): void;
  /** Whether the definition is another than the pinned one. */
  isChanged(definition: McpToolDefinition): boolean;
  /** From now on this is the pinned one. */
  approve(definition: McpToolDefinition): void;
}

/**
 * Begin with the pins of earlier starts.
 *
 * @param pinned Kept on disk, so that a restart does not accept what a server says then.
 * @param maxPins Names remembered; those of a server that invents ever new ones are asked about each time.
 * @param onChanged Called once for each change of a tool, with its name as sent.
 */
function definitionPins(pinned: StoredPins, maxPins: number, onChanged: (toolName: string) => void): DefinitionPins {
  /** What was last told about, so that a server that lists the same change again is not told twice. */
  const told = new Map<string, string>();
  return {
    see(definitions) {
      for (const { name, hash } of definitions) {
        const known = pinned.get(name);
        if (known === undefined) {
          if (pinned.size < maxPins) pinned.set(name, hash);
        } else if (known !== hash && told.get(name) !== hash) {
          told.set(name, hash);
          onChanged(name);
        }
      }
    },
    isChanged: ({ name, hash }) => pinned.get(name) !== hash,
    approve({ name, hash }) {
      const known = pinned.get(name);
      if (known !== undefined && known !== hash) pinned.set(name, hash);
    },
  };
}

/**
 * Make the mask of one server.
 *
 * @returns Puts "[hidden]" in place of each configured header and of each environment variable that is named as a key.
 */
function secretMask(settings: McpServerSettings): (text: string) => string {
  const secrets = [...new Set(secretsOf(settings))].filter((secret) => secret.length >= SECRET_CHARS);
  // The longest first: one may be part of another.
  secrets.sort((one, other) => other.length - one.length);
  return (text) => secrets.reduce((masked, secret) => masked.replaceAll(secret, '[hidden]'), text);
}

function secretsOf(settings: McpServerSettings): readonly string[] {
  if ('url' in settings) {
    // "Bearer <token>": the token alone is the secret as well.
    return Object.values(settings.headers ?? {}).flatMap((value) => [value, ...value.split(' ').slice(1)]);
  }
  return Object.entries(settings.env ?? {}).flatMap(([name, value]) => (SECRET_NAME.test(name) ? [value] : []));
}

/** Make the way to open links to one server. */
function linkOpener(settings: McpServerSettings, environment: McpEnvironment): ConnectionOptions['open'] {
  if ('url' in settings) return remoteOpener(settings, environment.limits);
  return (hooks) => openStdioLink(settings, environment, hooks);
}
