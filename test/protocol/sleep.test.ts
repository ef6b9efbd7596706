/** Sessions that sleep, as a client sees them: not at all. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { DEFAULT_LIMITS } from '../../config/limits.ts';
import type { NewFrame } from '../../src/wire/frames.ts';
import { sha256Of } from '../../src/files/file-state.ts';
import { openSqliteLog } from '../../src/log/sqlite-log.ts';
import { startServer } from '../helpers/built-server.ts';
import { blockOf } from '../helpers/session-services.ts';
import { block, until, wireClient, type WireClient } from '../helpers/wire-client.ts';

const settings = { limits: { idleSessionMs: 20 } };

/** Resolves when no session is in memory. */
function allAsleep(client: WireClient): Promise<unknown> {
  return until(async () => /^gauntlet_sessions_open 0$/m.test((await client.get('/metrics')).text));
}

/** What the log of a server says that is killed between a change's frame and the change. */
async function announceChange(dataFolder: string, sessionId: string, path: string): Promise<void> {
  const log = openSqliteLog({ folder: dataFolder, limits: DEFAULT_LIMITS, durability: 'process' });
  const after = { sha256: sha256Of(Buffer.from('new')), size_bytes: 3, mode: '0644' };
  const frames: NewFrame[] = [
    { type: 'tool_use', turn_id: 't', index: 0, tool_use: blockOf('Write', 'w'), display: { title: '', blocks: [] } },
    { type: 'started', tool_use_id: 'w' },
    { type: 'change', tool_use_id: 'w', path, kind: 'created', after, undoable: true },
  ];
  await log.append(sessionId, log.bounds(sessionId)?.head ?? 0, frames);
  await log.close();
}

describe('a session that fell asleep', () => {
  it('edits what it read before, after a restart too', async () => {
    const server = await startServer({ settings });
    const client = wireClient(server);
    const sessionId = await client.session({ mode: 'acceptEdits' });
    const file_path = join(server.workspace, 'read.txt');
    writeFileSync(file_path, 'one\n');
    const edit = (old_string: string, new_string: string) => block('Edit', { file_path, old_string, new_string });
    await client.execute(sessionId, [block('Read', { file_path })]);
    await allAsleep(client);
    expect((await client.execute(sessionId, [edit('one', 'two')])).calls[0]).toMatchObject({ status: 'ok' });
    await server.end();
    const next = wireClient(await startServer({ home: server.home }));
    expect((await next.execute(sessionId, [edit('two', 'three')])).calls[0]).toMatchObject({ status: 'ok' });
    expect(readFileSync(file_path, 'utf8')).toBe('three\n');
  });

  it('edits what it read before its server was killed', async () => {
    const server = await startServer();
    const sessionId = await wireClient(server).session({ mode: 'acceptEdits' });
    const file_path = join(server.workspace, 'read.txt');
    writeFileSync(file_path, 'one\n');
    await wireClient(server).execute(sessionId, [block('Read', { file_path })]);
    // A record of the read state; nothing else in a log has one.
    const isSaved = () => readFileSync(join(server.dataFolder, 'log.db-wal')).includes('"mtimeMs":');
    await until(() => Promise.resolve(isSaved()));
    await server.end('SIGKILL');
    const next = wireClient(await startServer({ home: server.home }));
    const edit = block('Edit', { file_path, old_string: 'one', new_string: 'two' });
    expect((await next.execute(sessionId, [edit])).calls[0]).toMatchObject({ status: 'ok' });
  });

  it('lists no change that a killed server announced and never made, after another kill either', async () => {
    const server = await startServer({ settings });
    const sessionId = await wireClient(server).session();
    await server.end('SIGKILL');
    const path = join(server.workspace, 'unmade.txt');
    await announceChange(server.dataFolder, sessionId, path);
    const listed = async (client: WireClient) => (await client.get(`/sessions/${sessionId}/changes`)).body['changes'];
    const second = await startServer({ home: server.home });
    expect(await listed(wireClient(second))).toEqual([]);
    await allAsleep(wireClient(second));
    expect(await listed(wireClient(second))).toEqual([]);
    await second.end('SIGKILL');
    const third = wireClient(await startServer({ home: server.home }));
    expect(await listed(third)).toEqual([]);
    writeFileSync(path, 'new');
    expect(await listed(third)).toMatchObject([{ path, kind: 'created' }]);
  });

  it('is listed by the page without being woken', async () => {
    const client = wireClient(await startServer({ settings }));
    const titles = ['one', 'two', 'three'];
    for (const title of titles) await client.session({ title });
    await allAsleep(client);
    const listed = [];
    for (let query = '?limit=2'; query !== '';) {
      const { body } = await client.get(`/sessions${query}`);
      listed.push(...body.sessions.map((session) => (session as { title?: string }).title));
      query = body['next_cursor'] === undefined ? '' : `?limit=2&cursor=${String(body['next_cursor'])}`;
    }
    expect(listed).toEqual(titles.toReversed());
    await allAsleep(client);
    expect((await client.get('/sessions?cursor=nonsense')).status).toBe(400);
  });
});
