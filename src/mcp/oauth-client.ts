/**
 * This server as a client of authorization servers: finds the authorization server of an MCP server, chooses the client
 * to act as, and the scopes to ask for.
 */
import {
  type AddClientAuthentication,
  type AuthorizationServerMetadata,
  checkResourceAllowed,
  computeScopeUnion,
  createPrivateKeyJwtAuth,
  discoverOAuthServerInfo,
  extractWWWAuthenticateParams,
  type FetchLike,
  type OAuthClientInformationMixed,
  registerClient,
  resourceUrlFromServerUrl,
  selectClientAuthMethod,
} from '@modelcontextprotocol/client';
import { createPrivateKey } from 'node:crypto';
import { isOnThisMachine } from './authorization-fetch.ts';
import type { Grant } from './grants.ts';
import { CLIENT_METADATA_FILE, type OAuthSettings, type RemoteServerSettings } from './server-settings.ts';

/** Longest list of scopes: a server may demand ever new ones. */
const MAX_SCOPE_CHARS = 4_000;

/** Request of a server for an authorization, in a reply 401 or 403. */
export interface Challenge extends Pick<
  ReturnType<typeof extractWWWAuthenticateParams>,
  'resourceMetadataUrl' | 'scope'
> {
  /** True for 403: a token was taken, and its scopes did not suffice. */
  readonly isStepUp: boolean;
}

/** Read the challenge of a reply. */
export function challengeOf(response: Response): Challenge {
  const { resourceMetadataUrl, scope } = extractWWWAuthenticateParams(response);
  return { resourceMetadataUrl, scope, isStepUp: response.status === 403 };
}

/** The authorization server of an MCP server. */
export interface AuthorizationServer {
  readonly address: string;
  /** Identifies it; credentials given by one are never sent to another. */
  readonly issuer: string;
  readonly metadata?: AuthorizationServerMetadata;
  /** Resource that its tokens are for (RFC 8707). */
  readonly resource: string;
  /** Scopes that the MCP server says it has. */
  readonly offeredScopes?: readonly string[];
}

/**
 * Discover the authorization server, by RFC 9728, RFC 8414 and OpenID Connect.
 *
 * @throws {Error} If the server claims to be another resource, or another authorization server is configured.
 */
export async function discoverAuthorizationServer(
  { url, oauth }: RemoteServerSettings,
  resourceMetadataUrl: URL | undefined,
  fetchFn: FetchLike,
): Promise<AuthorizationServer> {
  const info = await discoverOAuthServerInfo(url, { ...(resourceMetadataUrl && { resourceMetadataUrl }), fetchFn });
  const { authorizationServerUrl: address, authorizationServerMetadata: metadata, resourceMetadata } = info;
  const issuer = metadata?.issuer ?? address;
  if (oauth?.issuer !== undefined) requireIssuer(issuer, oauth.issuer, 'the setting "oauth.issuer" demands');
  const offeredScopes = resourceMetadata?.scopes_supported;
  return {
    address,
    issuer,
    resource: resourceOf(url, resourceMetadata?.resource),
    ...(metadata && { metadata }),
    ...(offeredScopes && { offeredScopes }),
  };
}

/** @throws {Error} If another authorization server than the expected one would get the client's secret. */
export function requireIssuer(issuer: string, expected: string, whose: string): void {
  if (withoutSlash(issuer) === withoutSlash(expected)) return;
  throw new Error(`it names the authorization server "${issuer}", and ${whose} "${expected}"`);
}

function withoutSlash(issuer: string): string {
  return issuer.replace(/\/$/, '');
}

/** @throws {Error} If the server claims to be another one. */
function resourceOf(url: string, configuredResource: string | undefined): string {
  const requestedResource = resourceUrlFromServerUrl(url);
  if (configuredResource === undefined) return requestedResource.href;
  if (checkResourceAllowed({ requestedResource, configuredResource })) return configuredResource;
  throw new Error(`it says that it is "${configuredResource}"`);
}

