/** Snapshots and facts that were damaged on disk: the log is read instead, or the answer is no. */
import Database from 'libsql';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { DEFAULT_LIMITS } from '../../../../config/limits.ts';
import { openSqliteLog } from '../../../../src/log/sqlite-log.ts';
import { SessionDirectory } from '../../../../src/session/directory/session-directory.ts';
import { effectTool, rememberTool } from '../../../helpers/fake-tools.ts';
import { blockOf, execute, sessionServices } from '../../../helpers/session-services.ts';
import { temporaryFolder } from '../../../helpers/temporary-folder.ts';

const closers: (() => Promise<unknown>)[] = [];
afterAll(async () => {
  for (const close of closers) await close();
});

function server(folder = temporaryFolder()) {
  const log = openSqliteLog({ folder, limits: DEFAULT_LIMITS, durability: 'process' });
  const { tool, effects } = effectTool();
  const directory = new SessionDirectory(sessionServices(log, [tool, rememberTool()], { folder }));
  const stop = () => directory.close().then(() => log.close());
  closers.push(stop);
  return { directory, log, folder, stop, effects };
}

/** A session that remembers something and ran something, saved by a server that has ended. */
async function savedSession({ isTrimmed = false } = {}) {
  const { directory, log, folder, stop } = server();
  const session = await directory.create('owner', { rules: { allow: ['Effect'] } });
  await execute(session, [blockOf('Remember', 'a')]);
  await execute(session, [blockOf('Effect', 'ran')], 'turn');
  await session.save();
  if (isTrimmed) await log.trim(session.id, { olderThan: '9', bytes: 0 });
  await stop();
  return { folder, id: session.id };
}

function change(folder: string, sql: string): void {
  const database = new Database(join(folder, 'log.db'));
  database.exec(sql);
  database.close();
}

describe('a damaged snapshot', () => {
  it('is passed over: the session is read from its whole log', async () => {
    const { folder, id } = await savedSession();
    change(folder, `UPDATE snapshots SET state = replace(state, 'true', 'null')`);
    const { directory, effects } = server(folder);
    const session = await directory.open('owner', id);
    expect(session.context.toolState).toEqual({ a: true });
    expect((await execute(session, [blockOf('Effect', 'ran')], 'turn')).calls[0]).toMatchObject({ replayed: true });
    expect(effects).toEqual([]);
  });

  it('whose frames are gone closes the session, and says so', async () => {
    const { folder, id } = await savedSession({ isTrimmed: true });
    change(folder, `UPDATE snapshots SET seq = seq - 1`);
    const { directory } = server(folder);
    await expect(directory.open('owner', id)).rejects.toMatchObject({
      code: 'log_unavailable',
      details: { reason: 'corrupt' },
    });
    expect((await directory.create('owner', {})).bounds().head).toBe(1);
  });
});

describe('a damaged fact', () => {
  it('leaves its id known: the call is gone, and does not run again', async () => {
    const { folder, id } = await savedSession();
    change(folder, `UPDATE facts SET value = replace(value, 'Effect', 'effect') WHERE key = 'call:ran'`);
    const { directory, effects } = server(folder);
    const session = await directory.open('owner', id);
    await expect(execute(session, [blockOf('Effect', 'ran')])).rejects.toMatchObject({ code: 'gone' });
    expect(effects).toEqual([]);
  });
});
