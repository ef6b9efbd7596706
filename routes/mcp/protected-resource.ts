/**
 * Describes this server as a protected resource (RFC 9728), where an authorization server gives out its tokens, so that MCP
 * clients that get 401 find out where to log in.
 */
import type { FastifyRequest } from 'fastify';
import * as z from 'zod';
import { GauntletError } from '../../src/base/errors.ts';
import type { DoorContext } from '../dependencies.ts';
import type { App } from '../request-schemas.ts';

const WELL_KNOWN = '/.well-known/oauth-protected-resource';

/** Path parameters of an upstream. */
export const Upstream = z.strictObject({ name: z.string().min(1).max(256).describe('As it is configured') });

/** Register the metadata of the server, of `/mcp` and of each upstream. It says nothing of whether an upstream is there. */
export function protectedResourceRoutes(app: App, { mcpAuthorization }: Pick<DoorContext, 'mcpAuthorization'>): void {
  const config = {
    isPublic: true,
    summary: 'This server as a protected resource (OAuth)',
    reply: { json: 'ProtectedResource' },
  } as const;
  function describe(path: string) {
    if (mcpAuthorization === undefined)
      throw new GauntletError('not_found', 'There is no such document: the setting "mcpAuthorization" is not there');
    const { publicUrl, servers, scopes } = mcpAuthorization;
    return {
      resource: `${publicUrl}${path}`,
      authorization_servers: servers,
      bearer_methods_supported: ['header'],
      resource_name: 'Gauntlet',
      ...(scopes && { scopes_supported: scopes }),
    };
  }
  for (const path of ['', '/mcp']) app.get(`${WELL_KNOWN}${path}`, { config }, () => Promise.resolve(describe(path)));
  app.get(`${WELL_KNOWN}/mcp/servers/:name`, { schema: { params: Upstream }, config }, ({ params: { name } }) =>
    Promise.resolve(describe(`/mcp/servers/${encodeURIComponent(name)}`)),
  );
}

/** Build the `WWW-Authenticate` of a 401 at an MCP address, which names its metadata; undefined if there are none. */
export function challenge(
  { routeOptions: { url = '' }, params }: FastifyRequest,
  { mcpAuthorization }: Pick<DoorContext, 'mcpAuthorization'>,
): string | undefined {
  if (mcpAuthorization === undefined) return undefined;
  const { publicUrl, scopes } = mcpAuthorization;
  const { name = '' } = params as { readonly name?: string };
  const metadata = `${publicUrl}${WELL_KNOWN}${url.replace(':name', () => encodeURIComponent(name))}`;
  return `Bearer resource_metadata="${metadata}"${scopes ? `, scope="${scopes.join(' ')}"` : ''}`;
}
