/**
 * Passes one MCP server through as it is, with its own names, for one client: each of its calls passes the gate.
 */
import { type McpLink } from '../../src/mcp/link.ts';
import { restoreList } from '../../src/mcp/received-messages.ts';
import { mcpToolName } from '../../src/mcp/tool-name.ts';
import type { AllowedCall } from '../../src/mcp/environment.ts';
import { callAsTask, isCalledAsTask } from '../../src/mcp/task-call.ts';
import { GauntletError } from '../../src/base/errors.ts';
import type { LinkHandlers } from '../../src/mcp/link-handlers.ts';
import type { JsonValue } from '../../src/base/json.ts';
import type { Session } from '../../src/session/session.ts';
import {
  type CallToolResult,
  type ClientCapabilities,
  type InputRequiredResult,
  isInputRequiredResult,
  LOG_LEVEL_META_KEY,
  type Progress,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type ServerCapabilities,
  type ServerContext,
  type ServerEvent,
} from '@modelcontextprotocol/server';
import { withInputRequired } from '@modelcontextprotocol/client';
import { setImmediate } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod';
import type { McpDoorContext } from './dependencies.ts';
import { toCallToolResult } from './content.ts';
import type { Era } from './endpoint.ts';
import { noticeRoom, pacedUpdates } from './paced-notices.ts';
import { toProtocolError } from './protocol-error.ts';
import { type CallState, runCall } from './tool-call.ts';

/** A result is passed on as it is; a client may know members that this server does not. */
const Anything = withInputRequired(z.looseObject({}).transform(restoreList));

/** Requests that are passed on as they are, by the capability of the upstream that they need. */
const PASSED = {
  tools: ['tools/list'],
  prompts: ['prompts/list', 'prompts/get'],
  resources: ['resources/list', 'resources/templates/list', 'resources/read'],
  completions: ['completion/complete'],
} as const;

const SUBSCRIPTIONS = ['resources/subscribe', 'resources/unsubscribe'] as const;

/** Dependencies of passing a server through. */
export interface UpstreamOptions extends McpDoorContext {
  /** Name of the upstream, as configured. */
  readonly name: string;
  readonly era: Era;
  /** Capabilities of the client. */
  readonly declared: ClientCapabilities;
  session(): Promise<Session>;
  /** Open the connection to the upstream. It is closed by whoever keeps it. */
  open(handlers: LinkHandlers): Promise<McpLink>;
  publish(event: ServerEvent): void;
  mint(state: CallState, context: ServerContext): Promise<string>;
  verify(state: string, context: ServerContext): Promise<CallState>;
}

/** A connection to the upstream, and the requests of clients that it serves. */
export interface Connected {
  readonly link: McpLink;
  readonly requests: OpenRequests;
}

/** Connect to the upstream. @throws {GauntletError} As `McpConnections.openOwned` */
export async function connect(options: UpstreamOptions): Promise<Connected> {
  const requests = new OpenRequests();
  return { requests, link: await options.open(handlersFor(options, requests)) };
}

/** Requests of the client without a reply: what the upstream asks meanwhile belongs to the latest. */
class OpenRequests {
  readonly #open = new Set<ServerContext>();
  #onIdle: () => void = () => undefined;

