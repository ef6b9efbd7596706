/** TaskCreate, TaskGet, TaskList and TaskUpdate over a real store. */
import { afterAll, describe, expect, it } from 'vitest';
import { DEFAULT_LIMITS } from '../../../config/limits.ts';
import { type SHARED_STORE_BOUNDS } from '../../../src/log/shared-store.ts';
import { openSqliteLog } from '../../../src/log/sqlite-log.ts';
import { MAX_TASKS } from '../../../tools/lists/planned-tasks.ts';
import { taskCreateTool } from '../../../tools/lists/task-create.ts';
import { taskGetTool } from '../../../tools/lists/task-get.ts';
import { taskListTool } from '../../../tools/lists/task-list.ts';
import { taskUpdateTool } from '../../../tools/lists/task-update.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';
import { toolSession } from '../../helpers/tool-session.ts';

const closers: (() => Promise<unknown>)[] = [];
afterAll(async () => {
  for (const close of closers) await close();
});

/** The four tools of a new data directory, as two sessions of one tree and one of another see them. */
function taskTools(bounds: Partial<typeof SHARED_STORE_BOUNDS> = {}) {
  const log = openSqliteLog({ folder: temporaryFolder(), limits: DEFAULT_LIMITS, durability: 'process', bounds });
  closers.push(() => log.close());
  const services = { store: log.store };
  const [create, get, list, update] = [taskCreateTool, taskGetTool, taskListTool, taskUpdateTool].map((make) =>
    make(services),
  );
  return {
    ...{ create, get, list, update },
    session: toolSession('/w', { rootSessionId: 'ses_a' }),
    agent: toolSession('/w', { sessionId: 'ses_b', rootSessionId: 'ses_a' }),
    other: toolSession('/w', { rootSessionId: 'ses_c' }),
  };
}

const task = (subject: string, more: object = {}) => ({ subject, description: '', ...more });

/** A list of tasks, each named by its number. */
async function withTasks(count: number, ...bounds: Parameters<typeof taskTools>) {
  const tools = taskTools(...bounds);
  for (let number = 1; number <= count; number++) await tools.session.run(tools.create, task(`Step ${number}`));
  return tools;
}

describe('the task list', () => {
  it('is shared by a session and its agents, and by no other session', async () => {
    const { create, list, session, agent, other } = taskTools();
    expect(await session.run(create, task('Fix the login'))).toBe('Created task #1: Fix the login');
    expect(await agent.run(create, task('Test\nit'))).toBe('Created task #2: Test\nit');
    expect(await session.run(list, {})).toBe('#1 [pending] Fix the login\n#2 [pending] Test it');
    expect(await other.run(list, {})).toBe('The task list is empty. Add to it with TaskCreate');
  });

  it('takes the changes that agents make at the same time, all of them', async () => {
    const { create, list, session, agent } = taskTools();
    await Promise.all(
      Array.from({ length: 20 }, (_each, index) => (index % 2 ? session : agent).run(create, task(`Number ${index}`))),
    );
    expect((await session.run(list, {})).split('\n')).toHaveLength(20);
  });

  it('gives no number twice, deleted ones neither', async () => {
    const { create, update, session } = await withTasks(2);
    await session.run(update, { taskId: '2', status: 'deleted' });
    expect(await session.run(create, task('Another'))).toBe('Created task #3: Another');
  });

  it('says what to do when it is full, and takes more when tasks were deleted', async () => {
    const { create, update, session } = await withTasks(MAX_TASKS);
    expect(await session.refusal(create, task('Too much'))).toContain('has 500 tasks already. Delete finished tasks');
    await session.run(update, { taskId: '1', status: 'deleted' });
    expect(await session.run(create, task('Fits'))).toBe('Created task #501: Fits');
  });

  it('says that it is full where the store takes no more', async () => {
    const { create, session } = await withTasks(1, { sharedValueBytes: 500 });
    expect(await session.refusal(create, task('Long', { description: 'x'.repeat(500) }))).toContain(
      'the task list is full, no more is kept for your sessions',
    );
  });
});

