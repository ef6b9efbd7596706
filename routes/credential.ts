/**
 * Whose token is it? Digests are compared, in constant time, whatever the token's length.
 */
import { hash, timingSafeEqual } from 'node:crypto';
import type { Socket } from 'node:net';

/** A principal and the sha256 of its token, as 64 hex digits. */
export interface Credential {
  readonly principal: string;
  readonly tokenSha256: string;
}

/**
 * Make the check. Every credential is compared every time, so that time tells nothing.
 *
 * @returns A function from token to principal, undefined for a token nobody has.
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

/** A function from token to principal that knows who asks. */
export type Recognise = (socket: Socket, token: string) => string | undefined;

/**
 * Know a connection by the token it has shown: the same one again needs no digest, which costs more than the rest of a
 * request that is answered from memory. Compared in constant time, and only with what that connection itself has sent.
 */
export function createRecogniser(authenticate: (token: string) => string | undefined): Recognise {
  const shown = new WeakMap<Socket, { readonly bytes: Buffer; readonly principal: string }>();
  return function recognise(socket, token) {
    const bytes = Buffer.from(token);
    const known = shown.get(socket);
    if (known?.bytes.length === bytes.length && timingSafeEqual(known.bytes, bytes)) return known.principal;
    const principal = authenticate(token);
    if (principal !== undefined) shown.set(socket, { bytes, principal });
    return principal;
  };
}

/** The token of an `Authorization` header; undefined when there is none of scheme Bearer. */
export function bearerToken(header: string | undefined): string | undefined {
  if (header === undefined || header.slice(0, 7).toLowerCase() !== 'bearer ') return undefined;
  return header.slice(7);
}