  get latest(): ServerContext | undefined {
    return [...this.#open].at(-1);
  }

  async during<Value>(context: ServerContext, work: () => Promise<Value>): Promise<Value> {
    this.#open.add(context);
    try {
      return await work();
    } finally {
      this.#open.delete(context);
      if (this.#open.size === 0) this.#onIdle();
    }
  }

  /** Wait until all requests that are open now have their replies. */
  async replied(): Promise<void> {
    if (this.#open.size > 0) await new Promise<void>((resolve) => (this.#onIdle = resolve));
    // The reply is sent once its handler has returned.
    await setImmediate();
  }
}

/** Create the server for an open connection. */
export function upstreamServer(options: UpstreamOptions, { link, requests }: Connected): Server {
  const { client } = link;
  const capabilities = offered(client.getServerCapabilities() ?? {});
  const instructions = client.getInstructions();
  const server = new Server(client.getServerVersion() ?? { name: options.name, version: options.version }, {
    capabilities,
    ...(instructions !== undefined && { instructions }),
    requestState: { verify: options.verify },
  });
  const pass = (method: string, params: Readonly<Record<string, unknown>> | undefined, context: ServerContext) =>
    passed(requests.during(context, () => send(options, link, { method, params }, context)));
  const methods = Object.entries(PASSED).flatMap(([capability, names]) => (capability in capabilities ? names : []));
  for (const method of methods) {
    server.setRequestHandler(method as 'prompts/get', ({ params }, context) => pass(method, params, context) as never);
  }
  if (capabilities.resources?.subscribe === true) {
    for (const method of SUBSCRIPTIONS)
      server.setRequestHandler(method, ({ params }, context) => pass(method, params, context) as never);
  }
  if (capabilities.logging) {
    server.setRequestHandler(
      'logging/setLevel',
      ({ params }, context) => pass('logging/setLevel', params, context) as never,
    );
  }
  if (capabilities.tools) {
    server.setRequestHandler('tools/call', ({ params }, context) =>
      passed(requests.during(context, () => callTool(options, link, server, params, context))),
    );
  }
  return server;
}

/** Capabilities that are offered on: all that are passed through. */
function offered({ tools, prompts, resources, completions, logging }: ServerCapabilities): ServerCapabilities {
  return {
    ...(tools && { tools }),
    ...(prompts && { prompts }),
    ...(resources && { resources }),
    ...(completions && { completions }),
    ...(logging && { logging }),
  };
}

/** Convert errors of this server; those of the upstream are passed on. */
async function passed<Result>(answer: Promise<Result>): Promise<Result> {
  try {
    return await answer;
  } catch (error) {
    throw error instanceof Error && 'code' in error && typeof error.code === 'number' ? error : toProtocolError(error);
  }
}

interface UpstreamRequest {
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>> | undefined;
}

/** Send a request to the upstream, with the answers that the client brings; its progress is the client's. */
async function send(
  { era, mint }: UpstreamOptions,
  { client }: McpLink,
  { method, params }: UpstreamRequest,
  context: ServerContext,
  signal: AbortSignal = context.mcpReq.signal,
): Promise<Record<string, unknown>> {
  const { mcpReq } = context;
  const state = mcpReq.requestState<CallState>();
  const answers = state?.kind === 'question' ? undefined : mcpReq.inputResponses;
  const progressToken = mcpReq._meta?.progressToken;
  const logLevel = (mcpReq.envelope as Readonly<Record<string, unknown>> | undefined)?.[LOG_LEVEL_META_KEY];
  const hasRoom = noticeRoom();
  const onprogress = (progress: Progress) => {
    if (!hasRoom()) return;
    const notice = { method: 'notifications/progress', params: { ...progress, progressToken } };
    // A client that has gone needs none.
    mcpReq.notify(notice).catch(() => undefined);
  };
  const result = await client.request(
    {
      method,
      params: {
        ...params,
        ...(logLevel !== undefined && {
          _meta: { ...mcpReq._meta, ...(params?.['_meta'] as object | undefined), [LOG_LEVEL_META_KEY]: logLevel },
        }),
        ...(answers && { inputResponses: answers }),
        ...(state?.kind === 'upstream' && { requestState: state.state }),
      },
    },
    Anything,
    {
      signal,
      allowInputRequired: era === 'modern',
      timeout: MAX_WAIT_MS,
      ...(progressToken !== undefined && { onprogress }),
    },
  );
  if (!isInputRequiredResult(result) || typeof result.requestState !== 'string') return result;
  // Sealed, so that the upstream gets back what it has sent, from the one that it was sent to.
  return { ...result, requestState: await mint({ kind: 'upstream', state: result.requestState }, context) };
}

/** Longest that one request may wait; the client ends it earlier. */
const MAX_WAIT_MS = 60 * 60_000;

/** Parameters of `tools/call`. */
type CallParams = Readonly<{
  name: string;
  arguments?: Record<string, unknown>;
  _meta?: Readonly<Record<string, unknown>>;
}>;

/** Call a tool: as a block of the standing session, so that the gate decides and the log has it. */
async function callTool(
  options: UpstreamOptions,
  link: McpLink,
  server: Server,
  params: CallParams,
  context: ServerContext,
): Promise<CallToolResult | InputRequiredResult> {
  const session = await options.session();
  const { name: upstream, era, mint, limits, logger, upstreams } = options;
  let outcome: { readonly result: Record<string, unknown> } | { readonly error: unknown } | undefined;
  const begin = (toolUseId: string) =>
    upstreams.delegate(session.id, toolUseId, async (allowed, signal) => {
      try {
        const sent = allowedParams(upstream, params, allowed);
        const ended = AbortSignal.any([signal, context.mcpReq.signal]);
        const result = isCalledAsTask(link.client, allowed)
          ? await callTask(link, { ...sent, _meta: allowed.headers }, context, ended)
          : await send(options, link, { method: 'tools/call', params: sent }, context, ended);
        outcome = { result };
        return isInputRequiredResult(result) ? ASKED : (result as CallToolResult);
      } catch (error) {
        outcome = { error };
        throw error;
      }
    });
  const end = await runCall({
    ...{ session, server, context, era, mint, begin },
    name: mcpToolName(upstream, params.name),
    input: (params.arguments ?? {}) as JsonValue,
    askTimeoutMs: limits.askTimeoutMs,
    onFault: (error, what) => logger.error({ err: error }, what),
  });
  if (end.kind === 'asks') return end.result;
  if (!outcome && end.reply.calls[0]?.error_code === 'unknown_tool')
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no tool "${params.name}"`);
  const call = end.reply.calls[0];
  // A hook may have kept the answer or the error back, or put another in its place.
  const isByHook = call?.rewritten === true || call?.error_code === 'hook_blocked';
  if (!outcome || isByHook) return toCallToolResult(session.id, end.reply);
  if ('error' in outcome) throw outcome.error;
  return outcome.result as CallToolResult;
}

/** Call a tool as a task, which the client need not know of: the statuses of the task are progress. */
function callTask(
  { client }: McpLink,
  { name, arguments: input = {}, _meta }: CallParams & { readonly _meta: AllowedCall['headers'] },
  { mcpReq }: ServerContext,
  signal: AbortSignal,
): Promise<CallToolResult> {
  const progressToken = mcpReq._meta?.progressToken;
  let progress = 0;
  const onStatus = (message: string) => {
    if (progressToken === undefined) return;
    const params = { progressToken, progress: ++progress, message };
    // A client that has gone needs none.
    mcpReq.notify({ method: 'notifications/progress', params }).catch(() => undefined);
  };
  const options = { signal, timeout: MAX_WAIT_MS, totalMs: MAX_WAIT_MS, onStatus };
  return callAsTask(client, { name, arguments: input, _meta }, options);
}

/**
 * Return the parameters with what the gate let through.
 *
 * @throws {GauntletError} `tool_failed` if that is another tool, whose name for models is the same.
 */
function allowedParams(
  upstream: string,
  params: CallParams,
  { server, toolName, arguments: input, headers }: AllowedCall,
) {
  if (server !== upstream || toolName !== params.name) {
    const message = `"${params.name}" of "${upstream}" has the same name for models as "${toolName}" of "${server}"`;
    throw new GauntletError('tool_failed', `Cannot call the tool: ${message}`);
  }
  const allowed = isDeepStrictEqual(input, params.arguments ?? {}) ? params : { ...params, arguments: input };
  return Object.keys(headers).length === 0 ? allowed : { ...allowed, _meta: { ...params._meta, ...headers } };
}

/** Result in the log of a call whose upstream needs more from its client first. */
const ASKED: CallToolResult = { content: [{ type: 'text', text: 'The server asked its client for input first' }] };

/** Handlers of what the upstream asks and tells: what the client declared is passed on to it. */
function handlersFor({ declared, publish, era }: UpstreamOptions, requests: OpenRequests): LinkHandlers {
  /** A client of the modern era is asked by results alone. */
  const asker = (): ServerContext => {
    const context = era === 'legacy' ? requests.latest : undefined;
    if (context === undefined)
      throw new ProtocolError(-32_603, 'No request of the client is open that could be asked about');
    return context;
  };
  const options = (signal: AbortSignal) => ({ signal, timeout: MAX_WAIT_MS });
  const hasRoom = noticeRoom();
  const { elicitation, sampling, roots } = declared;
  return {
    ...(elicitation && {
      elicitModes:
        elicitation.url === undefined ? ['form'] : elicitation.form === undefined ? ['url'] : ['form', 'url'],
      elicit: (params, signal) => asker().mcpReq.elicitInput(params, options(signal)),
    }),
    ...(sampling && {
      sampleOptions: {
        ...(sampling.tools !== undefined && { tools: {} }),
        ...(sampling.context !== undefined && { context: {} }),
      },
      sample: (params, signal) => asker().mcpReq.requestSampling(params, options(signal)),
    }),
    ...(roots && {
      listRoots: async () => (await asker().mcpReq.send({ method: 'roots/list' })).roots,
    }),
    onLog: (params) => {
      if (!hasRoom()) return;
      const notice = { method: 'notifications/message', params } as const;
      // A client that has gone needs none.
      requests.latest?.mcpReq.notify(notice).catch(() => undefined);
    },
    onListChanged: (kind) => publish({ kind: `${kind}_list_changed` }),
    onResourceUpdated: pacedUpdates((uri) => publish({ kind: 'resource_updated', uri })),
  };
}
