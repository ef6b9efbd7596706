/** OAuth at MCP servers: each way to be a client, and each attack on it, before a real authorization server on loopback. */
import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { AuthorizationAnswer } from '../../../src/mcp/authorization.ts';
import type { OAuthSettings } from '../../../src/mcp/server-settings.ts';
import { authorizationServer, type AuthorizationOptions } from '../../helpers/authorization-server.ts';
import { CALLBACK, callTool, startServers, temporaryStore } from '../../helpers/mcp-servers.ts';
import { listen } from '../../helpers/mcp-http.ts';
import { logIn } from '../../helpers/oauth-server.ts';

const signal = AbortSignal.timeout(60_000);
const SECRET = 'client-secret-0123456789';

type Servers = ReturnType<typeof startServers>;
type Made = Awaited<ReturnType<typeof authorizationServer>>;

/** One MCP server named "guarded", with its authorization server. */
async function start(options: AuthorizationOptions = {}, oauth?: OAuthSettings, callback = CALLBACK) {
  const made = await authorizationServer(options);
  const store = temporaryStore();
  const settings = { guarded: { type: 'http' as const, url: made.url, ...(oauth && { oauth }) } };
  return { made, store, settings, servers: startServers(settings, {}, { store, callback }) };
}

async function answerFrom(servers: Servers, principal = 'owner'): Promise<AuthorizationAnswer> {
  const { searchParams } = await logIn(await servers.authorize('guarded', principal, signal));
  const text = (name: string) => searchParams.get(name) ?? undefined;
  return { state: text('state') ?? '', code: text('code'), iss: text('iss') };
}

async function connect(servers: Servers, principal = 'owner'): Promise<void> {
  await servers.finishAuthorization(await answerFrom(servers, principal));
  await servers.ready('guarded', signal, principal);
}

const call = async (servers: Servers, tool = 'whoami', principal?: string) =>
  (await callTool({ ...servers, tools: () => servers.tools(principal) }, `mcp__guarded__${tool}`)).content;

const asked = (made: Made) => made.seen('/authorize').map(({ fields }) => fields);