/** @throws {Error} If the authorization server does not promise PKCE, without which a stolen code could be used. */
export function requirePkce({ metadata }: AuthorizationServer): void {
  if (metadata === undefined || metadata.code_challenge_methods_supported?.includes('S256') === true) return;
  throw new Error('its authorization server does not offer PKCE with S256 ("code_challenge_methods_supported")');
}

/**
 * Choose the client to act as: the configured one, else the one that the metadata document describes, else a new one.
 *
 * @param callbackUrl Where browsers come back to.
 */
export async function clientAt(
  { address, metadata }: AuthorizationServer,
  { oauth }: RemoteServerSettings,
  callbackUrl: string,
  { scope, fetchFn }: { readonly scope: string | undefined; readonly fetchFn: FetchLike },
): Promise<OAuthClientInformationMixed> {
  if (oauth?.clientId !== undefined) return configuredClient(oauth.clientId, oauth);
  const document = clientMetadataUrl(callbackUrl);
  if (document !== undefined && metadata?.client_id_metadata_document_supported === true)
    return { client_id: document };
  return registerClient(address, {
    ...(metadata && { metadata }),
    ...(scope !== undefined && { scope }),
    clientMetadata: {
      ...clientMetadata(callbackUrl),
      token_endpoint_auth_method: registeredMethod(metadata?.token_endpoint_auth_methods_supported),
    },
    fetchFn,
  });
}

function configuredClient(clientId: string, { clientSecret }: OAuthSettings): OAuthClientInformationMixed {
  return { client_id: clientId, ...(clientSecret !== undefined && { client_secret: clientSecret }) };
}

/** A public client where that is possible: PKCE protects its codes, and there is no secret to lose. */
function registeredMethod(supported: readonly string[] | undefined): string {
  if (supported === undefined || supported.includes('none')) return 'none';
  return ['client_secret_basic', 'client_secret_post'].find((method) => supported.includes(method)) ?? 'none';
}

/** Address of the client's metadata document; undefined if authorization servers would not accept it. */
function clientMetadataUrl(callbackUrl: string): string | undefined {
  const url = new URL(CLIENT_METADATA_FILE, callbackUrl);
  return url.protocol === 'https:' ? url.href : undefined;
}

/** Describe this client to authorization servers. */
function clientMetadata(callbackUrl: string) {
  return {
    client_name: 'Gauntlet',
    redirect_uris: [callbackUrl],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    application_type: isOnThisMachine(new URL(callbackUrl)) ? 'native' : 'web',
  };
}

/** Return the client's metadata document; undefined where it has no address that authorization servers would accept. */
export function clientMetadataDocument(callbackUrl: string): object | undefined {
  const clientId = clientMetadataUrl(callbackUrl);
  if (clientId === undefined) return undefined;
  return { client_id: clientId, ...clientMetadata(callbackUrl), token_endpoint_auth_method: 'none' };
}

/** Return the function that signs in the client by its private key, where it has one. */
export function keyAuthentication(oauth: OAuthSettings | undefined): AddClientAuthentication | undefined {
  if (oauth?.clientId === undefined || oauth.privateKey === undefined) return undefined;
  const { clientId } = oauth;
  return createPrivateKeyJwtAuth({ issuer: clientId, subject: clientId, ...signingKey(oauth.privateKey) });
}

/** Signature algorithms of JWTs by the curve of the key. */
const CURVE_ALGORITHMS: Readonly<Record<string, string>> = {
  prime256v1: 'ES256',
  secp384r1: 'ES384',
  secp521r1: 'ES512',
};

/** @throws {Error} If the key is unreadable, or of a kind that signs no JWTs. */
export function signingKey(pem: string): { readonly privateKey: string; readonly alg: string } {
  const key = createPrivateKey(pem);
  const curve = key.asymmetricKeyDetails?.namedCurve ?? '';
  const alg = key.asymmetricKeyType === 'rsa' ? 'RS256' : CURVE_ALGORITHMS[curve];
  if (alg === undefined)
    throw new Error('the key of the setting "oauth.privateKey" must be RSA, P-256, P-384 or P-521');
  return { privateKey: key.export({ type: 'pkcs8', format: 'pem' }).toString(), alg };
}

