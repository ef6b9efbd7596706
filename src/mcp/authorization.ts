/**
 * Authorization at remote servers by OAuth 2.1: begins it, finishes it on the callback, and ends it.
 *
 * Each principal has tokens of its own, in the store of the data directory. Loaded only where a server is configured,
 * because it imports the SDK.
 */
import {
  exchangeAuthorization,
  IssuerMismatchError,
  startAuthorization,
  validateAuthorizationResponseIssuer,
} from '@modelcontextprotocol/client';
import { randomBytes } from 'node:crypto';
import { errorMessage, GauntletError, isGauntletError } from '../base/errors.ts';
import type { OpenSharedStore } from '../log/shared-store.ts';
import type { Lookup } from '../process/proxy/lookup.ts';
import { authorizationFetch, isOnThisMachine } from './authorization-fetch.ts';
import {
  anonymousCredentials,
  clientCredentials,
  coversScope,
  EXCHANGE_MS,
  optional,
  principalCredentials,
  type ServerCredentials,
} from './credentials.ts';
import {
  type AuthorizationTarget,
  firstIssuer,
  type Grant,
  grantOf,
  type HeldGrant,
  type Registration,
} from './grants.ts';
import {
  type Challenge,
  clientAt,
  clientMetadataDocument,
  discoverAuthorizationServer,
  requestedScope,
  requireIssuer,
  requirePkce,
  revokeTokens,
} from './oauth-client.ts';
import type { RemoteServerSettings } from './server-settings.ts';
import { visibleLine } from './visible-text.ts';

/** Time for a person to log in. */
export const AUTHORIZATION_MS = 10 * 60_000;

/** Authorizations under way; with more, the oldest is dropped. */
const MAX_PENDING = 256;

/** Longest address that a person is shown; browsers accept a little more. */
const MAX_ADDRESS_CHARS = 8_000;

/** Text of an authorization server in an error. */
const ERROR_CHARS = 500;

/** Query of the callback. */
export interface AuthorizationAnswer {
  readonly state: string;
  readonly code?: string | undefined;
  readonly iss?: string | undefined;
  readonly error?: string | undefined;
}

/** A principal's login at a server. */
export interface LoginState {
  /** `pending`: begun, and not finished yet. */
  readonly state: 'none' | 'pending' | 'held';
  /** Time of the login that is held, ISO 8601. */
  readonly grantedAt?: string;
  /** Reason why the last login that was begun did not succeed. */
  readonly failure?: string;
}

/** Dependencies of `Authorizations`. */
export interface AuthorizationParts {
  readonly store: OpenSharedStore;
  readonly lookup: Lookup;
  /** Return the absolute address of the callback route; undefined if browsers cannot reach it. */
  callbackUrl(): string | undefined;
}

interface PendingAuthorization extends AuthorizationTarget {
  readonly registration: Registration;
  readonly scope: string | undefined;
  readonly codeVerifier: string;
  readonly callbackUrl: string;
  /** On the clock of `performance.now()`. */
  readonly endsAtMs: number;
}