describe('the client that an authorization server sees', () => {
  test('is the one that the settings name, by its secret in the way that the server takes', async () => {
    for (const method of ['client_secret_basic', 'client_secret_post']) {
      const { made, servers } = await start(
        { clients: { ours: SECRET }, metadata: { token_endpoint_auth_methods_supported: [method] } },
        { clientId: 'ours', clientSecret: SECRET },
      );
      await connect(servers);
      expect(await call(servers, 'whoami', 'owner')).toBe('ours read');
      expect(made.seen('/register')).toEqual([]);
      const [request] = made.seen('/token');
      expect(request?.authorization?.startsWith('Basic ') ?? false).toBe(method === 'client_secret_basic');
      expect(request?.fields['client_secret']).toBe(method === 'client_secret_post' ? SECRET : undefined);
    }
  });

  test('is described by a document of this server where both can do that, and registered elsewhere', async () => {
    const callback = 'https://gauntlet.example/base/oauth/callback';
    const document = 'https://gauntlet.example/base/oauth/client-metadata.json';
    const { made, servers } = await start({ metadata: { client_id_metadata_document_supported: true } }, {}, callback);
    await connect(servers);
    expect(asked(made)).toMatchObject([{ client_id: document, redirect_uri: callback }]);
    expect(made.seen('/register')).toEqual([]);
    expect(await servers.clientMetadata()).toMatchObject({
      client_id: document,
      redirect_uris: [callback],
      token_endpoint_auth_method: 'none',
      application_type: 'web',
    });

    const local = await start({ metadata: { client_id_metadata_document_supported: true } });
    await connect(local.servers);
    expect(await local.servers.clientMetadata()).toBeUndefined();
    expect(local.made.seen('/register')).toMatchObject([
      { json: { application_type: 'native', token_endpoint_auth_method: 'none', redirect_uris: [CALLBACK] } },
    ]);
  });

  test('is found by OpenID discovery too', async () => {
    const openid = { jwks_uri: 'https://keys.example/', subject_types_supported: ['public'] };
    const { servers } = await start({
      metadataPath: '/.well-known/openid-configuration',
      metadata: { ...openid, id_token_signing_alg_values_supported: ['RS256'] },
    });
    await connect(servers);
    expect(await call(servers, 'whoami', 'owner')).toMatch(/^made-\S+ read$/);
  });

  test.each(['ec', 'rsa'])('needs no person with a key (%s), and shows it for each new token', async (kind) => {
    const { privateKey } =
      kind === 'ec'
        ? generateKeyPairSync('ec', { namedCurve: 'P-256' })
        : generateKeyPairSync('rsa', { modulusLength: 2_048 });
    const made = await authorizationServer({ usesPerToken: 4 });
    const servers = startServers({
      guarded: {
        type: 'http',
        url: made.url,
        oauth: {
          grant: 'client_credentials',
          clientId: 'robot',
          privateKey: privateKey.export({ type: kind === 'ec' ? 'sec1' : 'pkcs1', format: 'pem' }).toString(),
          issuer: made.issuer,
          scopes: ['read'],
        },
      },
    });
    await servers.ready('guarded', signal);
    for (let round = 0; round < 6; round++) expect(await call(servers)).toMatch(/ read$/);
    const requests = made.seen('/token');
    expect(requests.length).toBeGreaterThan(1);
    for (const { fields } of requests) {
      const [header = '', claims = ''] = (fields['client_assertion'] ?? '').split('.');
      const parsed = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString()) as object;
      expect(parsed(header)).toMatchObject({ alg: kind === 'ec' ? 'ES256' : 'RS256' });
      expect(parsed(claims)).toMatchObject({ iss: 'robot', sub: 'robot', aud: made.issuer });
      expect(fields['resource']).toBe(made.url);
    }
    await expect(servers.authorize('guarded', 'owner', signal)).resolves.toBeUndefined();
    await expect(servers.login('guarded', 'owner')).resolves.toBeUndefined();
  });

  test('needs no person with a secret, and gets more scopes where they are demanded, once', async () => {
    const options = { clients: { robot: SECRET }, writeScope: 'write' };
    const made = await authorizationServer(options);
    const oauth = {
      grant: 'client_credentials',
      clientId: 'robot',
      clientSecret: SECRET,
      issuer: made.issuer,
    } as const;
    const servers = startServers({ guarded: { type: 'http', url: made.url, oauth } });
    await servers.ready('guarded', signal);
    expect(await call(servers)).toBe('robot read');
    expect(await call(servers, 'write')).toBe('robot read write');

    const narrow = await authorizationServer({ ...options, grantsOnly: 'read' });
    const refused = startServers({
      guarded: { type: 'http', url: narrow.url, oauth: { ...oauth, issuer: narrow.issuer } },
    });
    await refused.ready('guarded', signal);
    for (let round = 0; round < 3; round++) await expect(call(refused, 'write')).rejects.toThrow('scope "write"');
    expect(narrow.seen('/token').length).toBe(2);
  });
});

describe('the scopes of a login', () => {
  test('are those that the server demands, or the settings name, with a refresh token where there is one', async () => {
    const plain = await start();
    await connect(plain.servers);
    const own = await start({ metadata: { scopes_supported: ['offline_access'] } }, { scopes: ['mine', 'too'] });
    await connect(own.servers);
    expect([asked(plain.made)[0]?.['scope'], asked(own.made)[0]?.['scope']]).toEqual([
      'read',
      'mine too offline_access',
    ]);
  });

  test('grow by what a call demands, and a login that cannot help is not begun', async () => {
    const { made, servers } = await start({ writeScope: 'write' });
    await connect(servers);
    const refused = {
      details: { reason: 'insufficient_scope' },
      message: expect.stringContaining('"write"') as string,
    };
    await expect(call(servers, 'write', 'owner')).rejects.toMatchObject(refused);
    expect(await call(servers, 'whoami', 'owner')).toMatch(/ read$/);
    await connect(servers);
    expect(await call(servers, 'write', 'owner')).toMatch(/ read write$/);
    expect(asked(made).map(({ scope }) => scope)).toEqual(['read', 'read write']);

    // The account has the scope by name, and the server goes on to refuse.
    made.change({ refusesAlways: true });
    await expect(call(servers, 'write', 'owner')).rejects.toMatchObject(refused);
    await expect(servers.authorize('guarded', 'owner', signal)).rejects.toThrow('granted "write" and still demands it');
    await servers.logOut('guarded', 'owner');
    await expect(servers.authorize('guarded', 'owner', signal)).resolves.toContain('scope=read&');
  });
});

