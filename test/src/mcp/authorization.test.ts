/** Logins at MCP servers, before a real authorization server on loopback. */
import { describe, expect, test } from 'vitest';
import { authorizationFetch } from '../../../src/mcp/authorization-fetch.ts';
import type { AuthorizationAnswer } from '../../../src/mcp/authorization.ts';
import {
  CALLBACK,
  callTool,
  eventually,
  fixtureServer,
  startServers,
  temporaryStore,
} from '../../helpers/mcp-servers.ts';
import { listen } from '../../helpers/mcp-http.ts';
import { logIn, protectedServer } from '../../helpers/oauth-server.ts';

const signal = AbortSignal.timeout(60_000);

const answerOf = ({ searchParams }: URL): AuthorizationAnswer => ({
  state: searchParams.get('state') ?? '',
  code: searchParams.get('code') ?? undefined,
});

/** Log a principal in, and wait until the server's tools are there. */
async function connect(servers: ReturnType<typeof startServers>, principal = 'owner'): Promise<void> {
  const place = await logIn(await servers.authorize('guarded', principal, signal));
  expect(`${place.origin}${place.pathname}`).toBe(CALLBACK);
  await expect(servers.finishAuthorization(answerOf(place))).resolves.toEqual({
    server: 'guarded',
    principal,
  });
  await servers.ready('guarded', signal, principal);
}

const whoIs = async (servers: ReturnType<typeof startServers>, principal = 'owner') =>
  (await callTool({ ...servers, tools: () => servers.tools(principal) }, 'mcp__guarded__whoami')).content;

describe('a login at an MCP server', () => {
  test('connects it for the one who logged in, and for nobody else', async () => {
    const servers = startServers({ guarded: { type: 'http', url: await protectedServer() } });
    await expect(servers.ready('guarded', signal)).rejects.toThrow('Cannot reach');
    expect(servers.states('owner')).toMatchObject([{ state: 'needs_auth' }]);
    const changes = servers.changes();

    await connect(servers, 'owner');

    expect(servers.changes()).toBeGreaterThan(changes);
    expect(await whoIs(servers)).toBe('user-1');
    expect(servers.tools('other')).toEqual([]);
    expect(servers.states('other')).toMatchObject([{ state: 'needs_auth' }]);
    await connect(servers, 'other');
    expect(await whoIs(servers, 'other')).toBe('user-2');
    expect(await whoIs(servers, 'owner')).toBe('user-1');
  });

  test('is kept over a restart, and goes to no other address under the same name', async () => {
    const store = temporaryStore();
    const settings = { guarded: { type: 'http' as const, url: await protectedServer() } };
    const before = startServers(settings, {}, { store });
    await connect(before);
    await before.close();

    const after = startServers(settings, {}, { store });
    await eventually(() => after.tools('owner').length > 0);
    expect(await whoIs(after)).toBe('user-1');
    expect(after.tools('other')).toEqual([]);

    const moved = startServers({ guarded: { type: 'http', url: await protectedServer() } }, {}, { store });
    await expect(moved.ready('guarded', signal, 'owner')).rejects.toThrow('Cannot reach');
  });

  test('is not undone by a connection that renews the login before it', async () => {
    const store = temporaryStore();
    const settings = { guarded: { type: 'http' as const, url: await protectedServer('expire') } };
    const former = startServers(settings, {}, { store });
    await connect(former);
    expect(await whoIs(former)).toBe('user-1');
    const later = startServers(settings, {}, { store });
    await later.ready('guarded', signal, 'owner');
    const place = await logIn(await later.authorize('guarded', 'owner', signal));
    await later.finishAuthorization(answerOf(place));

    // Its token expires meanwhile.
    for (let round = 0; round < 4; round++) await whoIs(former);
    const after = startServers(settings, {}, { store });
    await eventually(() => after.tools('owner').length > 0);
    expect(await whoIs(after)).toBe('user-2');
  });

  test('that a logout overtakes while its tokens are written is not held', async () => {
    const store = temporaryStore();
    let duringWrite = () => Promise.resolve();
    const slowStore: typeof store = (principal, namespace) => {
      const inner = store(principal, namespace);
      const set: typeof inner.set = async (...words) => {
        await duringWrite();
        return inner.set(...words);
      };
      return { ...inner, set };
    };
    const settings = { guarded: { type: 'http' as const, url: await protectedServer() } };
    const servers = startServers(settings, {}, { store: slowStore });
    const place = await logIn(await servers.authorize('guarded', 'owner', signal));
    duringWrite = async () => void (await servers.logOut('guarded', 'owner'));
    await expect(servers.finishAuthorization(answerOf(place))).rejects.toThrow('it was logged out meanwhile');
    expect(await servers.login('guarded', 'owner')).toMatchObject({ state: 'none' });
  });

  test('is renewed when its token expires, by one request for all calls', async () => {
    const servers = startServers({ guarded: { type: 'http', url: await protectedServer('expire') } });
    await connect(servers);
    for (let round = 0; round < 4; round++) {
      const users = await Promise.all([whoIs(servers), whoIs(servers), whoIs(servers)]);
      expect(users).toEqual(['user-1', 'user-1', 'user-1']);
    }
  });

  test('that was withdrawn is wanted again', async () => {
    const servers = startServers({ guarded: { type: 'http', url: await protectedServer('expire', 'withdraw') } });
    await connect(servers);
    for (let calls = 0; calls < 20 && servers.states('owner')[0]?.state === 'connected'; calls++) {
      await whoIs(servers).catch(() => 'refused');
    }
    await eventually(() => servers.states('owner')[0]?.state === 'needs_auth');
    await connect(servers);
    expect(await whoIs(servers)).toBe('user-2');
  });

  test('counts once, with the state of the one that was begun last', async () => {
    const servers = startServers({ guarded: { type: 'http', url: await protectedServer() } });
    const first = await logIn(await servers.authorize('guarded', 'owner', signal));
    const second = await logIn(await servers.authorize('guarded', 'owner', signal));
    const refused = { code: 'not_found' };

    await expect(servers.finishAuthorization(answerOf(first))).rejects.toMatchObject(refused);
    await expect(servers.finishAuthorization({ state: 'guess', code: 'x' })).rejects.toMatchObject(refused);
    const wrong = { ...answerOf(second), code: 'x' };
    await expect(servers.finishAuthorization(wrong)).rejects.toMatchObject({ code: 'tool_failed' });
    await expect(servers.finishAuthorization(answerOf(second))).rejects.toMatchObject(refused);
    expect(servers.tools('owner')).toEqual([]);
  });

  test('that the person refuses says so', async () => {
    const servers = startServers({ guarded: { type: 'http', url: await protectedServer() } });
    const { state } = answerOf(await logIn(await servers.authorize('guarded', 'owner', signal)));
    await expect(servers.finishAuthorization({ state, error: 'access_denied' })).rejects.toThrow(
      'The MCP server "guarded" was not authorized: access_denied',
    );
  });

  test('has no token in what people are told of a server that repeats it', async () => {
    const servers = startServers({ guarded: { type: 'http', url: await protectedServer('leak') } });
    await connect(servers);
    await expect(whoIs(servers)).rejects.toThrow('your header is Bearer [hidden]');
  });
});

