/**
 * `/mcp-servers`: the configured MCP servers, and the caller's logins at them.
 */
import * as z from 'zod';
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
export function mcpServersDoor(app: App, { logins, directory }: Dependencies): void {
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
    const servers = await Promise.all(
      logins.states(principal, rootId).map(async ({ name, state, reason, toolCount, isRemote }) => {
        const login = await logins.login(name, principal, rootId);
        return {
          name,
          state,
          ...(reason !== undefined && { reason }),
          tool_count: toolCount,
          remote: isRemote,
          ...(login && { login: loginReply(login) }),
        };
      }),
    );
    return { servers };
  });

  const schema = { params: ServerAddress, querystring: Viewpoint };
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
