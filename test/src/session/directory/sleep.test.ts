/** Sessions that nobody uses leave memory, and whoever asks finds them as they were. */
import { afterAll, describe, expect, it } from 'vitest';
import { DEFAULT_LIMITS, type Limits } from '../../../../config/limits.ts';
import type { FileReadRecord } from '../../../../src/tool/session-context.ts';
import type { Tool } from '../../../../src/tool/tool.ts';
import { withReadRecord } from '../../../../src/files/read-state.ts';
import { openSqliteLog } from '../../../../src/log/sqlite-log.ts';
import { SessionDirectory } from '../../../../src/session/directory/session-directory.ts';
import { effectTool, noteTool, rememberTool, slowTool, taskTool } from '../../../helpers/fake-tools.ts';
import { blockOf, execute, framesOf, question, sessionServices } from '../../../helpers/session-services.ts';
import { asAfterKill, newFolder } from '../../../helpers/log-folders.ts';
import { temporaryFolder } from '../../../helpers/temporary-folder.ts';
import { until } from '../../../helpers/wire-client.ts';

const closers: (() => Promise<unknown>)[] = [];
afterAll(async () => {
  for (const close of closers) await close();
});

/** A server whose sessions fall asleep at once. */
function server(tools: readonly Tool[], folder = temporaryFolder(), limits: Partial<Limits> = {}) {
  const log = openSqliteLog({ folder, limits: DEFAULT_LIMITS, durability: 'process' });
  const quick = { idleSessionMs: 1, ...limits };
  const services = sessionServices(log, tools, { folder, limits: quick });
  const directory = new SessionDirectory(services);
  const stop = () => directory.close().then(() => log.close());
  closers.push(stop);
  const asleep = () => until(() => Promise.resolve(directory.openCount === 0));
  return { directory, log, folder, stop, asleep, faults: services.faults };
}

/** A tool that reads a file called like its text. */
const readTool = () =>
  noteTool({
    call: (input) => {
      const path = `/${String(input['text'])}`;
      const record: FileReadRecord = { path, mtimeMs: 1, sizeBytes: 2, sha256: 'c0ffee', isPartial: false };
      return Promise.resolve({ data: input, contextModifier: (context) => withReadRecord(context, record) });
    },
  });

describe('a session that nobody uses', () => {
  it('leaves memory, and is woken as it was by whoever asks', async () => {
    const { directory, asleep } = server([rememberTool(), noteTool()]);
    const { id } = await directory.create('owner', { rules: { allow: ['Note'] }, title: 'kept' });
    const session = await directory.open('owner', id);
    await execute(session, [blockOf('Remember', 'a')]);
    await session.updatePermissions([{ type: 'setMode', mode: 'acceptEdits' }]);
    const before = session.describe();
    await asleep();
    const again = await directory.open('owner', id);
    expect(again).not.toBe(session);
    expect(again.describe()).toEqual(before);
    expect(again.context.toolState).toEqual({ a: true });
  });

  it('adds nothing to its log by sleeping, and goes on numbering after it', async () => {
    const { directory, asleep } = server([noteTool()]);
    const { id } = await directory.create('owner', {});
    await asleep();
    const again = await directory.open('owner', id);
    expect(again.bounds().head).toBe(1);
    await execute(again, [blockOf('Note', 'a')]);
    const seqs = (await framesOf(again)).map(({ seq }) => seq);
    expect(seqs).toEqual(seqs.map((_, place) => place + 1));
  });

  it('still knows which files it has read, after a nap and after a restart', async () => {
    const first = server([readTool()]);
    const { id } = await first.directory.create('owner', {});
    await execute(await first.directory.open('owner', id), [blockOf('Note', 'one'), blockOf('Note', 'two')]);
    await first.asleep();
    const awake = await first.directory.open('owner', id);
    expect(awake.context.readState.get('/one')).toMatchObject({ sha256: 'c0ffee' });
    await execute(awake, [blockOf('Note', 'three')]);
    await first.stop();
    const { readState } = (await server([readTool()], first.folder).directory.open('owner', id)).context;
    expect(['/one', '/two', '/three', '/four'].map((path) => readState.get(path)?.path)).toEqual([
      '/one',
      '/two',
      '/three',
      undefined,
    ]);
  });

  it('still knows what it read a few looks before a kill, although nothing else was saved', async () => {
    const first = server([readTool()], newFolder(), { idleSessionMs: 60_000 });
    const { id } = await first.directory.create('owner', {});
    const session = await first.directory.open('owner', id);
    await execute(session, [blockOf('Note', 'one'), blockOf('Note', 'two')]);
    await until(() => Promise.resolve(first.log.fact(id, 'reads') !== undefined));
    expect(first.log.find(id)?.snapshot).toBeUndefined();
    const second = server([readTool()], asAfterKill(first.folder));
    const { readState } = (await second.directory.open('owner', id)).context;
    expect(['/one', '/two'].map((path) => readState.get(path)?.sha256)).toEqual(['c0ffee', 'c0ffee']);
  });

  it('replays what it ran before, and refuses another input under the same id', async () => {
    const { tool, effects } = effectTool();
    const { directory, asleep } = server([tool]);
    const { id } = await directory.create('owner', { rules: { allow: ['Effect'] } });
    await execute(await directory.open('owner', id), [blockOf('Effect', 'a')], 'turn');
    await asleep();
    const again = await directory.open('owner', id);
    const { calls } = await execute(again, [blockOf('Effect', 'a')], 'turn');
    expect([effects, calls]).toMatchObject([['a'], [{ status: 'ok', replayed: true }]]);
    await expect(execute(again, [blockOf('Effect', 'a', 'other')])).rejects.toMatchObject({ code: 'conflict' });
    await expect(execute(again, [blockOf('Effect', 'b')], 'turn')).rejects.toMatchObject({
      details: { reason: 'turn_ended' },
    });
  });

  it('tells a late answer how its question was settled', async () => {
    const { directory, asleep } = server([effectTool().tool]);
    const { id } = await directory.create('owner', {});
    const session = await directory.open('owner', id);
    const submitted = await session.submit({ blocks: [blockOf('Effect', 'a')], onAsk: 'wait' });
    const { request_id } = await question(session);
    await session.answer(request_id, { behavior: 'allow' }, 'owner');
    await session.collect(submitted, AbortSignal.timeout(5_000));
    await asleep();
    const again = await directory.open('owner', id);
    await expect(again.answer(request_id, { behavior: 'deny' }, 'late')).rejects.toMatchObject({
      code: 'conflict',
      details: { behavior: 'allow', by: 'owner' },
    });
  });
});

