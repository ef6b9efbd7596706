/**
 * Replies about MCP servers and logins at them.
 */
import * as z from 'zod';
import { Count, Time } from './values.ts';

const McpLogin = z.object({
  state: z.enum(['none', 'pending', 'held']).describe('`pending`: begun, and not finished yet'),
  granted_at: z.string().optional().describe('Time of the login that is held, ISO 8601'),
  failure: z.string().optional().describe('Why the last one that was begun did not succeed'),
});

/** An MCP server, as the caller has it. */
export const McpServer = z.object({
  name: z.string(),
  state: z
    .enum(['connecting', 'connected', 'needs_auth', 'needs_approval', 'failed', 'disabled'])
    .describe("`needs_approval`: a folder's server that nobody has said yes to"),
  since: Time.describe('When the state began'),
  reason: z.string().optional().describe('Why there is no connection'),
  latency_ms: z
    .number()
    .min(0)
    .optional()
    .describe('Median of the latest round trips, calls of tools left out; absent if unknown'),
  tool_count: Count,
  remote: z.boolean().describe('It has an address; otherwise it is a program'),
  login: McpLogin.optional().describe('Absent where there is none to have'),
});

/** The MCP servers, as the caller has them. */
export const McpServers = z.object({ servers: z.array(McpServer) });

/** A login that was begun. */
export const McpLoginBegun = z.object({
  authorization_url: z
    .string()
    .optional()
    .describe('The person opens it within ten minutes; absent if the server is connected and wants no login'),
});

/** A login that was forgotten. */
export const McpLogout = z.object({
  was_logged_in: z.boolean(),
  revoked: z.boolean().describe('The authorization server has revoked the tokens; otherwise they are only forgotten'),
});

/** Protected-resource metadata of this server (RFC 9728). */
export const ProtectedResource = z.object({
  resource: z.string().describe('Address that the metadata are of'),
  authorization_servers: z.array(z.string()).describe('Issuers'),
  bearer_methods_supported: z.array(z.string()),
  resource_name: z.string(),
  scopes_supported: z.array(z.string()).optional(),
});

/** The client metadata document of this server (OAuth). */
export const ClientMetadata = z.object({
  client_id: z.string().describe('Address of this document'),
  client_name: z.string(),
  redirect_uris: z.array(z.string()),
  grant_types: z.array(z.string()),
  response_types: z.array(z.string()),
  token_endpoint_auth_method: z.string(),
  application_type: z.string(),
});
