/**
 * Calls to the tools of one server: over the shared connection, or over one of the session, and within their time.
 */
import {
  type CallToolResult,
  type Client,
  LOG_LEVEL_META_KEY,
  type Tool as SdkTool,
  UrlElicitationRequiredError,
} from '@modelcontextprotocol/client';
import { LONGEST_TIMER_MS } from '../../config/limits.ts';
import { GauntletError } from '../base/errors.ts';
import type { McpToolCall } from './adapt.ts';
import { type CallClock, startClock } from './call-clock.ts';
import type { McpConnection } from './connection.ts';
import { elicit } from './elicitation.ts';
import { delegateKey, type McpServerOptions } from './environment.ts';
import type { LinkHandlers } from './link-handlers.ts';
import type { McpLink } from './link.ts';
import type { LinkOwner } from './owned-links.ts';
import type { RunningCall, ServerRequests } from './server-requests.ts';
import { type LinkUse, SessionLinks } from './session-links.ts';
import { callAsTask, isCalledAsTask } from './task-call.ts';

/** Pages that a person is asked to open for one call. */
const MAX_PAGES = 5;

/** Options of `createCalls`. */
export interface CallsOptions extends McpServerOptions {
  /** Replaces secrets in text of the server. */
  readonly mask: (text: string) => string;
}

/** Create what calls one server. @param shared Requests over the shared connection. */
export function createCalls(options: CallsOptions, connection: McpConnection, shared: ServerRequests) {
  const { name, settings, limits, sampler, mask } = options;
  const { timeout } = settings;
  const times = { idleMs: timeout ?? limits.mcpCallIdleMs, totalMs: timeout ?? limits.mcpCallMs };
  const sessions = new Map<string, SessionLinks>();

  function openOwned(owner: LinkOwner, handlers: LinkHandlers, signal: AbortSignal, use?: LinkUse): Promise<McpLink> {
    return options.ownedLinks.open(owner, () => connection.openOwned(handlers, signal), use);
  }

  /** The connection that answered for one session is that session's. */
  function isShared(sessionId: string): boolean {
    if (settings.connection !== undefined) return settings.connection === 'shared';
    return shared.owner === sessionId || !shared.hasAsked;
  }

  function linksOf(principal: string): SessionLinks {
    const known = sessions.get(principal);
    if (known !== undefined) return known;
    // Several calls wait for one connection, so none of their signals ends its opening; `mcpConnectMs` does.
    const open = (sessionId: string, handlers: LinkHandlers, use: LinkUse) =>
      openOwned({ principal, sessionId }, handlers, new AbortController().signal, use);
    const links = new SessionLinks({ server: name, sampler, mask, open });
    sessions.set(principal, links);
    return links;
  }

  async function call({ context, isRepeatable, ...request }: McpToolCall): Promise<CallToolResult> {
    const { signal } = context;
    const delegated = options.delegates.get(delegateKey(context.sessionId, context.toolUseId));
    if (delegated) {
      const { toolName, arguments: input, execution } = request;
      const headers = context.trace?.headers() ?? {};
      return delegated({ server: name, toolName, arguments: input, execution, headers }, signal);
    }
    const clock = startClock(name, times);
    const running = { context, input: request.arguments, whilePaused: clock.whilePaused } satisfies RunningCall;
    const parts = { server: name, running, clock, totalMs: times.totalMs };
    const run = (client: Client) => callAfterPages(client, request, parts);
    try {
      if (isShared(context.sessionId)) {
        return await shared.during(running, () => connection.request({ run, signal, isRepeatable }));
      }
      const links = linksOf(context.principal);
      return await links.during(running, (link) => connection.requestOver(link, { run, signal }));
    } finally {
      clock.stop();
    }
  }

  return {
    call,
    openOwned: (owner: LinkOwner, handlers: LinkHandlers, signal: AbortSignal) => openOwned(owner, handlers, signal),
    endSession: async (sessionId: string) =>
      void (await Promise.all([...sessions.values()].map((links) => links.endSession(sessionId)))),
  };
}

type ToolRequest = Omit<McpToolCall, 'context' | 'isRepeatable'>;

interface CallParts {
  readonly server: string;
  readonly running: RunningCall;
  readonly clock: CallClock;
  readonly totalMs: number;
}

/** Call a tool; if it wants pages opened first, ask the person and call once more. */
async function callAfterPages(client: Client, request: ToolRequest, parts: CallParts): Promise<CallToolResult> {
  try {
    return await callTool(client, request, parts);
  } catch (error) {
    if (!(error instanceof UrlElicitationRequiredError)) throw error;
    const { server, running, clock } = parts;
    const asking = { server, input: running.input, ask: running.context.ask };
    for (const page of error.elicitations.slice(0, MAX_PAGES)) {
      const { action } = await clock.whilePaused(() =>
        elicit({ ...page, mode: 'url' }, asking, running.context.signal),
      );
      if (action === 'accept') continue;
      const message = `The MCP server "${server}" needs a page to be opened first, and the person ${action === 'decline' ? 'said no' : 'did not answer'}`;
      throw new GauntletError('tool_failed', message, { cause: error });
    }
    return callTool(client, request, parts);
  }
}

/**
 * Send one `tools/call`. The clock bounds it: the SDK's timeouts would go on while a person is asked.
 *
 * @throws The SDK's error; an abort is reported as a timeout.
 */
async function callTool(
  client: Client,
  { toolName, arguments: input, inputSchema, execution, onProgress }: ToolRequest,
  { running, clock, totalMs }: CallParts,
): Promise<CallToolResult> {
  const meta = {
    ...running.context.trace?.headers(),
    // Servers of the older era are told once, when they connect.
    ...(client.getProtocolEra() === 'modern' && { [LOG_LEVEL_META_KEY]: 'info' }),
  };
  const params = {
    name: toolName,
    arguments: { ...input },
    ...(Object.keys(meta).length > 0 && { _meta: meta }),
  };
  const options = { signal: AbortSignal.any([running.context.signal, clock.signal]), timeout: LONGEST_TIMER_MS };
  const onprogress = (progress: Parameters<typeof onProgress>[0]) => {
    clock.onProgress();
    onProgress(progress);
  };
  try {
    if (isCalledAsTask(client, { execution })) {
      let changes = 0;
      const onStatus = (message: string) => onprogress({ progress: ++changes, message });
      return await callAsTask(client, params, { ...options, totalMs, onStatus });
    }
    return await client.callTool(params, {
      ...options,
      onprogress,
      // Saves the SDK a listing of its own, and the compilation of the server's output schema.
      toolDefinition: { name: toolName, inputSchema } as SdkTool,
    });
  } catch (error) {
    if (clock.signal.aborted && !running.context.signal.aborted) throw clock.signal.reason;
    throw error;
  }
}
