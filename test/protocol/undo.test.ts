/** PROTOCOL 7: what a session changed, and the way back, across restarts. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { startServer, type BuiltServer } from '../helpers/built-server.ts';
import { block, wireClient, type WireClient } from '../helpers/wire-client.ts';

interface Change {
  readonly seq: number;
  readonly path: string;
  readonly kind: string;
  readonly undoable: boolean;
  readonly undone: boolean;
  readonly reason?: string;
  readonly diff?: { readonly hunks: readonly { readonly lines: readonly string[] }[] };
}

let server: BuiltServer;
let client: WireClient;

beforeAll(async () => {
  server = await startServer();
  client = wireClient(server);
});

/** A session in a folder of its own. */
async function begin(name: string, more: object = {}) {
  const cwd = join(server.workspace, name);
  mkdirSync(cwd);
  const id = await client.session({ cwd, mode: 'bypassPermissions', ...more });
  return {
    id,
    at: (file: string) => join(cwd, file),
    text: (file: string) => readFileSync(join(cwd, file), 'utf8'),
    /** Run a call. @returns Its id. */
    run: async (tool: string, input: object): Promise<string> => {
      const one = block(tool, input);
      const { calls, results } = await client.execute(id, [one]);
      if (calls[0]?.status !== 'ok') throw new Error(results[0]?.content);
      return one.id;
    },
    changes: async (query = '') =>
      (await client.get(`/sessions/${id}/changes${query}`)).body['changes'] as readonly Change[],
    undo: (target: object) => client.post(`/sessions/${id}/undo`, target),
    head: async () => (await client.get(`/sessions/${id}`)).body.head,
  };
}

describe('what a session changed', () => {
  it('is listed with its diff, call by call', async () => {
    const { run, changes, at } = await begin('listed');
    const first = await run('Write', { file_path: 'a.txt', content: 'one\ntwo\n' });
    await run('Edit', { file_path: 'a.txt', old_string: 'two', new_string: 'three' });
    await run('Bash', { command: 'printf raw > b.txt' });
    const all = await changes();
    expect(all.map(({ path, kind, undoable, undone }) => [path, kind, undoable, undone])).toEqual([
      [at('a.txt'), 'created', true, false],
      [at('a.txt'), 'modified', true, false],
      [at('b.txt'), 'created', true, false],
    ]);
    expect(all[1]?.diff?.hunks[0]?.lines).toEqual([' one', '-two', '+three']);
    expect(await changes(`?tool_use_id=${first}`)).toEqual(all.slice(0, 1));
    expect(await changes(`?from_seq=${all[0]?.seq}&limit=1`)).toEqual(all.slice(1, 2));
  });

  it('is marked where it cannot be taken back', async () => {
    const { id, run, changes, undo, at, text } = await begin('marked');
    writeFileSync(at('known'), 'before');
    await run('Read', { file_path: 'known' });
    await run('Bash', { command: "n=known; eval 'echo after > $n'" });
    expect(await changes()).toMatchObject([{ path: at('known'), undoable: false, reason: 'not_foreseen' }]);
    expect((await undo({ to_seq: 0 })).body.error).toMatchObject({
      code: 'conflict',
      details: { reason: 'not_undoable', paths: [at('known')] },
    });
    await run('Write', { file_path: 'new', content: '' });
    expect((await undo({ to_seq: 0 })).body['left']).toEqual([{ path: at('known'), reason: 'not_foreseen' }]);
    expect([text('known'), existsSync(at('new'))]).toEqual(['after\n', false]);
    expect((await client.frames(id)).at(-1)).toMatchObject({ type: 'undo', to_seq: 0 });
  });

  it('shows nothing of a file that a rule hides', async () => {
    const { run, changes } = await begin('hidden', { rules: { deny: ['Read(.env)'] } });
    await run('Bash', { command: 'echo SECRET=1 > .env' });
    const [change] = await changes();
    expect(change).toMatchObject({ kind: 'created', diff_omitted: 'denied' });
    expect(JSON.stringify(change)).not.toContain('SECRET');
  });

  it('is kept where no tool of the session may look', async () => {
    const { id, run, at } = await begin('kept');
    writeFileSync(at('secret'), 'hidden');
    await run('Bash', { command: 'echo over > secret' });
    const folder = join(server.dataFolder, 'history', id);
    const [kept = ''] = readdirSync(folder);
    expect(readFileSync(join(folder, kept), 'utf8')).toBe('hidden');
    const { calls } = await client.execute(id, [
      block('Read', { file_path: join(folder, kept) }),
      block('Grep', { pattern: 'hidden', path: folder }),
      block('Bash', { command: `cat ${join(folder, kept)}` }),
    ]);
    expect(calls.map(({ status }) => status)).toEqual(['denied', 'denied', 'denied']);
  });

  it("is nobody else's", async () => {
    const { id } = await begin('theirs');
    const stranger = wireClient({ ...server, token: 'wrong' });
    expect((await stranger.get(`/sessions/${id}/changes`)).status).toBe(401);
    expect((await client.get('/sessions/none/changes')).status).toBe(404);
    expect((await client.post('/sessions/none/undo', { to_seq: 0 })).status).toBe(404);
  });

  it.each([[{}], [{ to_seq: -1 }], [{ to_seq: 1, tool_use_id: 'a' }], [{ to_seq: '1' }]])(
    'is not undone by %j',
    async (body) => {
      const id = await client.session({});
      const { status, body: reply } = await client.post(`/sessions/${id}/undo`, body);
      expect([status, reply.error.code]).toEqual([400, 'invalid_request']);
    },
  );

  it('survives a kill, and so does its undo', async () => {
    const { run, text, at, changes, undo, head, id } = await begin('killed');
    writeFileSync(at('edited'), 'one');
    await run('Read', { file_path: 'edited' });
    await run('Edit', { file_path: 'edited', old_string: 'one', new_string: 'two' });
    const middle = await head();
    await run('Bash', { command: 'echo three > edited; mkdir -p d; echo x > d/x' });
    await server.end('SIGKILL');
    server = await startServer({ home: server.home });
    client = wireClient(server);
    expect((await undo({ to_seq: middle })).status).toBe(200);
    expect([text('edited'), existsSync(at('d/x'))]).toEqual(['two', false]);
    await server.end('SIGKILL');
    server = await startServer({ home: server.home });
    client = wireClient(server);
    expect((await changes()).map(({ undone }) => undone)).toEqual([false, true, true]);
    writeFileSync(at('edited'), 'somebody else');
    const { status, body } = await undo({ to_seq: 0 });
    expect([status, body.error.details]).toEqual([409, { reason: 'changed_since', paths: [at('edited')] }]);
    writeFileSync(at('edited'), 'two');
    expect((await undo({ to_seq: 0 })).body['files']).toMatchObject([{ path: at('edited'), kind: 'modified' }]);
    expect(text('edited')).toBe('one');
    expect(readdirSync(join(server.dataFolder, 'history'))).toContain(id);
    await client.send('DELETE', `/sessions/${id}`);
    expect(readdirSync(join(server.dataFolder, 'history'))).not.toContain(id);
  });
});
