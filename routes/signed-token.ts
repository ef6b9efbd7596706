/**
 * Verifies signed access tokens (JWT) of the authorization servers that the setting `mcpAuthorization` names.
 *
 * A token counts if one of them has signed it for an address of this server, if it has not expired and has the scopes of the
 * setting. A claim of it is the name of the principal.
 */
import type { JWTPayload, JWTVerifyGetKey } from 'jose';
import * as z from 'zod';
import type { McpAuthorizationSettings } from '../config/settings/mcp-authorization.ts';
import { errorMessage, GauntletError } from '../src/base/errors.ts';
import { boundedFetch } from '../src/mcp/bounded-fetch.ts';
import type { Caller } from './caller.ts';

/** Longest token; those with many groups have some KiB. */
const MAX_TOKEN_CHARS = 8 * 1_024;

/** Metadata and keys of an authorization server have a few KiB. */
const MAX_REPLY_BYTES = 1_024 * 1_024;

/** Time for one reply of an authorization server. */
const REPLY_MS = 5_000;

/** An authorization server that could not be reached is asked again after this time. */
const RETRY_MS = 30_000;

/** Clocks may differ by this much. */
const CLOCK_TOLERANCE_SECONDS = 30;

/** Signatures by a private key. With a shared secret, whoever can check a token could make one. */
const ALGORITHMS = 'RS256 RS384 RS512 PS256 PS384 PS512 ES256 ES384 ES512 EdDSA Ed25519'.split(' ');

/** Errors of the library that are the token's fault; all others are those of the authorization server. */
const FAULTS_OF_TOKENS = /^ERR_(?:JW[ST]_|JOSE_ALG|JOSE_NOT_SUPPORTED|JWKS_NO_MATCHING|JWKS_MULTIPLE)/;

const Metadata = z.object({ issuer: z.string(), jwks_uri: z.string() });

/** Options of `createSignedTokens`. */
export interface SignedTokenOptions extends McpAuthorizationSettings {
  /** Names that the claim may have. */
  readonly principals: readonly string[];
}

/**
 * Verify a token.
 *
 * @param path Path of the request, without its query.
 * @returns The principal, until the token expires; undefined for a token that does not count.
 * @throws {GauntletError} `overloaded` if the authorization server cannot be reached.
 */
export type SignedTokens = (token: string, path: string) => Promise<Caller | undefined>;

/** Create the check. @returns undefined if the settings name no claim: then signed tokens do not count. */
export function createSignedTokens(options: SignedTokenOptions): SignedTokens | undefined {
  const { principalClaim, servers, principals, scopes = [], publicUrl } = options;
  if (principalClaim === undefined) return undefined;
  const issuers = new Map(servers.map((issuer) => [issuer, new Issuer(issuer)]));

  return async function verify(token, path) {
    const { decodeJwt, jwtVerify } = await import('jose');
    // Read before it is verified, to find the keys that it has to be verified with.
    const issuer = issuers.get(attempt(() => decodeJwt(token).iss) ?? '');
    if (issuer === undefined) return undefined;
    const payload = await issuer.verify((keys) =>
      jwtVerify(token, keys, {
        issuer: issuer.name,
        algorithms: ALGORITHMS,
        requiredClaims: ['exp', 'aud'],
        clockTolerance: CLOCK_TOLERANCE_SECONDS,
      }),
    );
    if (payload === undefined || !isFor(payload, publicUrl, path)) return undefined;
    const granted = scopesOf(payload);
    if (!scopes.every((scope) => granted.includes(scope))) return undefined;
    const name = payload[principalClaim];
    const principal = principals.find((each) => each === name);
    return principal === undefined ? undefined : { principal, tokenEndsMs: (payload.exp ?? 0) * 1_000 };
  };
}

/** Report whether a token may be a signed one, by its form alone. */
export function isSigned(token: string): boolean {
  return token.length <= MAX_TOKEN_CHARS && /^[\w-]+\.[\w-]+\.[\w-]+$/.test(token);
}

