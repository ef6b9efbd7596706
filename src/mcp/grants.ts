/**
 * Logins of principals at MCP servers, as they are stored: tokens, and the client that they were granted to.
 */
import type {
  AuthorizationServerMetadata,
  OAuthClientInformationMixed,
  OAuthTokens,
} from '@modelcontextprotocol/client';
import { createHash } from 'node:crypto';
import type { JsonValue } from '../base/json.ts';
import type { OpenSharedStore, SharedStore } from '../log/shared-store.ts';
import type { RemoteServerSettings } from './server-settings.ts';

/** Namespace of the grants in a principal's store. */
const NAMESPACE = 'mcp-authorization';

/** The server that an authorization is for, and the principal whose it is. */
export interface AuthorizationTarget {
  readonly principal: string;
  readonly name: string;
  readonly settings: RemoteServerSettings;
}

/** An authorization server, and this client as it is known there. */
export interface Registration {
  readonly authorizationServer: string;
  readonly metadata?: AuthorizationServerMetadata;
  readonly client: OAuthClientInformationMixed;
  readonly resource?: string;
}

/** Tokens of one principal for one server. */
export interface Grant extends Registration {
  readonly tokens: OAuthTokens;
  /** Scopes that were granted, as far as the authorization server tells, else those asked for. */
  readonly scope?: string;
  /** Time of the login, ISO 8601. */
  readonly grantedAt?: string;
}

/** A grant, and its version in the store. */
export interface HeldGrant {
  readonly grant: Grant;
  readonly version: number;
}

/** The stored grant of one principal for one server. With a version, a change rejects with `conflict` for another. */
export interface StoredGrant {
  load(): Promise<HeldGrant | undefined>;
  /** @returns The new version. */
  save(grant: Grant, version?: number): Promise<number>;
  remove(version?: number): Promise<void>;
}

/** Open the grant. A server at another address has another key, so that it gets no tokens of the former one. */
export function grantOf(open: OpenSharedStore, { principal, name, settings }: AuthorizationTarget): StoredGrant {
  const store: SharedStore = open(principal, NAMESPACE);
  const key = digest([name, settings.url]);
  return {
    async load() {
      const entry = await store.get(key);
      return entry && { grant: entry.value as unknown as Grant, version: entry.version };
    },
    // Through JSON, since the SDK's types have optional members that are undefined.
    save: (grant, version) => store.set(key, JSON.parse(JSON.stringify(grant)) as JsonValue, version),
    remove: async (version) => void (await store.delete(key, version)),
  };
}

/**
 * Remember the first authorization server that got the credentials of a configured client.
 *
 * @returns The one that was remembered, which may be another: the MCP server names it, and could name a thief's.
 */
export async function firstIssuer(
  open: OpenSharedStore,
  { principal, name, settings }: AuthorizationTarget,
  issuer: string,
): Promise<string> {
  const store = open(principal, NAMESPACE);
  const key = `issuer-${digest([name, settings.url, settings.oauth?.clientId ?? ''])}`;
  const known = await store.get(key);
  if (typeof known?.value === 'string') return known.value;
  await store.set(key, issuer);
  return issuer;
}

function digest(parts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}
