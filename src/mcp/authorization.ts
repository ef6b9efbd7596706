/**
 * Authorization at remote servers by OAuth 2.1: begins it, finishes it on the callback, and refreshes tokens.
 *
 * Each principal has tokens of its own, in the store of the data directory. Loaded only where a server is configured,
 * because it imports the SDK.
 */
import {
  type AuthProvider,
  type AuthorizationServerMetadata,
  checkResourceAllowed,
  discoverOAuthServerInfo,
  exchangeAuthorization,
  extractWWWAuthenticateParams,
  type OAuthClientInformationMixed,
  OAuthError,
  OAuthErrorCode,
  type OAuthServerInfo,
  type OAuthTokens,
  refreshAuthorization,
  registerClient,
  resourceUrlFromServerUrl,
  startAuthorization,
  UnauthorizedError,
} from '@modelcontextprotocol/client';
import { createHash, randomBytes } from 'node:crypto';
import type { JsonValue } from '../base/json.ts';
import { errorMessage, GauntletError, isGauntletError } from '../base/errors.ts';
import type { OpenSharedStore, SharedStore } from '../log/shared-store.ts';
import type { Lookup } from '../process/proxy/lookup.ts';
import { authorizationFetch, isOnThisMachine } from './authorization-fetch.ts';
import type { RemoteServerSettings } from './server-settings.ts';
import { visibleLine } from './visible-text.ts';

/** Time for a person to log in. */
export const AUTHORIZATION_MS = 10 * 60_000;

/** Authorizations under way; with more, the oldest is dropped. */
const MAX_PENDING = 256;

/** Time for all requests that begin or finish an authorization. */
const EXCHANGE_MS = 30_000;

/** Longest address that a person is shown; browsers accept a little more. */
const MAX_ADDRESS_CHARS = 8_000;

/** Text of an authorization server in an error. */
const ERROR_CHARS = 500;

/** Errors after which a refresh token is useless. */
const WITHDRAWN: ReadonlySet<string> = new Set([
  OAuthErrorCode.InvalidGrant,
  OAuthErrorCode.InvalidClient,
  OAuthErrorCode.UnauthorizedClient,
]);

/** Namespace of the grants in a principal's store. */
const NAMESPACE = 'mcp-authorization';

/** The server that an authorization is for, and the principal whose it is. */
export interface AuthorizationTarget {
  readonly principal: string;
  readonly name: string;
  readonly settings: RemoteServerSettings;
}

/** Query of the callback. */
export interface AuthorizationAnswer {
  readonly state: string;
  readonly code?: string | undefined;
  readonly iss?: string | undefined;
  readonly error?: string | undefined;
}

/** Credentials for the connection of one principal to one server. */
export interface ServerCredentials {
  readonly provider: AuthProvider;
  /** Secrets that no text of the server may repeat. */
  secrets(): readonly string[];
}

/** Dependencies of `Authorizations`. */
export interface AuthorizationParts {
  readonly store: OpenSharedStore;
  readonly lookup: Lookup;
  /** Return the absolute address of the callback route; undefined if browsers cannot reach it. */
  callbackUrl(): string | undefined;
}

/** An authorization server, and this client as it is registered there. */
interface Registration {
  readonly authorizationServer: string;
  readonly metadata?: AuthorizationServerMetadata;
  readonly client: OAuthClientInformationMixed;
  readonly resource?: string;
}

/** Tokens of one principal for one server, as they are stored. */
interface Grant extends Registration {
  readonly tokens: OAuthTokens;
}

interface PendingAuthorization extends AuthorizationTarget {
  readonly registration: Registration;
  readonly codeVerifier: string;
  readonly callbackUrl: string;
  /** On the clock of `performance.now()`. */
  readonly endsAtMs: number;
}

/** How a server asked for an authorization, in its last reply 401. */
type Challenge = Pick<ReturnType<typeof extractWWWAuthenticateParams>, 'resourceMetadataUrl' | 'scope'>;

/** Authorizations at all servers. */
export class Authorizations {
  readonly #parts: AuthorizationParts;
  /** By server. */
  readonly #challenges = new Map<string, Challenge>();
  /** By state, oldest first. */
  readonly #pending = new Map<string, PendingAuthorization>();

  constructor(parts: AuthorizationParts) {
    this.#parts = parts;
  }

