/**
 * One configured server: its connection and the tools made from its definitions.
 *
 * Loaded only where a server is configured, because it imports the SDK and ajv.
 */
import type { Tool } from '../tool/tool.ts';
import { adaptTool } from './adapt.ts';
import { type ConnectionOptions, McpConnection } from './connection.ts';
import type { McpServerOptions } from './environment.ts';
import { definitionPins } from './definition-pins.ts';
import { HeadersHelper } from './headers-helper.ts';
import type { LinkHandlers } from './link-handlers.ts';
import type { McpLink } from './link.ts';
import { ServerOffers, type ServerOffer } from './offers.ts';
import type { LinkOwner } from './owned-links.ts';
import { remoteOpener } from './remote-link.ts';
import { RETRY_PACE } from './retry-pause.ts';
import { createCalls } from './server-calls.ts';
import { boundedNotices } from './server-notices.ts';
import { ResourceSubscriptions } from './subscriptions.ts';
import { serverReads, type ServerReads } from './server-reads.ts';
import { ServerRequests } from './server-requests.ts';
import type { McpServerSettings } from './server-settings.ts';
import { openStdioLink } from './stdio-transport.ts';
import { ALWAYS_LOAD_KEY, type McpToolDefinition } from './tool-definition.ts';

/** Names of environment variables that hold secrets. */
const SECRET_NAME = /key|token|secret|pass|auth|credential|cookie|session/i;

/** Shorter values are common words (`true`, `8080`), which must not be masked. */
const SECRET_CHARS = 8;

/** Tools of one server that are never deferred because they ask for it, and the longest of them. */
const MAX_ALWAYS_LOADED = 16;
const MAX_ALWAYS_LOADED_CHARS = 8 * 1_024;

/** One configured server. */
export interface McpServer extends ServerReads {
  readonly connection: McpConnection;
  /** Tools of the last list; an unchanged definition keeps its tool object. */
  tools(): readonly Tool[];
  /** Subscriptions to its resources, over the shared connection. */
  readonly subscriptions: ResourceSubscriptions;
  /** Offer beside its tools; the same object until something changed. */
  offer(): ServerOffer;
  /** As `McpConnections.openOwned`. */
  openOwned(owner: LinkOwner, handlers: LinkHandlers, signal: AbortSignal): Promise<McpLink>;
  /** Close the connection of a session that has ended. */
  endSession(sessionId: string): Promise<void>;
}

/** Create the server; it connects when its connection is started. */
export function createMcpServer(options: McpServerOptions): McpServer {
  const { name, settings, limits, pace = RETRY_PACE, limitConnecting } = options;
  const helper = headersHelperOf(options);
  const mask = secretMask(settings, () => [...(options.credentials?.secrets() ?? []), ...(helper?.secrets() ?? [])]);
  const notice = boundedNotices(options, mask);
  const pins = definitionPins(options.pins, (toolName) =>
    notice('warning', 'mcp_tool_changed', `"${toolName}" changed its definition; the next call needs approval`),
  );
  let definitions: readonly McpToolDefinition[] = [];
  /** By hash: a tool with an unchanged definition is the same object in the next list. */
  let byHash: ReadonlyMap<string, Tool> = new Map();
  const reportFailure = failureReporter((code, reason) => notice('warning', code, reason));
  const shared = new ServerRequests({ server: name, sampler: options.sampler, mask });
  const subscriptions = new ResourceSubscriptions({ limits, pace });
  const connection = new McpConnection({
    name,
    handlers: {
      ...(settings.connection !== 'shared' && shared.handlers()),
      onResourceUpdated: (uri) => subscriptions.updated(uri),
    },
    limits,
    pace,
    mask,
    open: linkOpener(options, helper),
    limitConnecting,
    onRemark: (remark) => notice('warning', 'mcp_tools_left_out', remark),
    onChange,
    onOffersChanged: (kind) => (kind === 'prompts' ? offers.relist() : reads.resourceLists.announced()),
  });
  const offers = createOffers(options, mask, (remark) => notice('warning', 'mcp_prompts_left_out', remark));
  const reads = serverReads(connection, limits, () => options.onResourcesChanged?.());
  const calls = createCalls({ ...options, mask }, connection, shared);
  let alwaysLoaded: ReadonlySet<McpToolDefinition> = new Set();
  const isAlwaysLoaded = (definition: McpToolDefinition) => settings.alwaysLoad ?? alwaysLoaded.has(definition);
  const source = { server: name, limits, call: calls.call, ...pins, isAlwaysLoaded };

  function onChange(): void {
    reportFailure(connection);
    offers.follow(connection);
    subscriptions.follow(connection);
    reads.resourceLists.follow(connection);
    if (connection.definitions === definitions) return;
    definitions = connection.definitions;
    pins.compareWithPins(definitions);
    alwaysLoaded = wantedAlways(definitions);
    byHash = adaptTools(definitions, byHash, source);
    options.onToolsChanged();
  }

  return {
    connection,
    openOwned: calls.openOwned,
    endSession: calls.endSession,
    tools: () => [...byHash.values()],
    offer: () => offers.current,
    subscriptions,
    ...reads,
  };
}