/** Scopes to ask for, and why. */
export interface ScopeRequest {
  readonly challenge: Challenge | undefined;
  readonly server: AuthorizationServer;
  readonly oauth: OAuthSettings | undefined;
  /** Scopes of the login that did not suffice. */
  readonly granted?: string | undefined;
}

/**
 * Choose the scopes: as configured, else as the server demanded, else all that it has; with those of the login before
 * where its scopes did not suffice, and with `offline_access` where that gives a refresh token.
 */
export function requestedScope({ challenge, server, oauth, granted }: ScopeRequest): string | undefined {
  const basic = oauth?.scopes?.join(' ') ?? challenge?.scope ?? server.offeredScopes?.join(' ');
  const wanted = challenge?.isStepUp === true ? computeScopeUnion(granted ?? basic, challenge.scope) : basic;
  if (wanted === undefined || wanted === '') return undefined;
  if (wanted.length > MAX_SCOPE_CHARS) throw new Error('it demands too many scopes');
  const isOffered = server.metadata?.scopes_supported?.includes('offline_access') === true;
  const isPersonal = oauth?.grant !== 'client_credentials';
  return isOffered && isPersonal ? computeScopeUnion(wanted, 'offline_access') : wanted;
}

/** Handle replies 403 that demand more scopes. `handle` returns the token to repeat the request with, if it has one. */
export function stepUpFetch(
  inner: FetchLike,
  handle: (challenge: Challenge) => Promise<string | undefined> | undefined,
): FetchLike {
  return async function fetchWithStepUp(url, init) {
    const response = await inner(url, init);
    if (response.status !== 403 || extractWWWAuthenticateParams(response).error !== 'insufficient_scope')
      return response;
    const token = await handle(challengeOf(response));
    if (token === undefined) return response;
    await response.body?.cancel();
    const headers = new Headers(init?.headers);
    headers.set('authorization', `Bearer ${token}`);
    return inner(url, { ...init, headers });
  };
}

/**
 * Revoke the tokens of a login (RFC 7009).
 *
 * @returns False if the authorization server revokes none.
 * @throws {Error} If it cannot be reached.
 */
export async function revokeTokens(
  { metadata, client, tokens }: Grant,
  oauth: OAuthSettings | undefined,
  fetchFn: FetchLike,
): Promise<boolean> {
  const endpoint = metadata && 'revocation_endpoint' in metadata ? metadata.revocation_endpoint : undefined;
  if (typeof endpoint !== 'string') return false;
  // With a refresh token its access tokens go too, where the server does as it should.
  for (const token of [tokens.refresh_token, tokens.access_token]) {
    if (token === undefined) continue;
    const headers = new Headers();
    const body = new URLSearchParams({ token });
    const addKey = keyAuthentication(oauth);
    if (addKey) await addKey(headers, body, endpoint, metadata);
    else addSecret(client, metadata?.token_endpoint_auth_methods_supported ?? [], headers, body);
    const reply = await fetchFn(endpoint, { method: 'POST', headers, body });
    await reply.body?.cancel();
    if (!reply.ok) return false;
  }
  return true;
}

/** Prove who the client is, by the method that the token endpoint takes. */
function addSecret(
  client: OAuthClientInformationMixed,
  supported: readonly string[],
  headers: Headers,
  body: URLSearchParams,
): void {
  const { client_id: id, client_secret: secret = '' } = client;
  const method = selectClientAuthMethod(client, [...supported]);
  if (method === 'client_secret_basic') {
    headers.set('authorization', `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`);
    return;
  }
  body.set('client_id', id);
  if (method === 'client_secret_post') body.set('client_secret', secret);
}
