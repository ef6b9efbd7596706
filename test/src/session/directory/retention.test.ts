/** What retention takes, what it leaves, and what clients are told of what is gone. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { DEFAULT_LIMITS, type Limits } from '../../../../config/limits.ts';
import type { LogGap } from '../../../../src/wire/session-replies.ts';
import { folderSizes } from '../../../../bin/retention.ts';
import { openSqliteLog } from '../../../../src/log/sqlite-log.ts';
import { Retention } from '../../../../src/session/directory/retention.ts';
import { SessionDirectory } from '../../../../src/session/directory/session-directory.ts';
import { effectTool, noteTool, rememberTool, slowTool } from '../../../helpers/fake-tools.ts';
import { blockOf, execute, frameWhere, question, sessionServices } from '../../../helpers/session-services.ts';
import { temporaryFolder } from '../../../helpers/temporary-folder.ts';

const DAY_MS = 86_400_000;
const closers: (() => Promise<unknown>)[] = [];
afterAll(async () => {
  for (const close of closers) await close();
});

/** A server whose retention looks when a test says so, at a time the test says. */
function server(limits: Partial<Limits> = {}, folder = temporaryFolder()) {
  const all = { ...DEFAULT_LIMITS, ...limits };
  const log = openSqliteLog({ folder, limits: all, durability: 'process' });
  const shell = effectTool();
  const slow = slowTool();
  const services = sessionServices(log, [shell.tool, slow.tool, noteTool(), rememberTool()], { folder, limits });
  const directory = new SessionDirectory(services);
  const retention = new Retention({
    ...services,
    saveAll: () => directory.saveAll(),
    settle: (principal, id) => directory.settle(principal, id),
    retire: (id) => directory.retire(id),
    folderSizes: async () => new Map([...(await folderSizes(folder))].filter(([name]) => name.startsWith('ses_'))),
  });
  const stop = async () => {
    await retention.close();
    await directory.close();
    await log.close();
  };
  closers.push(stop);
  const create = (request = {}) => directory.create('owner', { rules: { allow: ['Effect'] }, ...request });
  const folderOf = (id: string) => join(folder, id);
  return {
    directory,
    log,
    retention,
    stop,
    create,
    folder,
    folderOf,
    slow,
    effects: shell.effects,
    faults: services.faults,
  };
}

const later = (days: number) => Date.now() + days * DAY_MS;

describe('frames that are too old', () => {
  it('go, a reader before them is told, and the session goes on as it was', async () => {
    const { create, retention, directory, effects, faults } = server();
    const session = await create();
    const detach = session.attach();
    await execute(session, [blockOf('Remember', 'kept'), blockOf('Effect', 'a')]);
    await retention.look(later(31));
    const { first, head } = session.bounds();
    expect(first).toBeGreaterThan(1);
    const gaps: LogGap[] = [];
    for await (const page of session.read(0, { live: false, onGap: (gap) => gaps.push(gap) }))
      expect(page.at(-1)?.seq).toBe(head);
    expect(gaps).toEqual([{ from: 1, to: first - 1, reason: 'retention' }]);
    detach();
    expect((await execute(session, [blockOf('Effect', 'b')])).calls[0]?.status).toBe('ok');
    expect([effects, session.context.toolState, directory.openCount]).toEqual([['a', 'b'], { kept: true }, 1]);
    expect(faults).toEqual([]);
  });

  it('leave their ids known: a replay is told that the result is gone, and nothing runs twice', async () => {
    const first = server();
    const session = await first.create();
    const detach = session.attach();
    await execute(session, [blockOf('Effect', 'a')], 'turn');
    await execute(session, [blockOf('Note', 'b')]);
    await first.retention.look(later(31));
    const gone = { code: 'gone', details: { reason: 'retention', tool_use_id: 'a' } };
    await expect(execute(session, [blockOf('Effect', 'a')])).rejects.toMatchObject(gone);
    await expect(session.history.resultText('a', { offsetChars: 0, limitChars: 9 })).rejects.toMatchObject(gone);
    detach();
    await first.stop();
    const second = server({}, first.folder);
    const again = await second.directory.open('owner', session.id);
    await expect(execute(again, [blockOf('Effect', 'a')])).rejects.toMatchObject(gone);
    expect([first.effects, second.effects]).toEqual([['a'], []]);
  });

  it('stay as long as a turn that has not ended, or a question, needs them', async () => {
    const { create, retention, slow, effects } = server();
    const session = await create({ rules: {} });
    await execute(session, [blockOf('Note', 'old')]);
    const running = await session.submit({ turnId: 'runs', blocks: [blockOf('Slow', 'a')] });
    await slow.isRunning('a');
    const asked = await session.submit({ blocks: [blockOf('Effect', 'b')], onAsk: 'wait' });
    await retention.look(later(31));
    const { first } = session.bounds();
    expect(first).toBeGreaterThan(1);
    expect(first).toBeLessThanOrEqual(running.calls[0]?.acceptedSeq ?? 0);
    slow.end('a');
    await session.answer((await question(session)).request_id, { behavior: 'allow' }, 'owner');
    expect((await session.collect(asked, AbortSignal.timeout(5_000))).calls[0]?.status).toBe('ok');
    expect(effects).toEqual(['b']);
  });

  it('survive a crash as they are: what was left unfinished is put in order first', async () => {
    const first = server();
    const session = await first.create();
    await execute(session, [blockOf('Note', 'old')]);
    await session.submit({ blocks: [blockOf('Slow', 'a')] });
    await frameWhere(session, ({ type }) => type === 'started');
    await first.log.close();
    const second = server({}, first.folder);
    const other = await second.directory.open('owner', session.id);
    const detach = other.attach();
    await second.retention.look(later(31));
    await expect(execute(other, [blockOf('Slow', 'a')])).rejects.toMatchObject({ code: 'gone' });
    detach();
  });
});

