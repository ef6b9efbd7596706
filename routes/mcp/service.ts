/**
 * The MCP service: endpoints by principal and address. Loaded by the first request, since it imports the MCP SDK.
 */
import { randomBytes } from 'node:crypto';
import { createRequestStateCodec, type ServerContext } from '@modelcontextprotocol/server';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { GauntletError, isGauntletError } from '../../src/base/errors.ts';
import { serverHidingRule } from '../../src/permissions/rule-index.ts';
import type { Session } from '../../src/session/session.ts';
import type { McpDoorContext } from './dependencies.ts';
import { type Era, McpEndpoint, McpEndpoints } from './endpoint.ts';
import { McpSessions } from './mcp-sessions.ts';
import { updatePublisher } from './resource-updates.ts';
import { SessionEvents } from './session-events.ts';
import { createSessionServer } from './session-server.ts';
import { ClientSubscriber } from './session-subscriptions.ts';
import type { CallState } from './tool-call.ts';
import { type EndpointParts, upstreamEndpoint } from './upstream-endpoint.ts';
import { sendWebResponse, toWebRequest } from './web-exchange.ts';

/** Bytes of the key that seals the states which clients send back; it lives as long as the server. */
const KEY_BYTES = 32;

/** Time in which the answer to a question may come, beyond the time that the question itself stays open. */
const ANSWER_GRACE_SECONDS = 60;

/** Serves MCP. */
export class McpService {
  readonly #context: McpDoorContext;
  readonly #sessions = new McpSessions();
  readonly #endpoints = new McpEndpoints();
  readonly #key = randomBytes(KEY_BYTES);

  constructor(context: McpDoorContext) {
    this.#context = context;
  }

  /** Serve a request to the tools of a session. @throws {GauntletError} `not_found` for a session that is not there */
  async serveSession(
    request: FastifyRequest,
    reply: FastifyReply,
    sessionId: string | undefined,
    gone: AbortSignal,
  ): Promise<void> {
    const { principal } = request;
    const { directory, limits } = this.#context;
    const session = () =>
      sessionId === undefined ? directory.standing(principal) : directory.open(principal, sessionId);
    // A session that is not there is told of by its status, not within a reply.
    await session();
    const endpoint = this.#endpoints.at(principal, `/mcp ${sessionId ?? ''}`, () =>
      this.#sessionEndpoint(principal, `/mcp ${sessionId ?? ''}`, session),
    );
    await endpoint.serve(toWebRequest(request, gone), request.body, (response) =>
      sendWebResponse(response, reply, gone, limits),
    );
  }

  /**
   * Serve a request to an upstream.
   *
   * @throws {GauntletError} `not_found`, `forbidden` if a deny rule hides the upstream, `overloaded` if it cannot be reached
   */
  async serveUpstream(request: FastifyRequest, reply: FastifyReply, name: string, gone: AbortSignal): Promise<void> {
    const { principal } = request;
    const { directory, limits, upstreams } = this.#context;
    const session = () => directory.standing(principal);
    refuseHidden(name, await session());
    try {
      await upstreams.ready(name, gone, principal);
    } catch (error) {
      if (!isGauntletError(error, 'tool_failed')) throw error;
      throw new GauntletError('overloaded', error.message, { cause: error });
    }
    const address = `/mcp/servers ${name}`;
    const endpoint = this.#endpoints.at(principal, address, () =>
      upstreamEndpoint(this.#context, { name, session, ...this.#parts(principal, address) }),
    );
    await endpoint.serve(toWebRequest(request, gone), request.body, (response) =>
      sendWebResponse(response, reply, gone, limits),
    );
  }

  /** End all sessions, streams and requests. */
  async close(): Promise<void> {
    this.#sessions.close();
    await this.#endpoints.close();
  }

  #sessionEndpoint(principal: string, address: string, session: () => ReturnType<McpDoorContext['directory']['open']>) {
    const events = new SessionEvents({ ...this.#context, session });
    const { mint, verify, ...parts } = this.#parts(principal, address);
    const options = { ...this.#context, session, events, mint, verify };
    const createServer = (era: Era) => createSessionServer({ ...options, era });
    const publishUpdate = updatePublisher((event) => events.publish(event));
    const onListen = (resources: readonly string[]) => {
      const subscriber = new ClientSubscriber(options, publishUpdate);
      subscriber.add(resources).catch(parts.onError);
      return () => subscriber.end();
    };
    return new McpEndpoint({ ...parts, bus: events, responseMode: 'sse', createServer, onListen });
  }

  /** Options that all endpoints share. */
  #parts(principal: string, address: string): EndpointParts {
    const { logger, limits } = this.#context;
    const { mint, verify } = createRequestStateCodec<CallState>({
      key: this.#key,
      ttlSeconds: Math.ceil(limits.askTimeoutMs / 1_000) + ANSWER_GRACE_SECONDS,
      // A state counts for the one who was asked, for the same address and the same kind of request.
      bind: ({ mcpReq }: ServerContext) => `${principal}\0${address}\0${mcpReq.method}`,
    });
    const onError = (error: Error) => logger.debug({ err: error }, 'An MCP request failed');
    return { principal, address, sessions: this.#sessions, onError, mint, verify };
  }
}

/** Refuse an upstream that a deny rule hides as a whole. @throws {GauntletError} `forbidden` */
function refuseHidden(name: string, { context }: Session): void {
  const rule = serverHidingRule(context.permissions, name);
  if (rule) throw new GauntletError('forbidden', `The rule "${rule.rule}" denies the MCP server "${name}"`);
}
