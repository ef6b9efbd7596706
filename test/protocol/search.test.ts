/** PROTOCOL 3: `GET /search` finds calls in all sessions of the caller, and in nobody else's. */
import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { startServer, type BuiltServer } from '../helpers/built-server.ts';
import { block, wireClient, type WireClient } from '../helpers/wire-client.ts';

const ANNS_TOKEN = 'token-of-ann-0123456789';

interface Hit {
  readonly session_id: string;
  readonly tool_use_id: string;
  readonly name: string;
  readonly status?: string;
  readonly matched: string;
  readonly excerpt: string;
}

let server: BuiltServer;
let client: WireClient;
let ann: WireClient;
let first: string;
let second: string;
const bash = (command: string) => block('Bash', { command });
const calls = {
  inInput: bash('echo one # a Marmalade sandwich'),
  inBoth: bash('echo "marmalade \\"quoted\\" ärger"'),
  failed: bash('cat no-such-marmelade'),
  inFile: block('Write', { file_path: 'kept/jam.txt', content: 'marmalade, boiled' }),
};

beforeAll(async () => {
  const home = await startServer({
    settings: {
      principals: [{ name: 'ann', tokenSha256: createHash('sha256').update(ANNS_TOKEN).digest('hex'), roots: [] }],
    },
  });
  server = home;
  client = wireClient(server);
  ann = wireClient({ url: server.url, token: ANNS_TOKEN });
  mkdirSync(join(server.workspace, 'kept'));
  writeFileSync(join(server.workspace, 'secret.txt'), 'marmalade of the queen');
  first = await client.session({ mode: 'bypassPermissions' });
  second = await client.session({ mode: 'bypassPermissions' });
  await client.execute(first, [calls.inInput, calls.inBoth]);
  await client.execute(second, [calls.failed, calls.inFile]);
});

async function search(query: Record<string, string | undefined>, from = client) {
  const given = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const { status, body } = await from.get(`/search?${new URLSearchParams(given).toString()}`);
  return {
    status,
    body,
    hits: (body['hits'] ?? []) as readonly Hit[],
    cursor: body['next_cursor'] as string | undefined,
  };
}

const idsOf = (hits: readonly Hit[]) => hits.map(({ tool_use_id: id }) => id);

describe('a search', () => {
  it('finds each call once, the newest first, where its result or its input matches', async () => {
    const { hits, cursor } = await search({ q: 'MARMALADE' });
    expect(idsOf(hits)).toEqual([calls.inFile.id, calls.inBoth.id, calls.inInput.id]);
    expect(hits[1]).toMatchObject({ session_id: first, name: 'Bash', status: 'ok', matched: 'result' });
    expect(hits[2]).toMatchObject({ matched: 'call', excerpt: expect.stringContaining('a Marmalade sandwich') });
    expect(cursor).toBeUndefined();
  });

  it('wants all words, and those in quotes together, whatever their case and their letters', async () => {
    expect(idsOf((await search({ q: 'sandwich marmalade' })).hits)).toEqual([calls.inInput.id]);
    expect(idsOf((await search({ q: '"sandwich marmalade"' })).hits)).toEqual([]);
    expect(idsOf((await search({ q: 'ÄRGER' })).hits)).toEqual([calls.inBoth.id]);
    expect(idsOf((await search({ q: '"marmalade \\"' })).hits)).toEqual([calls.inBoth.id]);
    expect(idsOf((await search({ q: '100%_' })).hits)).toEqual([]);
  });

  it('filters by tool, status, file and session', async () => {
    expect(idsOf((await search({ tool: 'Write' })).hits)).toEqual([calls.inFile.id]);
    expect(idsOf((await search({ status: 'error' })).hits)).toEqual([calls.failed.id]);
    expect(idsOf((await search({ file: 'KEPT/jam' })).hits)).toEqual([calls.inFile.id]);
    expect(idsOf((await search({ q: 'marmalade', session_id: first })).hits)).toEqual([
      calls.inBoth.id,
      calls.inInput.id,
    ]);
    expect(idsOf((await search({ q: 'marmalade', tool: 'Bash', status: 'ok' })).hits)).toHaveLength(2);
    expect((await search({ session_id: 'ses_none' })).status).toBe(404);
  });

  it('finds a call once that took long and said much', async () => {
    const slow = bash('for i in 1 2 3 4 5 6 7 8; do echo walnut $i; sleep 0.1; done');
    await client.execute(second, [slow]);
    expect((await search({ q: 'walnut' })).hits).toMatchObject([
      { tool_use_id: slow.id, matched: 'result', status: 'ok' },
    ]);
    expect((await search({ q: 'sleep', status: 'ok' })).hits).toMatchObject([
      { tool_use_id: slow.id, matched: 'call' },
    ]);
  });

  it('comes by the page, without gaps and doubles', async () => {
    const many = Array.from({ length: 30 }, (_, index) => block('Glob', { pattern: `walrus-${index}` }));
    await client.execute(second, many);
    for (const session of [{}, { session_id: second }]) {
      const found: string[] = [];
      for (let cursor: string | undefined, isFirst = true; isFirst || cursor !== undefined; isFirst = false) {
        const page = await search({ q: 'walrus', limit: '7', ...session, ...(cursor !== undefined && { cursor }) });
        expect(page.hits.length).toBeLessThanOrEqual(7);
        found.push(...idsOf(page.hits));
        cursor = page.cursor;
      }
      expect(found.sort()).toEqual(many.map(({ id }) => id).sort());
    }
  });

  it('survives the server, for a log that was never searched before', async () => {
    await server.end('SIGKILL');
    server = await startServer({ home: server.home });
    client = wireClient(server);
    ann = wireClient({ url: server.url, token: ANNS_TOKEN });
    expect(idsOf((await search({ q: 'sandwich' })).hits)).toEqual([calls.inInput.id]);
  });
});

describe('a search is kept from', () => {
  it("other principals' calls", async () => {
    expect((await search({ q: 'marmalade' }, ann)).hits).toEqual([]);
    expect((await search({ q: 'marmalade', session_id: first }, ann)).status).toBe(404);
    expect((await search({ principal: 'ann' })).status).toBe(403);
    expect((await search({ principal: 'owner', q: 'sandwich' })).hits).toHaveLength(1);
  });

  it('files that a deny rule hides from reading', async () => {
    const sessionId = await client.session({ mode: 'bypassPermissions' });
    await client.execute(sessionId, [block('Read', { file_path: 'secret.txt' })]);
    expect((await search({ q: 'queen' })).hits).toHaveLength(1);
    const updates = [{ type: 'addRules', behavior: 'deny', rules: ['Read(./secret.txt)'] }];
    await client.post(`/sessions/${sessionId}/permissions`, { updates });
    expect((await search({ q: 'queen' })).hits).toEqual([]);
  });

  it('cursors that are none, and fields that are unknown', async () => {
    for (const query of [{ cursor: 'x' }, { query: 'x' }, { status: 'fine' }] as Record<string, string>[]) {
      expect((await search(query)).body.error).toMatchObject({ code: 'invalid_request' });
    }
  });
});
