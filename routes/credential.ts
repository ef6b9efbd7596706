/**
 * Whose token is it? Digests are compared, in constant time, whatever the token's length.
 */
import { hash, timingSafeEqual } from 'node:crypto';

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

/** The token of an `Authorization` header; undefined when there is none of scheme Bearer. */
export function bearerToken(header: string | undefined): string | undefined {
  if (header === undefined || header.slice(0, 7).toLowerCase() !== 'bearer ') return undefined;
  return header.slice(7);
}
