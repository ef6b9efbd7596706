/**
 * Serves one address to one principal in both revisions of MCP: 2026-07-28 by single requests, 2025-11-25 by MCP sessions.
 */
import { randomUUID } from 'node:crypto';
import {
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  createMcpHandler,
  isInitializeRequest,
  isLegacyRequest,
  type McpHttpHandler,
  type McpRequestContext,
  type Server,
  type ServerEvent,
  type ServerEventBus,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { GauntletError } from '../../src/base/errors.ts';
import type { McpSession, McpSessions } from './mcp-sessions.ts';

/** Streams of one endpoint that listen for changes, in the modern era. */
const MAX_LISTENERS = 100;

/** Revision that a request or an MCP session speaks. */
export type Era = 'legacy' | 'modern';

/** Options of `McpEndpoint`. */
export interface EndpointOptions {
  readonly principal: string;
  /** Path and query; an MCP session belongs to the address that it was begun at. */
  readonly address: string;
  readonly sessions: McpSessions;
  readonly bus: ServerEventBus;
  /** Create a server for one request of the modern era, or for an MCP session. @param declared By the client. */
  createServer(era: Era, declared: ClientCapabilities): Server | Promise<Server>;
  /** `sse`: replies of the modern era always stream, so that a client sees signs of life while a call runs. */
  readonly responseMode?: 'sse';
  /**
   * Called when a client of the modern era listens for updates of resources, which it then gets from the bus; those of
   * the legacy era are told by their own servers.
   *
   * @returns A function that ends the listening.
   */
  onListen(resources: readonly string[]): () => void;
  /** True if the servers of MCP sessions announce changed lists themselves. Default: they are told what the bus has. */
  readonly announcesItself?: boolean;
  /** Called when the endpoint is dropped. */
  onClose?(): void;
  /** Called with errors that belong to no reply. */
  onError(error: Error): void;
}

/** One address for one principal. */
export class McpEndpoint {
  readonly #options: EndpointOptions;
  readonly #modern: McpHttpHandler;
  readonly #bodies = new WeakMap<Request, unknown>();
  #pending = 0;
  #usedMs = performance.now();

  constructor(options: EndpointOptions) {
    this.#options = options;
    const declaredIn = ({ requestInfo }: McpRequestContext) =>
      modernCapabilities(requestInfo && this.#bodies.get(requestInfo));
    this.#modern = createMcpHandler((context) => options.createServer('modern', declaredIn(context)), {
      legacy: 'reject',
      bus: options.bus,
      ...(options.responseMode && { responseMode: options.responseMode }),
      maxSubscriptions: MAX_LISTENERS,
      onerror: (error) => options.onError(error),
    });
  }

  /** True if nothing was asked for the time, and nothing is being replied. */
  isUnused(forMs: number): boolean {
    return this.#pending === 0 && performance.now() - this.#usedMs >= forMs;
  }

  /**
   * Serve a request.
   *
   * @param body Its parsed body.
   * @param send Sends the response; resolves when it was sent as a whole.
   * @throws {GauntletError} `rate_limited`
   */
  async serve(request: Request, body: unknown, send: (response: Response) => Promise<void>): Promise<void> {
    this.#pending += 1;
    try {
      if (await isLegacyRequest(request, body)) await this.#serveLegacy(request, body, send);
      else {
        await this.#serveModern(request, body, send);
      }
    } finally {
      this.#pending -= 1;
      this.#usedMs = performance.now();
    }
  }

  /** End the requests of the modern era. MCP sessions end with `McpSessions`. */
  async close(): Promise<void> {
    await this.#modern.close();
    this.#options.onClose?.();
  }

  async #serveModern(request: Request, body: unknown, send: (response: Response) => Promise<void>): Promise<void> {
    this.#bodies.set(request, body);
    const resources = listenedResources(body);
    const stop = resources.length > 0 ? this.#options.onListen(resources) : undefined;
    try {
      await send(await this.#modern.fetch(request, { parsedBody: body }));
    } finally {
      stop?.();
    }
  }

  async #serveLegacy(request: Request, body: unknown, send: (response: Response) => Promise<void>): Promise<void> {
    const id = request.headers.get('mcp-session-id');
    const { sessions, principal, address } = this.#options;
    if (id === null && !isInitializeRequest(body)) {
      return send(
        refusal(400, -32_000, 'Bad Request: begin with "initialize", and send the Mcp-Session-Id of its reply'),
      );
    }
    const session = id === null ? await this.#begin(body) : sessions.find(id, principal, address);
    if (session === undefined) return send(refusal(404, -32_001, 'Session not found: begin another with "initialize"'));
    return sessions.use(session, async () => {
      const response = await session.transport.handleRequest(request, { parsedBody: body });
      // A session that could not begin leaves nothing behind.
      if (id === null && !response.ok) void session.server.close();
      await send(response);
    });
  }

  /** Begin an MCP session, whose server announces changes as they come. */
  async #begin(body: unknown): Promise<McpSession> {
    const { sessions, principal, address, bus, onError, createServer, announcesItself } = this.#options;
    sessions.makeRoom(principal);
    const id = randomUUID();
    const transport = new WebStandardStreamableHTTPServerTransport({ sessionIdGenerator: () => id });
    const server = await createServer('legacy', isInitializeRequest(body) ? body.params.capabilities : {});
    const unsubscribe = bus.subscribe((event) => {
      if (event.kind === 'resource_updated' || announcesItself) return;
      // A client without a stream lists again when it needs to.
      void announce(server, event).catch(onError);
    });
    server.onerror = onError;
    const { onclose: onClosed } = server;
    server.onclose = () => {
      onClosed?.();
      unsubscribe();
      sessions.remove(id);
    };
    await server.connect(transport);
    const session = { id, principal, address, transport, server };
    sessions.add(session);
    return session;
  }
}

