/**
 * Credentials of connections to remote servers: those of one principal's login, those of a client that needs no
 * person, and none.
 */
import {
  type AuthProvider,
  ClientCredentialsProvider,
  type FetchLike,
  fetchToken,
  OAuthError,
  OAuthErrorCode,
  type OAuthTokens,
  PrivateKeyJwtProvider,
  refreshAuthorization,
  UnauthorizedError,
} from '@modelcontextprotocol/client';
import { isGauntletError } from '../base/errors.ts';
import type { Lookup } from '../process/proxy/lookup.ts';
import { authorizationFetch } from './authorization-fetch.ts';
import type { AuthorizationTarget, HeldGrant, Registration, StoredGrant } from './grants.ts';
import {
  type Challenge,
  challengeOf,
  discoverAuthorizationServer,
  keyAuthentication,
  requestedScope,
  signingKey,
  stepUpFetch,
} from './oauth-client.ts';
import type { OAuthSettings, RemoteServerSettings } from './server-settings.ts';

/** Time for all requests that begin, finish or renew an authorization. */
export const EXCHANGE_MS = 30_000;

/** Errors after which a refresh token is useless. */
const WITHDRAWN: ReadonlySet<string> = new Set([
  OAuthErrorCode.InvalidGrant,
  OAuthErrorCode.InvalidClient,
  OAuthErrorCode.UnauthorizedClient,
]);

/** Credentials for one connection to one server. */
export interface ServerCredentials {
  readonly provider: AuthProvider;
  /** Make requests notice replies that demand more scopes. */
  readonly watch: (inner: FetchLike) => FetchLike;
  /** Secrets that no text of the server may repeat. */
  secrets(): readonly string[];
}

/** The members of a registration that may be absent, for the SDK's functions. */
export function optional({ metadata, resource }: Registration, oauth: OAuthSettings | undefined) {
  const addClientAuthentication = keyAuthentication(oauth);
  return {
    ...(metadata && { metadata }),
    ...(resource !== undefined && { resource }),
    ...(addClientAuthentication && { addClientAuthentication }),
  };
}

/** Create the credentials of a connection without tokens, which note how the server asks for an authorization. */
export function anonymousCredentials(note: (challenge: Challenge) => void): ServerCredentials {
  const onUnauthorized = ({ response }: { readonly response: Response }) => {
    note(challengeOf(response));
    return Promise.reject(new UnauthorizedError());
  };
  return {
    provider: { token: () => Promise.resolve(undefined), onUnauthorized },
    watch: (inner) => inner,
    secrets: () => [],
  };
}

/** Dependencies of the credentials of one principal at one server. */
export interface PrincipalCredentialParts {
  readonly grants: StoredGrant;
  readonly lookup: Lookup;
  readonly note: (challenge: Challenge) => void;
}

/** Create the credentials of a principal's login, which renew its tokens. */
export function principalCredentials(
  { settings }: AuthorizationTarget,
  { grants, lookup, note }: PrincipalCredentialParts,
): ServerCredentials {
  let held: HeldGrant | undefined;
  let refreshing: Promise<void> | undefined;

  async function refresh(): Promise<void> {
    try {
      await renew();
    } catch (cause) {
      if (!isGauntletError(cause, 'conflict')) throw cause;
      // A login that came meanwhile holds; its tokens are read with the next request.
      held = undefined;
    }
  }

  async function renew(): Promise<void> {
    const { grant, version } = (held ??= await grants.load()) ?? {};
    const refreshToken = grant?.tokens.refresh_token;
    if (grant === undefined || version === undefined || refreshToken === undefined) throw new UnauthorizedError();
    try {
      const tokens = await refreshAuthorization(grant.authorizationServer, {
        ...optional(grant, settings.oauth),
        clientInformation: grant.client,
        refreshToken,
        fetchFn: authorizationFetch(settings.url, lookup, AbortSignal.timeout(EXCHANGE_MS)),
      });
      held = { grant: { ...grant, tokens }, version };
      held = { ...held, version: await grants.save(held.grant, version) };
    } catch (cause) {
      if (!(cause instanceof OAuthError) || !WITHDRAWN.has(cause.code)) throw cause;
      // The authorization server has withdrawn the grant, so a person must authorize again.
      held = undefined;
      await grants.remove(version);
      throw new UnauthorizedError();
    }
  }

  return {
    provider: {
      token: async () => (held ??= await grants.load())?.grant.tokens.access_token,
      async onUnauthorized({ response }) {
        note(challengeOf(response));
        // Calls that run at the same time share one refresh: a refresh token may count once.
        refreshing ??= refresh().finally(() => (refreshing = undefined));
        await refreshing;
      },
    },
    // More scopes need a person, so the request fails and the next login asks for them.
    watch: (inner) =>
      stepUpFetch(inner, (challenge) => {
        note(challenge);
        return undefined;
      }),
    secrets() {
      const { tokens, client } = held?.grant ?? {};
      return [tokens?.access_token, tokens?.refresh_token, client?.client_secret].filter(
        (secret) => secret !== undefined,
      );
    },
  };
}

/** Create the credentials of a client that has tokens of its own (`client_credentials`); no person logs in. */
export function clientCredentials(settings: RemoteServerSettings, lookup: Lookup): ServerCredentials {
  let tokens: OAuthTokens | undefined;
  let scope: string | undefined;
  let obtaining: Promise<void> | undefined;

  async function obtain(challenge: Challenge): Promise<void> {
    const fetchFn = authorizationFetch(settings.url, lookup, AbortSignal.timeout(EXCHANGE_MS));
    const server = await discoverAuthorizationServer(settings, challenge.resourceMetadataUrl, fetchFn);
    const wanted = requestedScope({ challenge, server, oauth: settings.oauth, granted: scope });
    tokens = await fetchToken(clientProvider(settings.oauth), server.address, {
      ...(server.metadata && { metadata: server.metadata }),
      ...(wanted !== undefined && { scope: wanted }),
      resource: server.resource,
      fetchFn,
    });
    scope = wanted;
  }

  /** Calls that run at the same time share one token. */
  function obtainOnce(challenge: Challenge): Promise<void> {
    return (obtaining ??= obtain(challenge).finally(() => (obtaining = undefined)));
  }

  return {
    provider: {
      token: () => Promise.resolve(tokens?.access_token),
      onUnauthorized: ({ response }) => obtainOnce(challengeOf(response)),
    },
    watch: (inner) =>
      stepUpFetch(inner, async (challenge) => {
        // Each request is repeated once, and only with scopes that were not asked for before.
        if (coversScope(scope, challenge.scope)) return undefined;
        await obtainOnce(challenge);
        return tokens?.access_token;
      }),
    secrets: () => (tokens === undefined ? [] : [tokens.access_token]),
  };
}

/** True if scopes hold all that are demanded. */
export function coversScope(held: string | undefined, demanded: string | undefined): boolean {
  const known = new Set((held ?? '').split(' '));
  return (demanded ?? '').split(' ').every((scope) => scope === '' || known.has(scope));
}

/** @throws {Error} If the key is unreadable. */
function clientProvider({ clientId = '', clientSecret = '', privateKey, issuer = '' }: OAuthSettings = {}) {
  const common = { clientId, expectedIssuer: issuer, clientName: 'Gauntlet' };
  if (privateKey === undefined) return new ClientCredentialsProvider({ ...common, clientSecret });
  const { alg, ...key } = signingKey(privateKey);
  return new PrivateKeyJwtProvider({ ...common, ...key, algorithm: alg });
}