describe('a session stays awake', () => {
  it.each([
    [
      'while a call runs',
      async (id: string, { directory }: ReturnType<typeof server>) => {
        const session = await directory.open('owner', id);
        await session.submit({ blocks: [blockOf('Slow', 'a')] });
        return () => session.cancel();
      },
    ],
    [
      'while a question is open',
      async (id: string, { directory }: ReturnType<typeof server>) => {
        const session = await directory.open('owner', id);
        await session.submit({ blocks: [blockOf('Effect', 'a')], onAsk: 'wait' });
        await question(session);
        return () => session.cancel();
      },
    ],
    [
      'while somebody is connected',
      async (id: string, { directory }: ReturnType<typeof server>) => {
        return (await directory.open('owner', id)).attach();
      },
    ],
    [
      'while a turn is open',
      async (id: string, { directory }: ReturnType<typeof server>) => {
        const feeder = (await directory.open('owner', id)).feeder(() => undefined);
        await feeder.toolUse('t', blockOf('Note', 'a'));
        return () => feeder.endTurn('t');
      },
    ],
    [
      'while a task of it runs in the background',
      async (id: string, { directory }: ReturnType<typeof server>) => {
        const session = await directory.open('owner', id);
        await execute(session, [blockOf('Task', 'a')]);
        const [task] = session.tasks.list();
        return () => void session.tasks.stop(task?.task_id ?? '');
      },
    ],
  ])('%s', async (_title, begin) => {
    const world = server([slowTool().tool, effectTool().tool, noteTool(), taskTool()]);
    const session = await world.directory.create('owner', {});
    const { id } = session;
    const end = await begin(id, world);
    const other = await world.directory.create('owner', {});
    await until(() => Promise.resolve(world.directory.openCount === 1));
    expect((await world.directory.list('owner', { limit: 9 })).sessions.map(({ session_id }) => session_id)).toEqual([
      other.id,
      id,
    ]);
    expect(await world.directory.open('owner', id)).toBe(session);
    end();
    await world.asleep();
    expect(world.faults).toEqual([]);
  });
});

describe('a snapshot', () => {
  it('holds tasks: one that ran when the server was killed has ended with it', async () => {
    const { directory, folder, log } = server([taskTool()], temporaryFolder(), { idleSessionMs: 60_000 });
    const session = await directory.create('owner', {});
    await execute(session, [blockOf('Task', 'ends')]);
    const [ends] = session.tasks.list();
    await session.tasks.stop(ends?.task_id ?? '');
    await execute(session, [blockOf('Task', 'runs')]);
    await session.save();
    await log.trim(session.id, { olderThan: '9999', bytes: 0 });
    const killed = server([taskTool()], asAfterKill(folder), { idleSessionMs: 60_000 });
    const again = await killed.directory.open('owner', session.id);
    expect(killed.log.bounds(session.id)?.first).toBeGreaterThan(1);
    expect(again.tasks.list()).toMatchObject([
      { description: 'ends', state: 'killed' },
      { description: 'runs', state: 'interrupted', note: expect.stringContaining('server stopped') as string },
    ]);
    expect((await framesOf(again)).map(({ type }) => type)).toContain('task_ended');
  });
});

