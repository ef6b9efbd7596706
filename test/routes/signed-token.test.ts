/** Signed access tokens of an authorization server on loopback, at the routes that they are for. */
import { generateKeyPair, SignJWT, UnsecuredJWT } from 'jose';
import { describe, expect, test } from 'vitest';
import { createSignedTokens } from '../../routes/signed-token.ts';
import { listeningApp } from '../helpers/listening-app.ts';
import { tokenIssuer } from '../helpers/token-issuer.ts';

const PUBLIC_URL = 'https://gauntlet.example';
const { issuer, claims, sign, fetched, privateKey, publicJwk } = await tokenIssuer(PUBLIC_URL);
const other = await generateKeyPair('ES256');
const GONE = 'http://127.0.0.1:1';

const settings = { publicUrl: PUBLIC_URL, servers: [issuer, GONE], scopes: ['gauntlet'], principals: ['ann'] };
const signedTokens = createSignedTokens({ ...settings, principalClaim: 'preferred_username' });
const mcpAuthorization = { publicUrl: PUBLIC_URL, servers: [issuer], scopes: ['gauntlet'] };
const { url } = await listeningApp({ signedTokens, mcpAuthorization });

async function statusAt(path: string, token: string | Promise<string>): Promise<number> {
  const reply = await fetch(`${url}${path}`, { headers: { authorization: `Bearer ${await token}` } });
  await reply.text();
  return reply.status;
}

describe('a signed token', () => {
  test('counts for the principal that it names, and its keys are fetched once', async () => {
    for (let request = 0; request < 3; request++) expect(await statusAt('/tools', sign())).toBe(200);
    expect(await statusAt('/tools?mode=simple', sign({ scope: undefined, scp: ['gauntlet'] }))).toBe(200);
    expect(fetched).toEqual(['/.well-known/oauth-authorization-server', '/.well-known/openid-configuration', '/keys']);
  });

  test('that is for one address counts there alone', async () => {
    const forMcp = await sign({ aud: ['elsewhere', `${PUBLIC_URL}/mcp`] });
    expect(await statusAt('/mcp', forMcp)).not.toBe(401);
    expect(await statusAt('/mcp/servers/a', forMcp)).toBe(401);
    expect(await statusAt('/tools', forMcp)).toBe(401);
  });

  test.each([
    ['has expired', sign({}, { expires: '1m ago' })],
    ['does not count yet', sign({ nbf: Math.floor(Date.now() / 1_000) + 600 })],
    ['is of another issuer', sign({ iss: 'https://evil.example' })],
    ['is for another server', sign({ aud: 'https://other.example' })],
    ['is for an address that begins alike', sign({ aud: `${PUBLIC_URL}.evil.example` })],
    ['is for nobody', sign({ aud: undefined })],
    ['is for something that is no address', sign({ aud: [7, null] as unknown as string[] })],
    ['names nobody', sign({ preferred_username: undefined })],
    ['names a principal that is not in the settings', sign({ preferred_username: 'bob' })],
    ['names the owner', sign({ preferred_username: 'owner' })],
    ['lacks a scope', sign({ scope: 'openid gauntlet:read' })],
    ['is signed by another key', sign({}, { key: other.privateKey })],
    ['names an unknown key', sign({}, { kid: 'two' })],
    ['is not signed', new UnsecuredJWT(claims).setExpirationTime('5m').encode()],
    [
      'is signed with what everybody knows',
      new SignJWT(claims)
        .setProtectedHeader({ alg: 'HS256', kid: 'one' })
        .setExpirationTime('5m')
        .sign(new TextEncoder().encode(JSON.stringify(publicJwk))),
    ],
    ['never expires', new SignJWT(claims).setProtectedHeader({ alg: 'ES256', kid: 'one' }).sign(privateKey)],
    ['only looks like one', 'a.b.c'],
    ['is too long', sign({ padding: 'x'.repeat(9_000) })],
  ])('that %s does not count', async (_case, token) => {
    expect(await statusAt('/tools', token)).toBe(401);
  });

  test('in a query, or beside another one, does not count', async () => {
    expect(await statusAt(`/tools?token=x`, sign())).toBe(401);
  });

  test('whose authorization server is gone is told so', async () => {
    expect(await statusAt('/tools', sign({ iss: GONE }))).toBe(503);
  });

  test('is none where the settings name no claim', () => {
    expect(createSignedTokens(settings)).toBeUndefined();
  });
});
