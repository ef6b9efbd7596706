/** An authorization server on loopback that signs access tokens, with OpenID Connect's metadata. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose';
import { afterAll } from 'vitest';

/** Start it; it ends with the test file. */
export async function tokenIssuer(audience: string) {
  const { privateKey, publicKey } = await generateKeyPair('ES256');
  const publicJwk = await exportJWK(publicKey);
  const fetched: string[] = [];
  const server = createServer(({ url = '' }, response) => {
    fetched.push(url);
    if (url === '/keys') return response.end(JSON.stringify({ keys: [{ ...publicJwk, kid: 'one', alg: 'ES256' }] }));
    if (url !== '/.well-known/openid-configuration') return response.writeHead(404).end();
    return response.end(JSON.stringify({ issuer, jwks_uri: `${issuer}/keys` }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  const claims = { iss: issuer, aud: audience, preferred_username: 'ann', scope: 'openid gauntlet' };
  /** Sign a token of five minutes for `ann`, with other claims where a test wants them. */
  function sign(changes: JWTPayload = {}, { key = privateKey, kid = 'one', expires = '5m' } = {}): Promise<string> {
    const jwt = new SignJWT({ ...claims, ...changes }).setProtectedHeader({ alg: 'ES256', kid });
    return jwt.setIssuedAt().setExpirationTime(expires).sign(key);
  }
  return { issuer, claims, sign, fetched, privateKey, publicJwk };
}
