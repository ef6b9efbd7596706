/** A login at an MCP server over the wire: McpAuth, the browser's way back, and whose tools there are then. */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { statSync } from 'node:fs';
import { get, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { execa } from 'execa';
import { expect, it } from 'vitest';
import { type BuiltServer, startServer } from '../helpers/built-server.ts';
import { describedApi } from '../helpers/described-api.ts';
import { logIn, protectedServer } from '../helpers/oauth-server.ts';
import { block, until, wireClient, type WireClient } from '../helpers/wire-client.ts';

const ANN = 'token-of-ann-0123456789';
const ENTRY = join(import.meta.dirname, '../../dist/gauntlet.js');
const WHOAMI = 'mcp__guarded__whoami';

const settings = (url: string) => ({
  mcpServers: { guarded: { type: 'http', url } },
  permissions: { allow: ['McpAuth', 'mcp__guarded'] },
  principals: [{ name: 'ann', tokenSha256: createHash('sha256').update(ANN).digest('hex'), roots: ['.'] }],
});

async function run(client: WireClient, name: string, input: object) {
  const { results, calls } = await client.execute(undefined, [block(name, input)]);
  const content = results[0]?.content;
  return { text: typeof content === 'string' ? content : JSON.stringify(content), code: calls[0]?.error_code };
}

const hasTools = async (client: WireClient) =>
  (await client.get('/tools')).body.tools.some(({ name }) => name === WHOAMI);

async function addressToOpen(client: WireClient): Promise<string> {
  const { text } = await run(client, 'McpAuth', { server: 'guarded' });
  return /^http:\S+$/m.exec(text)?.[0] ?? text;
}

it('a person logs in at an MCP server, whose tools then appear for that principal, after a kill too', async () => {
  const url = await protectedServer();
  let server: BuiltServer = await startServer({ settings: settings(url) });
  const owner = wireClient(server);
  const ann = wireClient({ ...server, token: ANN });
  const watcher = await owner.stream(await owner.session());
  expect(await hasTools(owner)).toBe(false);

  const place = await logIn(await addressToOpen(owner));
  expect(`${place.origin}${place.pathname}`).toBe(`${server.url}/oauth/callback`);
  const page = await fetch(place);
  expect(page.status).toBe(200);
  expect(await page.text()).toContain('The MCP server "guarded" is authorized for "owner"');

  await watcher.next('tools_changed');
  await until(() => hasTools(owner));
  expect(await run(owner, WHOAMI, {})).toMatchObject({ text: expect.stringContaining('user-1') });
  expect(await hasTools(ann)).toBe(false);

  // The link in the browser's history is worth nothing.
  expect((await fetch(place)).status).toBe(404);
  for (const file of ['log.db', 'log.db-wal']) expect(statSync(join(server.dataFolder, file)).mode & 0o077).toBe(0);

  await server.end('SIGKILL');
  server = await startServer({ home: server.home, settings: settings(url) });
  const again = wireClient(server);
  await until(() => hasTools(again));
  expect(await run(again, WHOAMI, {})).toMatchObject({ text: expect.stringContaining('user-1') });
  expect(await hasTools(wireClient({ ...server, token: ANN }))).toBe(false);
});

it('the browser is told the end of a login at a slow authorization server', async () => {
  const server = await startServer({ settings: settings(await protectedServer('slow')) });
  const place = await logIn(await addressToOpen(wireClient(server)));
  // The browser has a connection of its own, on which no token was shown.
  const [page] = (await once(get(place, { agent: false }), 'response')) as [IncomingMessage];
  expect({ status: page.statusCode, text: await text(page) }).toEqual({
    status: 200,
    text: expect.stringContaining('"guarded" is authorized') as string,
  });
});

it('the way back takes an answer to a login that was begun, and nothing else', async () => {
  const server = await startServer({ settings: settings(await protectedServer()) });
  const { searchParams } = new URL(await addressToOpen(wireClient(server)));
  const state = searchParams.get('state') ?? '';
  const ask = (query: object, init?: RequestInit) =>
    fetch(`${server.url}/oauth/callback?${new URLSearchParams({ ...query }).toString()}`, init);

  expect((await ask({})).status).toBe(400);
  expect((await ask({ state: 'guess', code: 'x' })).status).toBe(404);
  expect((await ask({ state, code: 'x' }, { method: 'HEAD' })).status).not.toBe(200);
  expect((await ask({ state, code: 'x' }, { headers: { origin: 'https://evil.example' } })).status).toBe(403);
  const refused = await ask({ state, error: 'access_denied', error_description: 'no', session_state: 'z' });
  expect(refused.status).toBe(400);
  expect(await refused.text()).toContain('was not authorized: access_denied');
});

it('a client logs in and out without a model, and sees its own logins alone', async () => {
  const server = await startServer({ settings: settings(await protectedServer()) });
  const owner = wireClient(server);
  const ann = wireClient({ ...server, token: ANN });
  const described = await describedApi(owner);
  const send = async (method: string, at: string, path: string) => {
    const reply = await owner.send(method, at);
    expect(described.replyFaults(method.toLowerCase(), path, reply)).toEqual([]);
    return { status: reply.status, body: reply.body as unknown };
  };
  const [LIST, LOGIN] = ['/mcp-servers', '/mcp-servers/{name}/login'];
  const login = (method: string) => send(method, '/mcp-servers/guarded/login', LOGIN);
  const one = (more: object) => ({ body: { servers: [{ name: 'guarded', remote: true, ...more }] } });

  const { body } = (await login('POST')) as { body: { authorization_url: string } };
  expect(await send('GET', LIST, LIST)).toMatchObject(one({ state: 'needs_auth', login: { state: 'pending' } }));
  await fetch(await logIn(body.authorization_url));
  await until(() => hasTools(owner));

  expect(await send('GET', LIST, LIST)).toMatchObject(one({ state: 'connected', login: { state: 'held' } }));
  expect(await ann.get(LIST)).toMatchObject(one({ state: 'needs_auth', tool_count: 0, login: { state: 'none' } }));
  expect(await login('DELETE')).toEqual({ status: 200, body: { was_logged_in: true, revoked: false } });
  await until(async () => !(await hasTools(owner)));
  expect((await send('POST', '/mcp-servers/elsewhere/login', LOGIN)).status).toBe(404);
  const document = await send('GET', '/oauth/client-metadata.json', '/oauth/client-metadata.json');
  expect(document.status).toBe(404);
});

it('gauntlet mcp logs in with a browser or with the address that it was sent to, and says why a login failed', async () => {
  const server = await startServer({ settings: settings(await protectedServer()) });
  const start = (...words: string[]) =>
    execa(process.execPath, [ENTRY, 'mcp', ...words, '--url', server.url], {
      env: { PATH: process.env['PATH'], HOME: server.home, GAUNTLET_TOKEN: server.token },
      extendEnv: false,
      reject: false,
    });
  /** The address that the command prints. */
  function printedAddress(run: ReturnType<typeof start>): Promise<string> {
    let printed = '';
    run.stdout.on('data', (chunk: Buffer) => (printed += chunk.toString()));
    return until(() => Promise.resolve(/^http:\S+(?=\n)/m.exec(printed)?.[0]));
  }

  const login = start('login', 'guarded');
  await fetch(await logIn(await printedAddress(login)));
  expect(await login).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('Logged in at "guarded"') });
  await until(() => hasTools(wireClient(server)));
  expect((await start('status')).stdout).toBe('guarded\tconnected\tlogged in\t1 tools');

  const pasted = start('login', 'guarded');
  pasted.stdin.write(`nonsense\n${(await logIn(await printedAddress(pasted))).href}\n`);
  expect(await pasted).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('it has no "state"') });

  const refused = start('login', 'guarded');
  const { origin, pathname, searchParams } = await logIn(await printedAddress(refused));
  refused.stdin.write(`${origin}${pathname}?state=${searchParams.get('state') ?? ''}&error=access_denied\n`);
  expect(await refused).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('access_denied') });

  expect((await start('logout', 'guarded')).stdout).toContain('Logged out at "guarded"');
}, 60_000);

it('authorization servers read who this server is where its address is HTTPS', async () => {
  const publicUrl = 'https://gauntlet.example';
  const allowedHosts = ['gauntlet.example', '127.0.0.1'];
  const server = await startServer({
    settings: { ...settings(await protectedServer()), publicUrl, allowedHosts },
  });
  const reply = await fetch(`${server.url}/oauth/client-metadata.json`);
  expect(await reply.json()).toMatchObject({
    client_id: `${publicUrl}/oauth/client-metadata.json`,
    redirect_uris: [`${publicUrl}/oauth/callback`],
  });
});

it('where no browser could come back, the login says what to set', async () => {
  const server = await startServer({
    settings: { ...settings(await protectedServer()), allowedHosts: ['127.0.0.1'] },
  });
  const client = wireClient(server);
  expect(await run(client, 'McpAuth', { server: 'guarded' })).toMatchObject({
    code: 'invalid_input',
    text: expect.stringContaining('"publicUrl"'),
  });
  expect((await run(client, 'McpAuth', { server: 'elsewhere' })).text).toContain('those that are: "guarded"');
});
