/**
 * `/mcp-servers`: the configured MCP servers, and the caller's logins at them.
 */
import * as z from 'zod';
import { OWNER } from '../config/settings/principals.ts';
import { GauntletError, isGauntletError } from '../src/base/errors.ts';
import { IdSchema } from '../src/wire/block-schema.ts';
import type { Dependencies } from './dependencies.ts';
import { clientGone } from './pipe-reply.ts';
import type { App } from './request-schemas.ts';

const ServerAddress = z.strictObject({ name: z.string().min(1).max(200).describe('As in the settings') });

const Viewpoint = z.strictObject({
  session_id: IdSchema.optional().describe("With the servers of the trusted folders around this session's folder"),
});

/** Register the routes of MCP servers. */
export function mcpServersDoor(app: App, { logins, directory, limits }: Dependencies): void {
  /** Return the session that has the folder's servers, which it reads with its list of tools. */
  async function rootOf(principal: string, sessionId: string | undefined): Promise<string | undefined> {
    if (sessionId === undefined) return undefined;
    const session = await directory.open(principal, sessionId);
    session.pool();
    return session.rootId;
  }

  const listed = { summary: 'MCP servers, as the caller has them', reply: { json: 'McpServers' } } as const;
  app.get('/mcp-servers', { schema: { querystring: Viewpoint }, config: listed }, async ({ principal, query }) => {
    const rootId = await rootOf(principal, query.session_id);
    const servers = logins
      .states(principal, rootId)
      .map(async (server) => serverReply(server, await logins.login(server.name, principal, rootId)));
    return { servers: await Promise.all(servers) };
  });

  const schema = { params: ServerAddress, querystring: Viewpoint };
  const reconnected = { summary: 'Connect to an MCP server again', reply: { json: 'McpServer' } } as const;
  app.post('/mcp-servers/:name/reconnect', { schema, config: reconnected }, async (request, reply) => {
    const { name } = request.params;
    const { principal, query } = request;
    const gone = clientGone(reply);
    const rootId = await rootOf(principal, query.session_id);
    const waiting = AbortSignal.any([gone, AbortSignal.timeout(limits.mcpConnectMs)]);
    // The reply has the state, with the reason of a failure.
    await logins.reconnect(name, principal, principal === OWNER, waiting, rootId).catch((error: unknown) => {
      if (!isGauntletError(error, 'tool_failed', 'cancelled')) throw error;
    });
    const server = logins.states(principal, rootId).find((one) => one.name === name);
    if (!server) throw new GauntletError('not_found', `There is no MCP server "${name}" any more`);
    return serverReply(server, await logins.login(name, principal, rootId));
  });

  const begun = { summary: 'Begin a login at an MCP server', reply: { json: 'McpLoginBegun' } } as const;
  app.post('/mcp-servers/:name/login', { schema, config: begun }, async (request, reply) => {
    const { params, principal, query } = request;
    const gone = clientGone(reply);
    const rootId = await rootOf(principal, query.session_id);
    const url = await logins.authorize(params.name, principal, gone, rootId).catch(refuse);
    return url === undefined ? {} : { authorization_url: url };
  });

  const ended = { summary: 'Log out at an MCP server', reply: { json: 'McpLogout' } } as const;
  app.delete('/mcp-servers/:name/login', { schema, config: ended }, async ({ params, principal, query }) => {
    const rootId = await rootOf(principal, query.session_id);
    const { wasHeld, isRevoked } = await logins.logOut(params.name, principal, rootId).catch(refuse);
    return { was_logged_in: wasHeld, revoked: isRevoked };
  });
}

type ServerState = ReturnType<Dependencies['logins']['states']>[number];

function serverReply(server: ServerState, login: Login | undefined) {
  const { name, state, since, reason, latencyMs, toolCount, isRemote } = server;
  return {
    name,
    state,
    since,
    ...(reason !== undefined && { reason }),
    ...(latencyMs !== undefined && { latency_ms: Math.round(latencyMs * 100) / 100 }),
    tool_count: toolCount,
    remote: isRemote,
    ...(login && { login: loginReply(login) }),
  };
}

type Login = NonNullable<Awaited<ReturnType<Dependencies['logins']['login']>>>;

function loginReply({ state, grantedAt, failure }: Login) {
  return {
    state,
    ...(grantedAt !== undefined && { granted_at: grantedAt }),
    ...(failure !== undefined && { failure }),
  };
}

/** The codes of a call are none of a request. */
function refuse(cause: unknown): never {
  if (!isGauntletError(cause, 'tool_failed', 'invalid_input')) throw cause;
  throw new GauntletError('invalid_request', cause.message, { cause, details: { reason: cause.code } });
}
