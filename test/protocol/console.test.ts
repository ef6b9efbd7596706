/** PROTOCOL 10: a browser signs in to the console, and its credential counts as its principal's token. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { beforeAll, describe, expect, it } from 'vitest';
import { startServer, type BuiltServer } from '../helpers/built-server.ts';
import { block, wireClient, type WireClient } from '../helpers/wire-client.ts';

const ANNS_TOKEN = 'token-of-ann-0123456789';

let server: BuiltServer;
let owner: WireClient;
let ann: WireClient;

beforeAll(async () => {
  server = await startServer({
    environment: { GAUNTLET_LOG_LEVEL: 'trace' },
    settings: {
      principals: [{ name: 'ann', tokenSha256: createHash('sha256').update(ANNS_TOKEN).digest('hex'), roots: [] }],
    },
  });
  owner = wireClient(server);
  ann = wireClient({ url: server.url, token: ANNS_TOKEN });
});

/** Sign in as a page does: without a token. */
function exchange(ticket: unknown): Promise<Response> {
  return fetch(`${server.url}/console/credentials`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: server.url },
    body: JSON.stringify({ ticket }),
  });
}

async function signIn(client: WireClient) {
  const { body } = await client.post('/console/tickets');
  const reply = await exchange(body['ticket']);
  expect(reply.status).toBe(201);
  const { credential, principal } = (await reply.json()) as { credential: string; principal: string };
  return { principal, credential, client: wireClient({ url: server.url, token: credential }) };
}

function gauntlet(words: readonly string[], token = server.token) {
  return execa(process.execPath, [join(import.meta.dirname, '../../dist/gauntlet.js'), ...words, '--url', server.url], {
    env: { PATH: process.env['PATH'], HOME: server.home, GAUNTLET_TOKEN: token },
    extendEnv: false,
    reject: false,
  });
}

describe('a ticket', () => {
  it('is exchanged once', async () => {
    const { body } = await owner.post('/console/tickets');
    expect(body).toMatchObject({ principal: 'owner', expires_at: expect.any(String) });
    expect((await exchange(body['ticket'])).status).toBe(201);
    const again = await exchange(body['ticket']);
    expect(again.status).toBe(401);
    expect(await again.json()).toMatchObject({
      error: {
        code: 'unauthenticated',
        message: expect.stringContaining('gauntlet console'),
        details: { reason: 'ticket' },
      },
    });
  });

  it('is for the principal who asks', async () => {
    expect((await ann.post('/console/tickets', { principal: 'ann' })).status).toBe(200);
    const { status, body } = await ann.post('/console/tickets', { principal: 'owner' });
    expect(status).toBe(403);
    expect(body.error).toMatchObject({ message: expect.stringContaining('"ann"'), details: { reason: 'principal' } });
  });

  it.each([[7], [''], ['x'.repeat(500)]])('that is none is refused by name: %j', async (ticket) => {
    const reply = await exchange(ticket);
    expect(reply.status).toBe(400);
    expect(await reply.json()).toMatchObject({ error: { code: 'invalid_request', details: { path: 'ticket' } } });
  });
});

describe('a credential', () => {
  it("is taken as its principal's token, and reaches no more", async () => {
    const sessionId = await owner.session();
    const browser = await signIn(owner);
    expect((await browser.client.get(`/sessions/${sessionId}`)).status).toBe(200);
    const socket = await browser.client.stream(sessionId);
    await socket.close();
    const { client, principal } = await signIn(ann);
    expect(principal).toBe('ann');
    expect((await client.get(`/sessions/${sessionId}`)).status).toBe(404);
    expect((await client.post('/sessions', {})).body.error).toMatchObject({ code: 'forbidden' });
  });

  it('ends with its streams when it is revoked, alone', async () => {
    const [one, two] = [await signIn(owner), await signIn(owner)];
    const sessionId = await owner.session();
    const live = await fetch(`${server.url}/sessions/${sessionId}/events`, {
      headers: { authorization: `Bearer ${one.credential}`, accept: 'text/event-stream' },
    });
    const socket = await one.client.stream(sessionId);
    expect((await one.client.send('DELETE', '/console/credentials')).body).toMatchObject({ revoked: 1 });
    await expect(live.text()).rejects.toThrow();
    await socket.closed;
    expect((await one.client.get('/sessions')).status).toBe(401);
    expect((await two.client.get('/sessions')).status).toBe(200);
  });

  it('survives a killed server, and stands in no log', async () => {
    const { credential, client } = await signIn(owner);
    const { body } = await owner.post('/console/tickets');
    await client.execute(await client.session(), [block('Glob', { pattern: '*' })]);
    await exchange(`${String(body['ticket'])}x`);
    const said = server.logged();
    await server.end('SIGKILL');
    const kept = readdirSync(server.dataFolder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'));
    expect(kept.join('')).toContain('"event":"bad_credential"');
    for (const secret of [credential, String(body['ticket'])]) {
      for (const text of [said, ...kept]) expect(text).not.toContain(secret);
    }
    const environment = { GAUNTLET_PORT: new URL(server.url).port };
    server = await startServer({ home: server.home, environment });
    expect((await client.get('/sessions')).status).toBe(200);
    expect((await exchange(body['ticket'])).status).toBe(401);
  });
});

describe('gauntlet console', () => {
  it('prints an address with a ticket, and signs browsers out', async () => {
    const { stdout } = await gauntlet(['console']);
    const [, ticket] = /^http:\/\/127\.0\.0\.1:\d+\/#ticket=([\w-]{43})$/.exec(stdout) ?? [];
    const reply = await exchange(ticket);
    const { credential } = (await reply.json()) as { credential: string };
    expect((await gauntlet(['console', '--revoke'])).stdout).toMatch(/^Ended \d+ sign-ins?\.$/);
    expect((await wireClient({ url: server.url, token: credential }).get('/sessions')).status).toBe(401);
  });

  it('says whose token it has when another principal was meant', async () => {
    const { stderr, exitCode } = await gauntlet(['console', '--principal', 'ann']);
    expect(exitCode).toBe(1);
    expect(stderr).toContain('of "owner", not of "ann"');
    expect((await gauntlet(['console', '--principal', 'ann'], ANNS_TOKEN)).stdout).toContain('#ticket=');
  });
});

describe('an address that tries too often', () => {
  it('is refused, whatever it sends, and others are not', async () => {
    const tried = await Promise.all(Array.from({ length: 260 }, () => exchange('no-such-ticket')));
    const statuses = new Set(tried.map(({ status }) => status));
    expect([...statuses].sort()).toEqual([401, 429]);
    expect((await owner.get('/sessions')).status).toBe(200);
  });
});