/** Read the capabilities that a request of the modern era declares; the SDK has checked them, or refuses it. */
function modernCapabilities(body: unknown): ClientCapabilities {
  const { params } = (body ?? {}) as { params?: { _meta?: Record<string, ClientCapabilities> } };
  return params?._meta?.[CLIENT_CAPABILITIES_META_KEY] ?? {};
}

/** Addresses of the resources that a client listens for; the SDK checks the request. */
function listenedResources(body: unknown): readonly string[] {
  const { method, params } = (body ?? {}) as {
    readonly method?: unknown;
    readonly params?: { readonly notifications?: { readonly resourceSubscriptions?: unknown } };
  };
  if (method !== 'subscriptions/listen') return [];
  const uris = params?.notifications?.resourceSubscriptions;
  return Array.isArray(uris) ? uris.filter((uri) => typeof uri === 'string') : [];
}

/** Tell the client of an MCP session of a change. */
export function announce(server: Server, event: ServerEvent): Promise<void> {
  switch (event.kind) {
    case 'tools_list_changed':
      return server.sendToolListChanged();
    case 'prompts_list_changed':
      return server.sendPromptListChanged();
    case 'resources_list_changed':
      return server.sendResourceListChanged();
    case 'resource_updated':
      return server.sendResourceUpdated({ uri: event.uri });
  }
}

/** Build an error that belongs to no request. */
function refusal(status: number, code: number, message: string): Response {
  return Response.json({ jsonrpc: '2.0', error: { code, message }, id: null }, { status });
}

/** All endpoints of the server, by principal and address; unused ones are dropped. */
export class McpEndpoints {
  readonly #endpoints = new Map<string, McpEndpoint>();
  readonly #timer: NodeJS.Timeout;

  constructor() {
    this.#timer = setInterval(() => this.#dropUnused(), UNUSED_MS).unref();
  }

  /** Find the endpoint of a principal at an address, or create it. @throws {GauntletError} `overloaded` */
  at(principal: string, address: string, create: () => McpEndpoint): McpEndpoint {
    const key = `${principal}\0${address}`;
    const known = this.#endpoints.get(key);
    if (known) return known;
    if (this.#endpoints.size >= MAX_ENDPOINTS) this.#dropUnused(0);
    if (this.#endpoints.size >= MAX_ENDPOINTS)
      throw new GauntletError('overloaded', 'Too many addresses of MCP are in use; try again soon');
    const made = create();
    this.#endpoints.set(key, made);
    return made;
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await Promise.all([...this.#endpoints.values()].map((endpoint) => endpoint.close()));
  }

  #dropUnused(forMs = UNUSED_MS): void {
    for (const [key, endpoint] of this.#endpoints) {
      if (!endpoint.isUnused(forMs)) continue;
      this.#endpoints.delete(key);
      void endpoint.close();
    }
  }
}

/** Addresses in use: a principal may have many sessions, each with an address of its own. */
const MAX_ENDPOINTS = 2_000;

/** An endpoint that is not used for this long is dropped; it holds nothing that its client would miss. */
const UNUSED_MS = 10 * 60_000;