describe('a server that cannot be logged in to', () => {
  test.each([
    ['a program', fixtureServer(), 'it is a program of this machine'],
    [
      'one with a header of its own',
      { url: 'guarded', headers: { Authorization: 'Bearer x' } },
      'a header "Authorization"',
    ],
  ])('says why: %s', async (_title, settings, why) => {
    const { url } = await listen((_request, response) => void response.writeHead(401).end());
    const servers = startServers({ guarded: 'url' in settings ? { ...settings, type: 'http', url } : settings });
    await expect(servers.authorize('guarded', 'owner', signal)).rejects.toMatchObject({
      code: 'invalid_input',
      message: expect.stringContaining(why),
    });
  });

  /** HARDENING A29. */
  test.each(['javascript:alert(1)', 'file:///etc/passwd', 'http://login.example/', '-flag', '$(touch led)'])(
    'sends nobody to %j',
    async (endpoint) => {
      let origin = '';
      const { url } = await listen((request, response) => {
        response.setHeader('www-authenticate', `Bearer resource_metadata="${origin}/meta"`);
        response.writeHead(request.url === '/mcp' ? 401 : 200, { 'content-type': 'application/json' });
        const metadata = {
          ...{ issuer: origin, authorization_endpoint: endpoint, token_endpoint: `${origin}/token` },
          ...{ registration_endpoint: `${origin}/register`, response_types_supported: ['code'] },
          ...{ code_challenge_methods_supported: ['S256'], client_id: 'c', redirect_uris: [CALLBACK] },
        };
        response.end(JSON.stringify({ resource: url, authorization_servers: [origin], ...metadata }));
      });
      ({ origin } = new URL(url));
      const servers = startServers({ guarded: { type: 'http', url } });
      await expect(servers.authorize('guarded', 'owner', signal)).rejects.toMatchObject({ code: 'tool_failed' });
    },
  );
});

describe('an address that an MCP server names for logins', () => {
  const names: Record<string, string> = {
    'mcp.example': '203.0.114.1',
    'inner.example': '10.0.0.1',
    'trap.example': '127.0.0.1',
  };
  const lookup = (name: string) => Promise.resolve([{ address: names[name] ?? '169.254.169.254', family: 4 }]);

  test.each([
    ['https://mcp.example/mcp', 'http://169.254.169.254/latest/meta-data'],
    ['https://mcp.example/mcp', 'https://169.254.169.254/'],
    ['https://mcp.example/mcp', 'https://inner.example/'],
    ['https://mcp.example/mcp', 'https://trap.example/'],
    ['https://mcp.example/mcp', 'http://127.0.0.1:1/'],
    ['https://mcp.example/mcp', 'https://[::1]/'],
    ['https://inner.example/mcp', 'http://127.0.0.1:1/'],
    ['https://inner.example/mcp', 'http://inner.example/'],
    ['https://mcp.example/mcp', 'file:///etc/passwd'],
  ])('of %s is not asked at %s', async (server, address) => {
    await expect(authorizationFetch(server, lookup, signal)(address)).rejects.toThrow('may not be asked');
  });

  test('is not followed to another one', async () => {
    const { url } = await listen(
      (_request, response) => void response.writeHead(302, { location: '/elsewhere' }).end(),
    );
    await expect(authorizationFetch(url, lookup, signal)(url)).rejects.toThrow('fetch failed');
  });
});
