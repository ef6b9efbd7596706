/** PROTOCOL 1: several principals, each with its own token, roots, highest mode and limits. */
import { createHash } from 'node:crypto';
import { mkdirSync, realpathSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { runServer, serverHome, startServer, type BuiltServer } from '../helpers/built-server.ts';
import { block, until, wireClient, type WireClient } from '../helpers/wire-client.ts';
import { everyWayIn } from '../helpers/session-routes.ts';

const TOKENS = { ann: 'token-of-ann-0123456789', bob: 'token-of-bob-0123456789', eve: 'token-of-eve-0123456789' };
const tokenSha256 = (name: keyof typeof TOKENS) => createHash('sha256').update(TOKENS[name]).digest('hex');

const home = serverHome();
const folder = (name: string) => join(realpathSync(home), 'workspace', name);
for (const name of ['ann', 'bob', 'bob/inner']) mkdirSync(join(home, 'workspace', name));
symlinkSync(folder('ann'), folder('bob/to-ann'));

const settings = {
  permissions: { defaultMode: 'acceptEdits', additionalDirectories: ['ann'] },
  limits: { previewChars: 200 },
  approvals: { twoPerson: ['Bash(git push:*)'] },
  principals: [
    { name: 'ann', tokenSha256: tokenSha256('ann'), roots: ['ann', '.'] },
    { name: 'bob', tokenSha256: tokenSha256('bob'), roots: ['bob'], maxMode: 'default' },
    { name: 'eve', tokenSha256: tokenSha256('eve'), roots: [] },
  ],
};

let server: BuiltServer;
let ann: WireClient;
let bob: WireClient;
let eve: WireClient;

async function start(): Promise<void> {
  server = await startServer({ home, settings });
  [ann, bob, eve] = (['ann', 'bob', 'eve'] as const).map((name) => wireClient({ ...server, token: TOKENS[name] })) as [
    WireClient,
    WireClient,
    WireClient,
  ];
}
beforeAll(start);

describe('the list of principals', () => {
  it("is the owner's alone, with the bounds of each and what runs in its sessions", async () => {
    const id = await bob.session({ on_ask: 'wait' });
    // It ends with the session.
    void bob.execute(id, [block('Write', { file_path: 'asked.txt', content: '' })]).catch(() => undefined);
    const listed = async () => (await wireClient(server).get('/principals')).body['principals'] as unknown[];
    const sessions = { open: 1, waiting: 1 };
    await expect.poll(async () => (await listed())[2]).toMatchObject({ principal: 'bob', sessions, calls: 1 });
    const [owner, ...others] = await listed();
    expect(owner).toMatchObject({ principal: 'owner', sessions: { open: 0, waiting: 0 }, calls: 0, tasks: 0 });
    expect(others).toMatchObject([
      { principal: 'ann', roots: [folder('ann'), expect.any(String)], limits: { calls_at_once: 0 } },
      { principal: 'bob', roots: [folder('bob')], max_mode: 'default' },
      { principal: 'eve', roots: [] },
    ]);
    expect(await ann.get('/principals')).toMatchObject({ status: 403, body: { error: { code: 'forbidden' } } });
    await bob.send('DELETE', `/sessions/${id}`);
  });
});

describe('A14: what belongs to another', () => {
  it('is not there, by whatever route it is asked for', async () => {
    const theirs = await sessionWithEverything();
    const ways = await everyWayIn(server.url, {
      id: theirs.id,
      tool_use_id: 'toolu_done',
      request_id: theirs.request_id,
    });
    expect(ways.length).toBeGreaterThan(12);
    for (const { method, path, body } of ways) {
      const reply = await bob.send(method, path, body);
      const missing = 'ses_0000000000000000000000';
      const other = await bob.send(method, path.replace(theirs.id, missing), replaced(body, theirs.id, missing));
      expect({ method, path, status: reply.status }).toEqual({ method, path, status: 404 });
      expect(anonymous(reply.text, theirs.id)).toEqual(anonymous(other.text, missing));
    }
    expect((await ann.get(`/sessions/${theirs.id}`)).status).toBe(200);
    await ann.send('DELETE', `/sessions/${theirs.id}`);
    await theirs.ended;
  });

  it('takes as long to be refused as what was never there', async () => {
    const times: Record<string, number[]> = { [await ann.session()]: [], ses_0000000000000000000000: [] };
    for (let round = 0; round < 60; round++) {
      for (const [id, spans] of Object.entries(times)) {
        const began = performance.now();
        await bob.get(`/sessions/${id}`);
        spans.push(performance.now() - began);
      }
    }
    const medians = Object.values(times).map((spans) => spans.sort((one, other) => one - other)[30] ?? 0);
    expect(Math.max(...medians) / Math.min(...medians)).toBeLessThan(2);
  });

  it('is not streamed, with a token or with a ticket', async () => {
    const id = await ann.session();
    await expect(bob.stream(id)).rejects.toThrow('404');
    const own = await bob.session();
    const { ticket } = (await bob.post('/tickets', { session_id: own })).body;
    const protocols = ['gauntlet.v1', `gauntlet.ticket.${String(ticket)}`];
    await expect(ann.stream(id, {}, { protocols, headers: {} })).rejects.toThrow('401');
  });

  it('is not listed, and is its own again after a restart', async () => {
    const ids = [await ann.session(), await bob.session()];
    const listed = async (client: WireClient) =>
      (await client.get('/sessions')).body.sessions.map((one) => one.session_id);
    expect(await listed(ann)).not.toContain(ids[1]);
    expect(await listed(bob)).not.toContain(ids[0]);
    await server.end();
    await start();
    expect(await listed(bob)).toContain(ids[1]);
    expect((await bob.get(`/sessions/${ids[0]}`)).status).toBe(404);
    expect((await ann.get(`/sessions/${ids[0]}`)).status).toBe(200);
  });

  it('stays closed to tools: spilled texts and tasks', async () => {
    const id = await ann.session({ mode: 'bypassPermissions' });
    const { calls } = await ann.execute(id, [block('Bash', { command: 'seq 1 40000' })]);
    const task = await ann.execute(id, [block('Bash', { command: 'sleep 20', run_in_background: true })]);
    const path = calls[0]?.spilled?.path ?? '';
    const task_id = /bash_[0-9a-f]{8}/.exec(String(task.results[0]?.content))?.[0];
    const peek = () => [block('Read', { file_path: path }), block('TaskOutput', { task_id, block: false })];
    const statuses = async (client: WireClient, session: string) =>
      (await client.execute(session, peek())).calls.map(({ status }) => status);
    expect(await statuses(ann, id)).toEqual(['ok', 'ok']);
    expect(await statuses(bob, await bob.session())).toEqual(['denied', 'error']);
    await ann.send('DELETE', `/sessions/${id}`);
  });
});

describe('roots', () => {
  it('are where sessions begin: the workspace where it lies in them, else the first', async () => {
    const cwd = async (client: WireClient, body = {}) => (await client.post('/sessions', body)).body['cwd'];
    expect(await cwd(ann)).toBe(realpathSync(server.workspace));
    expect(await cwd(bob)).toBe(folder('bob'));
    expect(await cwd(bob, { cwd: 'inner' })).toBe(folder('bob/inner'));
  });

  it.each([
    ['a folder beside them', 'cwd', { cwd: folder('ann') }],
    ['a way up', 'cwd', { cwd: '..' }],
    ['a link out', 'cwd', { cwd: 'to-ann' }],
    ['another directory', 'additional_directories', { additional_directories: [folder('ann')] }],
    ['a directory behind a link', 'additional_directories', { additional_directories: [`${folder('bob')}/to-ann/x`] }],
  ])('are not left: %s', async (_what, path, body) => {
    const { status, body: reply } = await bob.post('/sessions', body);
    expect(status).toBe(403);
    expect(reply.error).toMatchObject({ code: 'forbidden', details: { path } });
  });

  it('are not left later, nor by what the settings add for all', async () => {
    const id = await bob.session();
    const context = (await bob.get(`/sessions/${id}/permissions`)).body;
    expect(context['additional_directories']).toEqual([]);
    const updates = [{ type: 'addDirectories', directories: [folder('ann')] }];
    expect((await bob.post(`/sessions/${id}/permissions`, { updates })).status).toBe(403);
    const outside = await bob.execute(id, [block('Glob', { pattern: '*', path: folder('ann') })]);
    expect(outside.calls[0]?.status).toBe('denied');
  });

  it('may be none: then there are no sessions of its own', async () => {
    expect((await eve.post('/sessions')).body.error.code).toBe('forbidden');
    expect((await eve.post('/execute', { tool_uses: [block('TodoWrite', { todos: [] })] })).status).toBe(403);
    expect((await eve.get('/tools')).status).toBe(200);
  });
});

describe('the highest mode', () => {
  it('lowers what the settings begin with', async () => {
    expect((await bob.post('/sessions')).body['mode']).toBe('default');
    expect((await ann.post('/sessions')).body['mode']).toBe('acceptEdits');
  });

  it.each(['acceptEdits', 'auto', 'bypassPermissions'])('refuses %s from the start and later', async (mode) => {
    const id = await bob.session({ mode: 'plan' });
    const later = bob.post(`/sessions/${id}/permissions`, { updates: [{ type: 'setMode', mode }] });
    for (const reply of [await bob.post('/sessions', { mode }), await later]) {
      expect(reply.status).toBe(403);
      expect(reply.body.error).toMatchObject({
        message: expect.stringContaining('maxMode'),
        details: { max_mode: 'default' },
      });
    }
    const up = await bob.post(`/sessions/${id}/permissions`, { updates: [{ type: 'setMode', mode: 'default' }] });
    expect(up.body).toMatchObject({ mode: 'default', max_mode: 'default', is_bypass_available: false });
  });
});

describe('two persons', () => {
  it('are two principals, and the second sees nothing else', async () => {
    const id = await ann.session({ on_ask: 'wait' });
    const reply = ann.execute(id, [block('Bash', { command: 'git push nowhere' })]);
    const prompt = await until(async () => (await ann.get(`/sessions/${id}/prompts`)).body.prompts[0]);
    const path = `/sessions/${id}/prompts/${prompt.request_id}`;
    expect((await ann.post(path, { behavior: 'allow' })).body).toMatchObject({ pending: true });
    expect((await eve.get(`/sessions/${id}/prompts`)).status).toBe(404);
    expect((await eve.post(path, { behavior: 'allow' })).body).toEqual({ behavior: 'allow', by: 'ann and eve' });
    expect((await reply).calls[0]?.error_code).toBe('tool_failed');
  });
});

describe('a start', () => {
  it("is refused where a principal has the server's own token", async () => {
    const same = { name: 'ann', tokenSha256: tokenSha256('ann'), roots: [] };
    const { code, stderr } = await runServer({
      settings: { principals: [same] },
      environment: { GAUNTLET_TOKEN: TOKENS.ann },
    });
    expect(code).toBe(78);
    expect(stderr).toContain('principals.0.tokenSha256');
    expect(stderr).not.toContain(same.tokenSha256);
  });
});

/** A session with a finished call and an open question. */
async function sessionWithEverything() {
  const id = await ann.session({ mode: 'default', on_ask: 'wait' });
  await ann.execute(id, [block('TodoWrite', { todos: [] }, 'toolu_done')]);
  const asked = block('Bash', { command: 'touch asked' }, 'toolu_asked');
  const ended = ann.post('/execute', { session_id: id, tool_uses: [asked] });
  const { request_id } = await until(async () => (await ann.get(`/sessions/${id}/prompts`)).body.prompts[0]);
  return { id, request_id, ended };
}

function replaced(body: unknown, from: string, to: string): unknown {
  return body === undefined ? undefined : JSON.parse(JSON.stringify(body).replaceAll(from, to));
}

function anonymous(text: string, id: string): string {
  return text.replaceAll(id, '<id>').replace(/"request_id":"[^"]+"/, '');
}
