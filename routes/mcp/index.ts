/**
 * `/mcp`: the tools of a session for MCP clients. The MCP SDK is loaded by the first request.
 *
 * MCP describes these routes, so `/openapi.json` does not have them.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import * as z from 'zod';
import { GauntletError } from '../../src/base/errors.ts';
import { IdSchema } from '../../src/wire/block-schema.ts';
import type { WireError } from '../../src/wire/server-replies.ts';
import type { DoorContext } from '../dependencies.ts';
import { STATUS_OF_CODE, toWireError } from '../error-reply.ts';
import { clientGone } from '../pipe-reply.ts';
import type { App, ZodTypes } from '../request-schemas.ts';
import { challenge, protectedResourceRoutes, Upstream } from './protected-resource.ts';
import type { McpService } from './service.ts';

/** Codes of JSON-RPC. */
const PARSE_ERROR = -32_700;
const INVALID_REQUEST = -32_600;

const Query = z.strictObject({
  session_id: IdSchema.optional().describe('Absent: the standing session of the caller'),
});

/** Register the routes, in a scope of their own, which has JSON-RPC's errors for bodies that cannot be read. */
export function mcpDoor(app: App, context: DoorContext): void {
  let loading: Promise<McpService> | undefined;
  const load = () => (loading ??= import('./service.ts').then(({ McpService }) => new McpService(context)));
  // Streams would hold the server open.
  context.closing.addEventListener('abort', () => void loading?.then((service) => service.close()), { once: true });

  protectedResourceRoutes(app, context);
  app.register((plain, _options, done) => {
    const scope = plain.withTypeProvider<ZodTypes>();
    scope.setErrorHandler((error, request, reply) => {
      const { code, message, details } = toWireError(error);
      const authenticate = code === 'unauthenticated' ? challenge(request, context) : undefined;
      if (authenticate !== undefined) reply.header('www-authenticate', authenticate);
      // Requests that nobody is known to have sent get the errors of every route.
      if (request.principal === '' || !UNREADABLE.has(code)) throw error;
      const number = details?.['reason'] === 'not_json' ? PARSE_ERROR : INVALID_REQUEST;
      return sendJsonRpcError(reply, STATUS_OF_CODE[code], { code: number, message, data: details });
    });
    async function serve(request: FastifyRequest, reply: FastifyReply, sessionId: string | undefined): Promise<void> {
      const gone = clientGone(reply);
      await (await load()).serveSession(request, reply, sessionId, gone);
    }

    scope.post('/mcp', { schema: { querystring: Query, body: z.unknown() } }, (request, reply) => {
      if (context.readiness() === 'draining')
        throw new GauntletError('shutting_down', 'The server is shutting down; try again soon');
      return serve(request, reply, request.query.session_id);
    });
    // The reply to a HEAD request would never end.
    const options = { exposeHeadRoute: false, schema: { querystring: Query } };
    scope.get('/mcp', options, (request, reply) => serve(request, reply, request.query.session_id));
    scope.delete('/mcp', { schema: { querystring: Query } }, (request, reply) =>
      serve(request, reply, request.query.session_id),
    );
    const serveUpstream = async (
      request: FastifyRequest & { readonly params: { name: string } },
      reply: FastifyReply,
    ) => {
      const gone = clientGone(reply);
      await (await load()).serveUpstream(request, reply, request.params.name, gone);
    };
    const url = '/mcp/servers/:name';
    scope.post(url, { schema: { params: Upstream, body: z.unknown() } }, serveUpstream);
    scope.get(url, { exposeHeadRoute: false, schema: { params: Upstream } }, serveUpstream);
    scope.delete(url, { schema: { params: Upstream } }, serveUpstream);
    done();
  });
}

const UNREADABLE: ReadonlySet<string> = new Set(['invalid_request', 'payload_too_large', 'unsupported_media_type']);

function sendJsonRpcError(
  reply: FastifyReply,
  status: number,
  error: { readonly code: number; readonly message: string; readonly data: WireError['details'] },
): FastifyReply {
  return reply.code(status).send({ jsonrpc: '2.0', error, id: null });
}
