/**
 * Authenticates tokens by their digests, compared in constant time.
 */
import { hash, timingSafeEqual } from 'node:crypto';
import type { Socket } from 'node:net';

/** A principal and the SHA-256 of its token, as 64 hex digits. */
export interface Credential {
  readonly principal: string;
  readonly tokenSha256: string;
}

/**
 * Create the check. It compares every credential each time, so that its duration reveals nothing.
 *
 * @returns A function from token to principal, `undefined` for an unknown token.
 */
export function createAuthenticator(credentials: readonly Credential[]): (token: string) => string | undefined {
  const known = credentials.map(({ principal, tokenSha256 }) => ({
    principal,
    digest: Buffer.from(tokenSha256, 'hex'),
  }));
  return function authenticate(token) {
    const digest = hash('sha256', token, 'buffer');
    let principal: string | undefined;
    for (const credential of known) {
      if (credential.digest.length === digest.length && timingSafeEqual(credential.digest, digest)) {
        principal = credential.principal;
      }
    }
    return principal;
  };
}

/** A function from socket and token to principal, with a cache by socket. */
export type AuthenticateSocket = (socket: Socket, token: string) => string | undefined;

/**
 * Cache the last token of each connection: it then needs no digest, which would cost more than the rest of a request
 * that is answered from memory. Compared in constant time, and only with what that connection itself has sent.
 */
export function createCachedAuthenticator(authenticate: (token: string) => string | undefined): AuthenticateSocket {
  const shown = new WeakMap<Socket, { readonly bytes: Buffer; readonly principal: string }>();
  return function authenticateSocket(socket, token) {
    const bytes = Buffer.from(token);
    const known = shown.get(socket);
    if (known?.bytes.length === bytes.length && timingSafeEqual(known.bytes, bytes)) return known.principal;
    const principal = authenticate(token);
    if (principal !== undefined) shown.set(socket, { bytes, principal });
    return principal;
  };
}

/** Extract the token of an `Authorization` header; `undefined` unless its scheme is Bearer. */
export function bearerToken(header: string | undefined): string | undefined {
  if (header === undefined || header.slice(0, 7).toLowerCase() !== 'bearer ') return undefined;
  return header.slice(7);
}