describe('sessions', () => {
  it('that are wholly too old go with their folders, those in use stay', async () => {
    const { create, retention, directory, folderOf } = server();
    const [old, used] = [await create(), await create()];
    const detach = used.attach();
    for (const { id } of [old, used]) {
      mkdirSync(folderOf(id));
      writeFileSync(join(folderOf(id), 'spilled.txt'), 'text');
    }
    await retention.look(later(29));
    expect((await directory.list('owner', { limit: 9 })).sessions).toHaveLength(2);
    await retention.look(later(31));
    expect([existsSync(folderOf(old.id)), existsSync(folderOf(used.id))]).toEqual([false, true]);
    await expect(directory.open('owner', old.id)).rejects.toMatchObject({ code: 'not_found' });
    expect((await directory.open('owner', used.id)).id).toBe(used.id);
    detach();
  });

  it('that weigh too much lose their oldest frames', async () => {
    const { create, retention } = server({ sessionLogBytes: 20_000 });
    const session = await create();
    for (let count = 0; count < 40; count++)
      await execute(session, [blockOf('Note', `call_${count}`, 'x'.repeat(900))]);
    const { head } = session.bounds();
    await retention.look();
    const { first } = session.bounds();
    expect(first).toBeGreaterThan(head / 2);
    expect(first).toBeLessThan(head);
    await retention.look();
    expect(session.bounds().first).toBe(first);
  });

  it('go, the longest unused first, when all together weigh too much', async () => {
    const { create, retention, directory, folderOf } = server({ dataBytes: 1_000_000 });
    const ids = [];
    for (let count = 0; count < 4; count++) {
      const { id } = await create();
      ids.push(id);
      mkdirSync(folderOf(id));
      writeFileSync(join(folderOf(id), 'spilled.txt'), 'x'.repeat(300_000));
      // The next session is younger by the clock that orders them.
      for (const began = Date.now(); Date.now() === began;) await Promise.resolve();
    }
    await retention.look();
    const left = (await directory.list('owner', { limit: 9 })).sessions.map(({ session_id }) => session_id);
    expect(left).toEqual(ids.slice(2).toReversed());
    expect(ids.map((id) => existsSync(folderOf(id)))).toEqual([false, false, true, true]);
  });

  it('that a crash removed only by half lose their folders too', async () => {
    const { retention, folderOf } = server();
    mkdirSync(join(folderOf('ses_gone'), 'deep'), { recursive: true });
    await retention.look();
    expect(existsSync(folderOf('ses_gone'))).toBe(false);
  });
});