/** Make the tools of definitions, by hash: the tool of `known` where it is the same. */
function adaptTools(
  definitions: readonly McpToolDefinition[],
  known: ReadonlyMap<string, Tool>,
  source: Parameters<typeof adaptTool>[1],
): ReadonlyMap<string, Tool> {
  return new Map(
    definitions.map((definition) => {
      const key = `${definition.wholeHash} ${source.isAlwaysLoaded(definition)}`;
      return [key, known.get(key) ?? adaptTool(definition, source)];
    }),
  );
}

function createOffers(
  { name: server, limits, onToolsChanged: onChange }: McpServerOptions,
  mask: (text: string) => string,
  onRemark: (remark: string) => void,
): ServerOffers {
  return new ServerOffers({ server, limits, mask, onChange, onRemark });
}

/** Create a function that reports each reason once, not at each attempt. */
function failureReporter(report: (code: string, reason: string) => void) {
  let reportedReason: string | undefined;
  return ({ status, reason = status }: Pick<McpConnection, 'status' | 'reason'>): void => {
    if (status === 'connected') reportedReason = undefined;
    if ((status !== 'failed' && status !== 'needs_auth') || reason === reportedReason) return;
    reportedReason = reason;
    report(`mcp_${status}`, reason);
  };
}

/** Choose the tools that ask never to be deferred, up to the bounds. */
function wantedAlways(definitions: readonly McpToolDefinition[]): ReadonlySet<McpToolDefinition> {
  const wanted = definitions.filter(
    ({ description = '', inputSchema, _meta: meta }) =>
      meta?.[ALWAYS_LOAD_KEY] === true &&
      description.length + JSON.stringify(inputSchema).length <= MAX_ALWAYS_LOADED_CHARS,
  );
  return new Set(wanted.slice(0, MAX_ALWAYS_LOADED));
}

/**
 * Create the function that masks one server's secrets.
 *
 * @param current Returns those that change: tokens, and headers of a helper.
 * @returns A function that replaces each configured header and client secret, each environment variable named like a
 *   secret, and each current secret by "[hidden]".
 */
function secretMask(settings: McpServerSettings, current: () => readonly string[]): (text: string) => string {
  const configured = secretsOf(settings);
  return (text) => {
    const secrets = [...new Set([...configured, ...current()])]
      .filter((secret) => secret.length >= SECRET_CHARS)
      // Longest first, since one secret may contain another.
      .sort((one, other) => other.length - one.length);
    return secrets.reduce((masked, secret) => masked.replaceAll(secret, '[hidden]'), text);
  };
}

function secretsOf(settings: McpServerSettings): readonly string[] {
  if ('url' in settings) {
    const { clientSecret, privateKey } = settings.oauth ?? {};
    // "Bearer <token>": the token alone is a secret too.
    const headers = Object.values(settings.headers ?? {}).flatMap((value) => [value, ...value.split(' ').slice(1)]);
    return [...headers, clientSecret, privateKey].filter((secret) => secret !== undefined);
  }
  return Object.entries(settings.env ?? {}).flatMap(([name, value]) => (SECRET_NAME.test(name) ? [value] : []));
}

function headersHelperOf({ name, settings, folder, processHost }: McpServerOptions): HeadersHelper | undefined {
  if (!('url' in settings) || settings.headersHelper === undefined) return undefined;
  return new HeadersHelper({ command: settings.headersHelper, server: name, url: settings.url, folder, processHost });
}

/** Create the function that opens links to one server. */
function linkOpener(
  { settings, credentials, ...environment }: McpServerOptions,
  helper: HeadersHelper | undefined,
): ConnectionOptions['open'] {
  if ('url' in settings) return remoteOpener(settings, { ...environment, helper }, credentials);
  return (hooks) => openStdioLink(settings, environment, hooks);
}