describe('TaskUpdate', () => {
  it('says what changed, from what to what', async () => {
    const { update, session } = await withTasks(1);
    expect(await session.run(update, { taskId: '#1', status: 'in_progress', owner: 'ann' })).toBe(
      'Changed task #1: Step 1\n- status: pending → in_progress\n- owner: (none) → ann',
    );
    expect(await session.run(update, { taskId: '1', owner: '' })).toContain('- owner: ann → (none)');
    expect(await session.run(update, { taskId: '1', status: 'in_progress' })).toBe(
      'Task #1 is like that already: Step 1',
    );
  });

  it('links tasks, and says what can begin when one is completed', async () => {
    const { get, list, update, session } = await withTasks(3);
    expect(await session.run(update, { taskId: '1', addBlocks: ['2'] })).toContain('- blocks #2');
    expect(await session.run(update, { taskId: '3', addBlockedBy: ['1', '2'] })).toContain('- waits for #1, #2');
    expect(await session.run(list, {})).toBe(
      '#1 [pending] Step 1\n#2 [pending] Step 2 [blocked by #1]\n#3 [pending] Step 3 [blocked by #1, #2]',
    );
    expect(await session.run(update, { taskId: '3', status: 'in_progress' })).toContain('Note: it waits for #1, #2');
    expect(await session.run(update, { taskId: '1', status: 'completed' })).toContain('Can begin now: #2');
    expect(await session.run(get, { taskId: '3' })).toBe(
      'Task #3: Step 3\nStatus: in_progress\nBlocked by: #1, #2 (still open: #2)\nDescription: (none)',
    );
    expect(await session.run(update, { taskId: '2', status: 'deleted' })).toBe(
      'Deleted task #2: Step 2\nCan begin now: #3',
    );
    expect(await session.run(get, { taskId: '3' })).toContain('Blocked by: #1 (all completed)');
  });

  it('refuses links in a circle, names it, and changes nothing', async () => {
    const { get, update, session } = await withTasks(3);
    await session.run(update, { taskId: '1', addBlocks: ['2'] });
    await session.run(update, { taskId: '2', addBlocks: ['3'] });
    const message = await session.refusal(update, { taskId: '3', addBlocks: ['1'], subject: 'Renamed' });
    expect(message).toContain('#1 waits for #3 waits for #2 waits for #1, so none could begin');
    expect(await session.refusal(update, { taskId: '1', addBlockedBy: ['1'] })).toContain('#1 waits for #1');
    expect(await session.run(get, { taskId: '3' })).toContain('Task #3: Step 3');
  });

  it('finds a circle through many tasks', async () => {
    const { update, session } = await withTasks(80);
    for (let number = 2; number <= 80; number++)
      await session.run(update, { taskId: String(number), addBlockedBy: [String(number - 1)] });
    expect(await session.refusal(update, { taskId: '1', addBlockedBy: ['80'] })).toContain('Cannot link these tasks');
  });

  it('merges metadata, and removes what is null', async () => {
    const { get, update, session } = await withTasks(1);
    await session.run(update, { taskId: '1', metadata: { files: ['a.ts'], tries: 1 } });
    await session.run(update, { taskId: '1', metadata: { tries: null, done: false } });
    expect(await session.run(get, { taskId: '1' })).toContain('Metadata: {"files":["a.ts"],"done":false}');
  });

  it.each([
    [{ taskId: '7', status: 'completed' }, 'There is no task "7". There are #1: look with TaskList'],
    [{ taskId: '1', addBlocks: ['9'] }, 'There is no task "9"'],
    [{ taskId: '1' }, 'names nothing to change'],
  ])('refuses %j', async (input, words) => {
    const { update, session } = await withTasks(1);
    expect(await session.refusal(update, input)).toContain(words);
  });

  it('refuses metadata beyond its bound, added up too', async () => {
    const { update, session } = await withTasks(1);
    await session.run(update, { taskId: '1', metadata: { a: 'x'.repeat(6_000) } });
    const message = await session.refusal(update, { taskId: '1', metadata: { b: 'x'.repeat(6_000) } });
    expect(message).toContain('more than 10000 characters. Remove keys with null');
    expect(await session.refusal(update, { taskId: '1', metadata: { c: 'x'.repeat(10_000) } })).toContain(
      'at most 10000',
    );
  });
});

describe('what people see of the task list', () => {
  const tools = taskTools();

  it('draws an input that is still streaming in', () => {
    expect(tools.create?.renderToolUseMessage({} as never).title).toBe('New task: …');
    expect(tools.update?.renderToolUseMessage({ taskId: 4 } as never).title).toBe('Change task #…');
    expect(tools.get?.renderToolUseMessage({ taskId: '4' } as never).title).toBe('Task #4');
  });

  it('only reads where it only looks', () => {
    expect([tools.get, tools.list].map((tool) => tool?.isReadOnly({} as never))).toEqual([true, true]);
    expect([tools.create, tools.update].map((tool) => tool?.isReadOnly({} as never))).toEqual([false, false]);
    expect([tools.get, tools.list].map((tool) => tool?.isConcurrencySafe({} as never))).toEqual([true, true]);
  });
});
