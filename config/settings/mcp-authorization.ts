/** The setting `mcpAuthorization`: the authorization servers that MCP clients are sent to. */
import { SettingsError } from '../settings-error.ts';
import type { SettingsFile } from './schema.ts';

/** Authorization servers that give out tokens of this server. */
export interface McpAuthorizationSettings {
  /** Address of this server, without a slash at its end. */
  readonly publicUrl: string;
  /** Issuers. */
  readonly servers: readonly string[];
  readonly scopes: readonly string[] | undefined;
  /** Claim of a signed token that is the name of its principal; undefined: signed tokens do not count. */
  readonly principalClaim?: string;
}

/** Read `mcpAuthorization`. @returns undefined if it is off. @throws {SettingsError} Without an address of this server. */
export function mcpAuthorizationSettings({
  mcpAuthorization,
  publicUrl,
}: SettingsFile): McpAuthorizationSettings | undefined {
  if (mcpAuthorization === undefined) return undefined;
  if (publicUrl === undefined) {
    const message = '"mcpAuthorization" needs the address of this server: set "publicUrl"';
    throw new SettingsError('mcpAuthorization', message);
  }
  const { servers, scopes, principalClaim } = mcpAuthorization;
  const claim = principalClaim === undefined ? {} : { principalClaim };
  return { publicUrl: publicUrl.replace(/\/+$/, ''), servers, scopes, ...claim };
}