describe('an attack on a login', () => {
  test.each([
    ['another issuer', { iss: 'https://evil.example' }],
    ['no issuer, although one was promised', { iss: null }],
  ])('with %s gets neither the code nor a word shown', async (_title, options) => {
    const { made, servers } = await start(options);
    const answer = await answerFrom(servers);
    await expect(servers.finishAuthorization(answer)).rejects.toThrow('does not come from the authorization server');
    const second = { ...(await answerFrom(servers)), code: undefined, error: 'visit https://evil.example' };
    await expect(servers.finishAuthorization(second)).rejects.not.toThrow('evil');
    expect(made.seen('/token')).toEqual([]);
  });

  test('by metadata of another issuer is noticed', async () => {
    const { made, servers } = await start({ metadata: { issuer: 'https://evil.example' } });
    await expect(servers.authorize('guarded', 'owner', signal)).rejects.toMatchObject({ code: 'tool_failed' });
    expect(made.seen('/register')).toEqual([]);
  });

  test('by a server that claims to be another one is noticed', async () => {
    const { made, servers } = await start({ resourceMetadata: { resource: 'https://bank.example/mcp' } });
    await expect(servers.authorize('guarded', 'owner', signal)).rejects.toThrow(
      'says that it is "https://bank.example',
    );
    expect(made.seen('/authorize')).toEqual([]);
  });

  test.each([[undefined], [['plain']]])('by an authorization server without PKCE (%j) is noticed', async (methods) => {
    const { servers } = await start({ metadata: { code_challenge_methods_supported: methods } });
    await expect(servers.authorize('guarded', 'owner', signal)).rejects.toThrow('PKCE');
  });

  test('by a server that sends the configured secret elsewhere is noticed', async () => {
    const thief = await authorizationServer();
    const resourceMetadata = { authorization_servers: [thief.issuer] };
    const client = { clientId: 'ours', clientSecret: SECRET };
    const named = await start({ resourceMetadata }, { ...client, issuer: 'https://login.example' });
    await expect(named.servers.authorize('guarded', 'owner', signal)).rejects.toThrow('"https://login.example"');

    // Nothing is configured, so the first one is remembered.
    const { made, store, settings, servers } = await start({ clients: { ours: SECRET } }, client);
    await connect(servers);
    await servers.close();
    made.change({ resourceMetadata });
    const later = startServers(settings, {}, { store });
    await later.ready('guarded', signal, 'owner').catch(() => undefined);
    await expect(later.authorize('guarded', 'owner', signal)).rejects.toThrow(`the first login was at "${made.issuer}`);
    expect(thief.seen('/token')).toEqual([]);
  });

  test('with a state of somebody else logs nobody else in', async () => {
    const { servers } = await start();
    const answer = await answerFrom(servers, 'other');
    await expect(servers.finishAuthorization(answer)).resolves.toEqual({ server: 'guarded', principal: 'other' });
    await servers.ready('guarded', signal, 'other');
    expect(servers.tools('owner')).toEqual([]);
    await expect(servers.finishAuthorization(answer)).rejects.toMatchObject({ code: 'not_found' });
  });

  test('with a code of another login gets no tokens', async () => {
    const { servers } = await start();
    const mine = await answerFrom(servers, 'owner');
    const theirs = await answerFrom(servers, 'other');
    const mixed = { ...mine, code: theirs.code };
    await expect(servers.finishAuthorization(mixed)).rejects.toThrow('was not authorized');
    expect(servers.tools('owner')).toEqual([]);
  });

  test('by huge or endless replies ends soon', async () => {
    const { servers } = await start({ tokenReply: () => ({ status: 200, body: `"${'x'.repeat(3_000_000)}"` }) });
    await expect(servers.finishAuthorization(await answerFrom(servers))).rejects.toThrow('more than 1048576 bytes');
    const scopes = Array.from({ length: 2_000 }, (_, index) => `scope-${index}`);
    const greedy = await start({ resourceMetadata: { scopes_supported: scopes } }, { scopes });
    await expect(greedy.servers.authorize('guarded', 'owner', signal)).rejects.toThrow('too many scopes');
  });

  test('by an authorization server that repeats secrets shows none of them', async () => {
    const reply = (form: URLSearchParams) => ({
      status: 400,
      body: `{"error":"x","error_description":"${form.toString()}"}`,
    });
    const { made, servers } = await start(
      { tokenReply: reply, metadata: { token_endpoint_auth_methods_supported: ['client_secret_post'] } },
      { clientId: 'ours', clientSecret: SECRET },
    );
    const answer = await answerFrom(servers);
    const error = await servers.finishAuthorization(answer).catch((cause: unknown) => String(cause));
    const verifier = made.seen('/token')[0]?.fields['code_verifier'];
    expect(error).toContain('[hidden]');
    for (const secret of [SECRET, answer.code, verifier]) expect(error).not.toContain(secret);
    expect(JSON.stringify(servers.notices)).not.toContain(SECRET);
  });

  test('by a server that redirects gets the token nowhere else', async () => {
    const stolen: (string | undefined)[] = [];
    const thief = await listen((request, response) => {
      stolen.push(request.headers.authorization);
      response.writeHead(200).end();
    });
    const { made, servers } = await start();
    await connect(servers);
    made.change({ redirectsTo: thief.url });
    await expect(call(servers, 'whoami', 'owner')).rejects.toMatchObject({ code: 'tool_failed' });
    expect(stolen).toEqual([]);
  });
});