/** Authorizations at all servers. */
export class Authorizations {
  readonly #parts: AuthorizationParts;
  /** Last request of each server for an authorization: of one principal, or of nobody. */
  readonly #challenges = new Map<string, Challenge>();
  /** By state, oldest first. */
  readonly #pending = new Map<string, PendingAuthorization>();
  /** Those that are being finished: an answer came, and no tokens yet. */
  readonly #finishing = new Set<AuthorizationTarget>();
  /** Reasons why the last logins did not succeed, by principal and server. */
  readonly #failures = new Map<string, string>();

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
    try {
      const ended = AbortSignal.any([signal, AbortSignal.timeout(EXCHANGE_MS)]);
      const { registration, scope } = await this.#register(target, callbackUrl, ended);
      const state = randomBytes(32).toString('base64url');
      const { authorizationUrl, codeVerifier } = await startAuthorization(registration.authorizationServer, {
        ...(registration.metadata && { metadata: registration.metadata }),
        ...(registration.resource !== undefined && { resource: registration.resource }),
        ...(scope !== undefined && { scope }),
        clientInformation: registration.client,
        redirectUrl: callbackUrl,
        state,
      });
      checkShown(authorizationUrl);
      this.#makeRoom(target);
      const endsAtMs = performance.now() + AUTHORIZATION_MS;
      this.#pending.set(state, { ...target, registration, scope, codeVerifier, callbackUrl, endsAtMs });
      this.#failures.delete(keyOf(target));
      return authorizationUrl.href;
    } catch (cause) {
      signal.throwIfAborted();
      const secrets = [target.settings.oauth?.clientSecret];
      throw failure(`Cannot begin the authorization at the MCP server "${target.name}"`, cause, secrets);
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
    this.#finishing.add(found);
    const { principal, name, settings, registration, codeVerifier, callbackUrl } = found;
    try {
      const { metadata, client } = registration;
      // Before anything else of the answer is used, its error too: it may be of another authorization server.
      validateAuthorizationResponseIssuer({
        iss,
        expectedIssuer: metadata?.issuer,
        issParameterSupported: metadata?.authorization_response_iss_parameter_supported === true,
      });
      if (code === undefined) throw new Error(error ?? 'the answer contains no code');
      const tokens = await exchangeAuthorization(registration.authorizationServer, {
        ...optional(registration, settings.oauth),
        ...(iss !== undefined && { iss }),
        clientInformation: client,
        authorizationCode: code,
        codeVerifier,
        redirectUri: callbackUrl,
        fetchFn: this.#fetchFor(settings, AbortSignal.timeout(EXCHANGE_MS)),
      });
      if (!this.#finishing.has(found)) throw new Error('it was logged out meanwhile');
      const scope = tokens.scope ?? found.scope;
      const grantedAt = new Date().toISOString();
      const grant = { ...registration, tokens, grantedAt, ...(scope && { scope }) };
      const version = await grantOf(this.#parts.store, found).save(grant);
      if (!this.#finishing.has(found)) {
        // The logout came while the tokens were written, and may not have seen them.
        await this.#withdraw(found, { grant, version });
        throw new Error('it was logged out meanwhile');
      }
      this.#challenges.delete(keyOf(found));
      return { principal, name, settings };
    } catch (cause) {
      const secrets = [code, codeVerifier, registration.client.client_secret];
      const failed = failure(`The MCP server "${name}" was not authorized`, cause, secrets);
      this.#failures.set(keyOf(found), failed.message);
      throw failed;
    } finally {
      this.#finishing.delete(found);
    }
  }

  /**
   * Forget the login of a principal, and revoke its tokens where the authorization server does that.
   *
   * @returns Whether there was one, and whether its tokens are revoked.
   */
  async forget(target: AuthorizationTarget): Promise<{ readonly wasHeld: boolean; readonly isRevoked: boolean }> {
    this.#dropPending(target);
    for (const known of this.#finishing) if (isSameTarget(known, target)) this.#finishing.delete(known);
    this.#challenges.delete(keyOf(target));
    this.#failures.delete(keyOf(target));
    const grants = grantOf(this.#parts.store, target);
    const held = await grants.load();
    if (held === undefined) return { wasHeld: false, isRevoked: false };
    await grants.remove();
    return { wasHeld: true, isRevoked: await this.#revoke(target, held.grant) };
  }

  /** Describe the login of a principal. */
  async login(target: AuthorizationTarget): Promise<LoginState> {
    const waiting = [...this.#pending.values()].filter(({ endsAtMs }) => endsAtMs >= performance.now());
    const isPending = [...waiting, ...this.#finishing].some((known) => isSameTarget(known, target));
    const held = await grantOf(this.#parts.store, target).load();
    const failed = this.#failures.get(keyOf(target));
    return {
      state: isPending ? 'pending' : held === undefined ? 'none' : 'held',
      ...(held?.grant.grantedAt !== undefined && { grantedAt: held.grant.grantedAt }),
      ...(failed !== undefined && { failure: failed }),
    };
  }

  /** Report whether a principal has tokens for a server. */
  async hasGrant(target: AuthorizationTarget): Promise<boolean> {
    return (await grantOf(this.#parts.store, target).load()) !== undefined;
  }

  /** Return the document that describes this client to authorization servers, where it has an address. */
  clientMetadata(): object | undefined {
    const callbackUrl = this.#parts.callbackUrl();
    return callbackUrl === undefined ? undefined : clientMetadataDocument(callbackUrl);
  }

  /** Return the credentials of a principal for one connection. */
  credentialsOf(target: AuthorizationTarget): ServerCredentials {
    return principalCredentials(target, {
      grants: grantOf(this.#parts.store, target),
      lookup: this.#parts.lookup,
      note: (challenge) => this.#challenges.set(keyOf(target), challenge),
    });
  }

  /** Return the credentials of the connection that principals without a login share. */
  sharedCredentials(name: string, settings: RemoteServerSettings): ServerCredentials {
    if (settings.oauth?.grant === 'client_credentials') return clientCredentials(settings, this.#parts.lookup);
    return anonymousCredentials((challenge) => this.#challenges.set(keyOf({ name }), challenge));
  }

  /** Find the authorization server, and choose the client and the scopes. */
  async #register(
    target: AuthorizationTarget,
    callbackUrl: string,
    signal: AbortSignal,
  ): Promise<{ readonly registration: Registration; readonly scope: string | undefined }> {
    const { settings } = target;
    const challenge = this.#challenges.get(keyOf(target)) ?? this.#challenges.get(keyOf({ name: target.name }));
    const held = (await grantOf(this.#parts.store, target).load())?.grant;
    if (challenge?.isStepUp === true) refuseSameScope(challenge, held);
    const fetchFn = this.#fetchFor(settings, signal);
    const server = await discoverAuthorizationServer(settings, challenge?.resourceMetadataUrl, fetchFn);
    requirePkce(server);
    if (settings.oauth?.clientSecret !== undefined || settings.oauth?.privateKey !== undefined) {
      const first = await firstIssuer(this.#parts.store, target, server.issuer);
      requireIssuer(server.issuer, first, 'the first login was at');
    }
    const scope = requestedScope({ challenge, server, oauth: settings.oauth, granted: held?.scope });
    const client = await clientAt(server, settings, callbackUrl, { scope, fetchFn });
    const { address: authorizationServer, metadata, resource } = server;
    return { registration: { authorizationServer, client, resource, ...(metadata && { metadata }) }, scope };
  }

  /** Remove a grant that was stored too late. */
  async #withdraw(target: AuthorizationTarget, { grant, version }: HeldGrant): Promise<void> {
    await grantOf(this.#parts.store, target)
      .remove(version)
      .catch((error: unknown) => {
        // It is gone already, or a later login has taken its place.
        if (!isGauntletError(error, 'conflict', 'not_found')) throw error;
      });
    await this.#revoke(target, grant);
  }

  /** Revoke the tokens of a grant. @returns Whether the authorization server did; they are forgotten here in any case. */
  #revoke({ settings }: AuthorizationTarget, grant: Grant): Promise<boolean> {
    const fetchFn = this.#fetchFor(settings, AbortSignal.timeout(EXCHANGE_MS));
    return revokeTokens(grant, settings.oauth, fetchFn).catch(() => false);
  }

  #fetchFor({ url }: RemoteServerSettings, signal: AbortSignal) {
    return authorizationFetch(url, this.#parts.lookup, signal);
  }

  /** Drop what the new authorization replaces, what has expired, and the oldest ones beyond the limit. */
  #makeRoom(target: AuthorizationTarget): void {
    this.#dropPending(target);
    for (const [state, { endsAtMs }] of this.#pending) {
      if (endsAtMs < performance.now() || this.#pending.size >= MAX_PENDING) this.#pending.delete(state);
    }
  }

  #dropPending(target: AuthorizationTarget): void {
    for (const [state, known] of this.#pending) if (isSameTarget(known, target)) this.#pending.delete(state);
  }
}

function isSameTarget(one: AuthorizationTarget, other: AuthorizationTarget): boolean {
  return one.principal === other.principal && one.name === other.name;
}

/** Key of what belongs to one principal, or to nobody, at one server. */
function keyOf({ name, principal }: { readonly name: string; readonly principal?: string }): string {
  return JSON.stringify([name, principal]);
}

/** @throws {Error} If a login with the same scopes was just refused: another one would not help, however often. */
function refuseSameScope({ scope = '' }: Challenge, held: Grant | undefined): void {
  if (held === undefined || !coversScope(held.scope, scope)) return;
  const why = `it was granted "${scope}" and still demands it, so the account may lack the right`;
  throw new Error(`${why}. Log out first to use another one`);
}

/** @throws {GauntletError} `invalid_input` if nobody could come back, or the tokens would not be sent. */
function usableCallback({ name, settings }: AuthorizationTarget, callbackUrl: string | undefined): string {
  const refuse = (why: string) =>
    new GauntletError('invalid_input', `Cannot authorize the MCP server "${name}": ${why}`);
  if (Object.keys(settings.headers ?? {}).some((header) => header.toLowerCase() === 'authorization')) {
    throw refuse('the setting "mcpServers" gives it a header "Authorization", which is sent in place of a token');
  }
  if (settings.headersHelper !== undefined) {
    throw refuse(
      'its headers come from its "headersHelper" in the setting "mcpServers", which has to print a good token',
    );
  }
  if (settings.oauth?.grant === 'client_credentials') {
    throw refuse('it needs no person, because its "oauth.grant" in the setting "mcpServers" is "client_credentials"');
  }
  if (callbackUrl !== undefined) return callbackUrl;
  throw refuse('a browser could not come back to this server. The operator must set "publicUrl" to its address');
}

/** A person is sent to web pages only. */
function checkShown(url: URL): void {
  if (url.protocol !== 'https:' && !isOnThisMachine(url)) throw new Error(`its login page "${url.origin}" needs HTTPS`);
  if (url.href.length > MAX_ADDRESS_CHARS) throw new Error('the address of its login page is too long');
}

/** @param secrets Never repeated, although an authorization server might. */
function failure(what: string, cause: unknown, secrets: readonly (string | undefined)[]): GauntletError {
  if (cause instanceof GauntletError) return cause;
  const text =
    cause instanceof IssuerMismatchError && cause.kind === 'authorization_response'
      ? 'the answer does not come from the authorization server that was asked'
      : errorMessage(cause);
  const masked = secrets.reduce<string>(
    (shown, secret) => (secret ? shown.replaceAll(secret, '[hidden]') : shown),
    text,
  );
  return new GauntletError('tool_failed', `${what}: ${visibleLine(masked, ERROR_CHARS)}`, { cause });
}