  /**
   * Begin an authorization, in place of an earlier one that was not finished.
   *
   * @returns The address that the person opens.
   * @throws {GauntletError} `invalid_input` if the server cannot be authorized, `tool_failed` or `cancelled`.
   */
  async begin(target: AuthorizationTarget, signal: AbortSignal): Promise<string> {
    const callbackUrl = usableCallback(target, this.#parts.callbackUrl());
    const state = randomBytes(32).toString('base64url');
    try {
      const ended = AbortSignal.any([signal, AbortSignal.timeout(EXCHANGE_MS)]);
      const fetchFn = authorizationFetch(target.settings.url, this.#parts.lookup, ended);
      const challenge = this.#challenges.get(target.name);
      const { registration, scope } = await register(target, challenge, callbackUrl, fetchFn);
      const { authorizationServer, client: clientInformation } = registration;
      const { authorizationUrl, codeVerifier } = await startAuthorization(authorizationServer, {
        ...optional(registration),
        ...(scope !== undefined && { scope }),
        clientInformation,
        redirectUrl: callbackUrl,
        state,
      });
      checkShown(authorizationUrl);
      this.#makeRoom(target);
      const endsAtMs = performance.now() + AUTHORIZATION_MS;
      this.#pending.set(state, { ...target, registration, codeVerifier, callbackUrl, endsAtMs });
      return authorizationUrl.href;
    } catch (cause) {
      signal.throwIfAborted();
      throw failure(`Cannot begin the authorization at the MCP server "${target.name}"`, cause);
    }
  }

  /**
   * Finish an authorization and store its tokens. An answer counts once, whether it succeeds or not.
   *
   * @param onFound Called at once if the authorization was begun here.
   * @throws {GauntletError} `not_found` for an unknown state, `tool_failed` if no tokens were granted.
   */
  async finish({ state, code, iss, error }: AuthorizationAnswer, onFound?: () => void): Promise<AuthorizationTarget> {
    const found = this.#pending.get(state);
    this.#pending.delete(state);
    if (found === undefined || found.endsAtMs < performance.now()) {
      const message = 'This authorization is unknown, has expired or was finished already. Begin it again';
      throw new GauntletError('not_found', message);
    }
    onFound?.();
    const { principal, name, settings, registration, codeVerifier, callbackUrl } = found;
    try {
      if (code === undefined) throw new Error(error ?? 'the answer contains no code');
      const tokens = await exchangeAuthorization(registration.authorizationServer, {
        ...optional(registration),
        ...(iss !== undefined && { iss }),
        clientInformation: registration.client,
        authorizationCode: code,
        codeVerifier,
        redirectUri: callbackUrl,
        fetchFn: authorizationFetch(settings.url, this.#parts.lookup, AbortSignal.timeout(EXCHANGE_MS)),
      });
      await grantOf(this.#parts.store, found).save({ ...registration, tokens });
      return { principal, name, settings };
    } catch (cause) {
      throw failure(`The MCP server "${name}" was not authorized`, cause);
    }
  }

  /** Report whether a principal has tokens for a server. */
  async hasGrant(target: AuthorizationTarget): Promise<boolean> {
    return (await grantOf(this.#parts.store, target).load()) !== undefined;
  }

  /** Return the credentials of a principal for one connection. */
  credentialsOf(target: AuthorizationTarget): ServerCredentials {
    return credentialsOf(target, {
      grants: grantOf(this.#parts.store, target),
      lookup: this.#parts.lookup,
      note: (response) => this.#note(target.name, response),
    });
  }

  /** Return the credentials of a connection without tokens, which note how the server asks for an authorization. */
  anonymous(name: string): ServerCredentials {
    const onUnauthorized = ({ response }: { readonly response: Response }) => {
      this.#note(name, response);
      return Promise.reject(new UnauthorizedError());
    };
    return { provider: { token: () => Promise.resolve(undefined), onUnauthorized }, secrets: () => [] };
  }

  #note(name: string, response: Response): void {
    this.#challenges.set(name, extractWWWAuthenticateParams(response));
  }

  /** Drop what the new authorization replaces, what has expired, and the oldest ones beyond the limit. */
  #makeRoom({ principal, name }: AuthorizationTarget): void {
    for (const [state, known] of this.#pending) {
      const isReplaced = known.principal === principal && known.name === name;
      const hasEnded = known.endsAtMs < performance.now();
      if (isReplaced || hasEnded || this.#pending.size >= MAX_PENDING) this.#pending.delete(state);
    }
  }
}

/** @throws {GauntletError} `invalid_input` if nobody could come back, or the tokens would not be sent. */
function usableCallback({ name, settings }: AuthorizationTarget, callbackUrl: string | undefined): string {
  const cannot = `Cannot authorize the MCP server "${name}"`;
  if (Object.keys(settings.headers ?? {}).some((header) => header.toLowerCase() === 'authorization')) {
    const why = 'the setting "mcpServers" gives it a header "Authorization", which is sent in place of a token';
    throw new GauntletError('invalid_input', `${cannot}: ${why}`);
  }
  if (callbackUrl !== undefined) return callbackUrl;
  const why = 'a browser could not come back to this server. The operator must set "publicUrl" to its address';
  throw new GauntletError('invalid_input', `${cannot}: ${why}`);
}

/** Discover the authorization server, and register this client there. */
async function register(
  { settings: { url } }: AuthorizationTarget,
  challenge: Challenge = {},
  callbackUrl: string,
  fetchFn: ReturnType<typeof authorizationFetch>,
): Promise<{ readonly registration: Registration; readonly scope: string | undefined }> {
  const { resourceMetadataUrl } = challenge;
  const info = await discoverOAuthServerInfo(url, { ...(resourceMetadataUrl && { resourceMetadataUrl }), fetchFn });
  const { authorizationServerUrl: authorizationServer, authorizationServerMetadata: metadata } = info;
  const resource = resourceOf(url, info);
  const scope = scopeOf(challenge, info);
  const client = await registerClient(authorizationServer, {
    ...(metadata && { metadata }),
    ...(scope !== undefined && { scope }),
    clientMetadata: {
      client_name: 'Gauntlet',
      redirect_uris: [callbackUrl],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
      application_type: isOnThisMachine(new URL(callbackUrl)) ? 'native' : 'web',
    },
    fetchFn,
  });
  const registration = { authorizationServer, client, ...(metadata && { metadata }), ...(resource && { resource }) };
  return { registration, scope };
}

/** Resource that the tokens are for (RFC 8707). @throws {Error} If the server claims to be another one. */
function resourceOf(url: string, { resourceMetadata }: OAuthServerInfo): string | undefined {
  if (resourceMetadata === undefined) return undefined;
  const requestedResource = resourceUrlFromServerUrl(url);
  if (checkResourceAllowed({ requestedResource, configuredResource: resourceMetadata.resource })) {
    return resourceMetadata.resource;
  }
  throw new Error(`it says that it is "${resourceMetadata.resource}"`);
}

/** Scope as the server demands it, else all that it has; with `offline_access` where that gives a refresh token. */
function scopeOf({ scope }: Challenge, info: OAuthServerInfo): string | undefined {
  const wanted = scope ?? info.resourceMetadata?.scopes_supported?.join(' ');
  if (wanted === undefined || wanted === '') return undefined;
  const isOffered = info.authorizationServerMetadata?.scopes_supported?.includes('offline_access') === true;
  return isOffered && !wanted.split(' ').includes('offline_access') ? `${wanted} offline_access` : wanted;
}

/** The members of a registration that may be absent, for the SDK's functions. */
function optional({ metadata, resource }: Registration) {
  return { ...(metadata && { metadata }), ...(resource !== undefined && { resource }) };
}

/** A person is sent to web pages only. */
function checkShown(url: URL): void {
  if (url.protocol !== 'https:' && !isOnThisMachine(url)) throw new Error(`its login page "${url.origin}" needs HTTPS`);
  if (url.href.length > MAX_ADDRESS_CHARS) throw new Error('the address of its login page is too long');
}

/** A grant, and its version in the store. */
interface HeldGrant {
  readonly grant: Grant;
  readonly version: number;
}

/** The stored grant of one principal for one server. With a version, a change rejects with `conflict` for another. */
interface StoredGrant {
  load(): Promise<HeldGrant | undefined>;
  /** @returns The new version. */
  save(grant: Grant, version?: number): Promise<number>;
  remove(version: number): Promise<void>;
}

/** A server at another address has another key, so that it gets no tokens of the former one. */
function grantOf(open: OpenSharedStore, { principal, name, settings }: AuthorizationTarget): StoredGrant {
  const store: SharedStore = open(principal, NAMESPACE);
  const key = createHash('sha256')
    .update(JSON.stringify([name, settings.url]))
    .digest('hex');
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

/** Dependencies of the credentials of one principal at one server. */
interface CredentialParts {
  readonly grants: StoredGrant;
  readonly lookup: Lookup;
  note(response: Response): void;
}

function credentialsOf({ settings }: AuthorizationTarget, parts: CredentialParts): ServerCredentials {
  const { grants, lookup, note } = parts;
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
        ...optional(grant),
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
        note(response);
        // Calls that run at the same time share one refresh: a refresh token may count once.
        refreshing ??= refresh().finally(() => (refreshing = undefined));
        await refreshing;
      },
    },
    secrets() {
      const { tokens, client } = held?.grant ?? {};
      return [tokens?.access_token, tokens?.refresh_token, client?.client_secret].filter(
        (secret) => secret !== undefined,
      );
    },
  };
}

function failure(what: string, cause: unknown): GauntletError {
  if (cause instanceof GauntletError) return cause;
  const reason = visibleLine(errorMessage(cause), ERROR_CHARS);
  return new GauntletError('tool_failed', `${what}: ${reason}`, { cause });
}