describe('a logout', () => {
  test('revokes the tokens, and leaves the tools to those who are logged in', async () => {
    const { made, servers } = await start();
    await connect(servers, 'owner');
    await connect(servers, 'other');
    expect(await servers.login('guarded', 'owner')).toMatchObject({
      state: 'held',
      grantedAt: expect.any(String) as string,
    });
    const before = made.tokens();

    await expect(servers.logOut('guarded', 'owner')).resolves.toEqual({ wasHeld: true, isRevoked: true });

    expect(made.tokens()).toEqual(before.slice(1));
    expect(servers.tools('owner')).toEqual([]);
    expect(await call(servers, 'whoami', 'other')).toMatch(/ read$/);
    expect(await servers.login('guarded', 'owner')).toEqual({ state: 'none' });
    await expect(servers.logOut('guarded', 'owner')).resolves.toEqual({ wasHeld: false, isRevoked: false });
  });

  test('ends a login whose tokens are on their way', async () => {
    const body = JSON.stringify({ access_token: 'late', token_type: 'bearer' });
    let logOut = (): unknown => undefined;
    const { servers } = await start({
      tokenReply: () => {
        logOut();
        return { status: 200, body };
      },
    });
    logOut = () => servers.logOut('guarded', 'owner');
    await expect(servers.finishAuthorization(await answerFrom(servers))).rejects.toThrow('logged out meanwhile');
    expect(await servers.login('guarded', 'owner')).toMatchObject({ state: 'none' });
  });

  test('ends a login that was only begun', async () => {
    const { servers } = await start();
    const answer = await answerFrom(servers);
    expect(await servers.login('guarded', 'owner')).toEqual({ state: 'pending' });
    await servers.logOut('guarded', 'owner');
    await expect(servers.finishAuthorization(answer)).rejects.toMatchObject({ code: 'not_found' });
  });
});