/** One authorization server: its keys, which are fetched when its first token comes. */
class Issuer {
  readonly name: string;
  readonly #fetch = boundedFetch(MAX_REPLY_BYTES);
  #keys: Promise<JWTVerifyGetKey> | undefined;
  #failedMs = -Infinity;

  constructor(name: string) {
    this.name = name;
  }

  /** Run a verification. @returns The claims; undefined for a token that does not count. @throws {GauntletError} `overloaded` */
  async verify(
    run: (keys: JWTVerifyGetKey) => Promise<{ readonly payload: JWTPayload }>,
  ): Promise<JWTPayload | undefined> {
    try {
      return (await run(await this.#loadedKeys())).payload;
    } catch (cause) {
      const { code } = cause as { readonly code?: unknown };
      if (typeof code === 'string' && FAULTS_OF_TOKENS.test(code)) return undefined;
      const message = `Cannot check the token now: its authorization server cannot be asked for its keys (${errorMessage(cause)})`;
      throw new GauntletError('overloaded', message, { cause });
    }
  }

  #loadedKeys(): Promise<JWTVerifyGetKey> {
    if (this.#keys !== undefined) return this.#keys;
    if (performance.now() - this.#failedMs < RETRY_MS)
      return Promise.reject(new Error(`it failed less than ${RETRY_MS} ms ago`));
    const loading = this.#load();
    this.#keys = loading;
    loading.catch(() => {
      this.#keys = undefined;
      this.#failedMs = performance.now();
    });
    return loading;
  }

  /** Find the address of the keys. They are fetched when they are needed, kept, and fetched again for an unknown one. */
  async #load(): Promise<JWTVerifyGetKey> {
    const { createRemoteJWKSet, customFetch } = await import('jose');
    const keysUrl = new URL(await this.#keysAddress());
    if (keysUrl.protocol !== 'https:' && keysUrl.origin !== new URL(this.name).origin)
      throw new Error('its "jwks_uri" is no HTTPS address');
    return createRemoteJWKSet(keysUrl, {
      timeoutDuration: REPLY_MS,
      cooldownDuration: RETRY_MS,
      [customFetch]: (url: string, init: RequestInit) => this.#fetch(url, { ...init, redirect: 'error' }),
    });
  }

  async #keysAddress(): Promise<string> {
    for (const url of metadataAddresses(this.name)) {
      const reply = await this.#fetch(url, { redirect: 'error', signal: AbortSignal.timeout(REPLY_MS) });
      if (!reply.ok) {
        await reply.body?.cancel();
        continue;
      }
      const metadata = Metadata.parse(await reply.json());
      if (metadata.issuer !== this.name) throw new Error(`its metadata at "${url}" are of another issuer`);
      return metadata.jwks_uri;
    }
    throw new Error('it has no metadata');
  }
}

/** Addresses of an issuer's metadata: RFC 8414, and OpenID Connect Discovery. */
function metadataAddresses(issuer: string): readonly string[] {
  const { origin, pathname } = new URL(issuer);
  const path = pathname.replace(/\/+$/, '');
  return [
    `${origin}/.well-known/oauth-authorization-server${path}`,
    `${origin}/.well-known/openid-configuration${path}`,
    `${origin}${path}/.well-known/openid-configuration`,
  ];
}

/** Report whether a token is for the address of a request: for that one alone, or for the whole server. */
function isFor({ aud = [] }: JWTPayload, publicUrl: string, path: string): boolean {
  return [aud].flat().some((audience: unknown) => {
    if (typeof audience !== 'string') return false;
    const place = audience.replace(/\/+$/, '');
    return place === publicUrl || place === `${publicUrl}${path}`;
  });
}

/** Return the scopes of a token, as RFC 9068 writes them, or in `scp`, as some servers do. */
function scopesOf({ scope, scp }: JWTPayload): readonly unknown[] {
  return [scope, scp].flat().flatMap((value: unknown) => (typeof value === 'string' ? value.split(' ') : []));
}

function attempt<Value>(read: () => Value): Value | undefined {
  try {
    return read();
  } catch {
    // It only looks like a token.
    return undefined;
  }
}
