/**
 * `GET /oauth/callback`: where the browser comes back to when a person has authorized this server at an MCP server, and
 * `GET /oauth/client-metadata.json`, which describes this server to authorization servers.
 */
import * as z from 'zod';
import { GauntletError, isGauntletError } from '../src/base/errors.ts';
import { CLIENT_METADATA_FILE } from '../src/mcp/server-settings.ts';
import { visibleLine } from '../src/mcp/visible-text.ts';
import type { DoorContext } from './dependencies.ts';
import type { App } from './request-schemas.ts';

/** Authorization servers may add parameters, which are ignored. */
const Answer = z.object({
  state: z.string().min(1).max(256).describe('Names the authorization; it counts once'),
  code: z.string().min(1).max(4_096).optional().describe('Granted by the authorization server'),
  iss: z.string().max(2_048).optional().describe('The authorization server'),
  error: z.string().max(256).optional().describe('Why nothing was granted'),
});

/** Longest server name that the page shows. */
const NAME_CHARS = 200;

/** Register the routes. The credential of the callback is the state, which only the person has who was shown the address to open. */
export function oauthCallbackDoor(app: App, { logins, onAuthenticated }: DoorContext): void {
  const described = {
    isPublic: true,
    summary: 'This server as an OAuth client',
    reply: { json: 'ClientMetadata' },
  } as const;
  app.get(`/oauth/${CLIENT_METADATA_FILE}`, { config: described }, async (_request, reply) => {
    const document = await logins.clientMetadata();
    if (document !== undefined) return reply.header('cache-control', 'max-age=3600').send(document);
    throw new GauntletError('not_found', 'There is no such document: "publicUrl" is no HTTPS address');
  });

  const config = {
    isPublic: true,
    summary: 'The end of an OAuth authorization',
    reply: { text: ['text/plain'] },
  } as const;
  // A HEAD of a link checker must not use the state up.
  const options = { schema: { querystring: Answer }, config, exposeHeadRoute: false };
  app.get('/oauth/callback', options, async (request, reply) => {
    // The socket of an authorization that was begun may live as long as its tokens take to come, and no longer.
    const onFound = () => {
      reply.header('connection', 'close');
      onAuthenticated(request.raw.socket);
    };
    const { server, principal } = await logins.finishAuthorization(request.query, onFound).catch((cause: unknown) => {
      if (!isGauntletError(cause, 'tool_failed')) throw cause;
      throw new GauntletError('invalid_request', cause.message, { cause });
    });
    reply.header('content-type', 'text/plain; charset=utf-8');
    return reply.send(
      `The MCP server "${visibleLine(server, NAME_CHARS)}" is authorized for "${visibleLine(principal, NAME_CHARS)}" and connects now. You may close this page.\n`,
    );
  });
}