describe('a list of sessions', () => {
  it('is read without waking those that sleep in good order', async () => {
    const first = server([noteTool()]);
    const described = [];
    for (const title of ['one', 'two', 'three'])
      described.unshift((await first.directory.create('owner', { title, mode: 'plan' })).describe());
    await first.stop();
    const { directory } = server([noteTool()], first.folder);
    expect(await directory.list('owner', { limit: 9 })).toEqual({ sessions: described });
    expect(directory.openCount).toBe(0);
  });

  it('brings those back to order that a crash left behind', async () => {
    const slow = slowTool();
    const first = server([slow.tool]);
    const session = await first.directory.create('owner', {});
    await session.submit({ blocks: [blockOf('Slow', 'a')] });
    await slow.isRunning('a');
    await first.log.close();
    const { directory } = server([slow.tool], first.folder);
    expect((await directory.list('owner', { limit: 9 })).sessions).toMatchObject([{ state: 'idle', running: [] }]);
    expect((await framesOf(await directory.open('owner', session.id))).at(-1)?.type).toBe('turn_end');
  });

  it('goes on page by page', async () => {
    const { directory } = server([noteTool()]);
    const ids = [];
    for (let count = 0; count < 5; count++) ids.unshift((await directory.create('owner', {})).id);
    const listed = [];
    for (let cursor: string | undefined, isMore = true; isMore; isMore = cursor !== undefined) {
      const page = await directory.list('owner', { limit: 2, cursor });
      listed.push(...page.sessions.map(({ session_id }) => session_id));
      cursor = page.cursor;
    }
    expect(listed).toEqual(ids);
  });
});

describe('a session with a long life', () => {
  it('keeps few of its calls in memory, and knows every id it ever saw', async () => {
    const { tool, effects } = effectTool();
    const { directory, log } = server([tool], temporaryFolder(), { keptRecords: 8, idleSessionMs: 60_000 });
    const session = await directory.create('owner', { rules: { allow: ['Effect'] } });
    const ids = Array.from({ length: 40 }, (_, place) => `call_${place}`);
    for (const id of ids) await execute(session, [blockOf('Effect', id)], `turn_${id}`);
    await until(() => Promise.resolve((log.find(session.id)?.snapshot?.seq ?? 0) > 0));
    for (const id of ids) {
      const { calls } = await execute(session, [blockOf('Effect', id)], `turn_${id}`);
      expect(calls).toMatchObject([{ tool_use_id: id, status: 'ok', replayed: true }]);
    }
    expect(effects).toEqual(ids);
    expect(log.fact(session.id, 'call:call_0')).toBeDefined();
  });

  it('puts aside what is over while an older turn goes on', async () => {
    const { tool, effects } = effectTool();
    const slow = slowTool('Slow', { isConcurrencySafe: () => true });
    const limits = { keptRecords: 8, idleSessionMs: 60_000 };
    const { directory, log } = server([tool, slow.tool, noteTool()], temporaryFolder(), limits);
    const session = await directory.create('owner', { rules: { allow: ['Effect'] } });
    const feeder = session.feeder(() => undefined);
    await feeder.toolUse('long', blockOf('Note', 'first'));
    for (let count = 0; count < 30; count++) await execute(session, [blockOf('Effect', `call_${count}`)]);
    await until(() => Promise.resolve(log.fact(session.id, 'call:call_20') !== undefined));
    expect(log.find(session.id)?.snapshot?.seq).toBe(1);
    for (let count = 0; count < 30; count++) await execute(session, [blockOf('Effect', `call_${count}`)]);
    expect(effects).toHaveLength(30);
    feeder.endTurn('long');
  });

  it('wakes from its last snapshot after a crash, with all that came after', async () => {
    const { tool, effects } = effectTool();
    const first = server([tool], temporaryFolder(), { keptRecords: 8, idleSessionMs: 60_000 });
    const session = await first.directory.create('owner', { rules: { allow: ['Effect'] } });
    const ids = Array.from({ length: 30 }, (_, place) => `call_${place}`);
    for (const id of ids) await execute(session, [blockOf('Effect', id)]);
    await first.log.close();
    const again = await server([tool], first.folder, { keptRecords: 8 }).directory.open('owner', session.id);
    for (const id of ids) await execute(again, [blockOf('Effect', id)]);
    expect(effects).toEqual(ids);
  });
});
