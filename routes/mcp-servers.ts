/**
 * `/mcp-servers`: the configured MCP servers, and the caller's logins at them.
 */
import * as z from 'zod';
import { GauntletError, isGauntletError } from '../src/base/errors.ts';
import type { Dependencies } from './dependencies.ts';
import { clientGone } from './pipe-reply.ts';
import type { App } from './request-schemas.ts';

const ServerAddress = z.strictObject({ name: z.string().min(1).max(200).describe('As in the settings') });

/** Register the routes of MCP servers. */
export function mcpServersDoor(app: App, { logins }: Dependencies): void {
  const listed = { summary: 'MCP servers, as the caller has them', reply: { json: 'McpServers' } } as const;
  app.get('/mcp-servers', { config: listed }, async ({ principal }) => ({
    servers: await Promise.all(
      logins.states(principal).map(async ({ name, state, reason, toolCount, isRemote }) => {
        const login = await logins.login(name, principal);
        return {
          name,
          state,
          ...(reason !== undefined && { reason }),
          tool_count: toolCount,
          remote: isRemote,
          ...(login && { login: loginReply(login) }),
        };
      }),
    ),
  }));

  const begun = { summary: 'Begin a login at an MCP server', reply: { json: 'McpLoginBegun' } } as const;
  app.post('/mcp-servers/:name/login', { schema: { params: ServerAddress }, config: begun }, async (request, reply) => {
    const { params, principal } = request;
    const url = await logins.authorize(params.name, principal, clientGone(reply)).catch(refuse);
    return url === undefined ? {} : { authorization_url: url };
  });

  const ended = { summary: 'Log out at an MCP server', reply: { json: 'McpLogout' } } as const;
  app.delete('/mcp-servers/:name/login', { schema: { params: ServerAddress }, config: ended }, async (request) => {
    const { wasHeld, isRevoked } = await logins.logOut(request.params.name, request.principal).catch(refuse);
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
