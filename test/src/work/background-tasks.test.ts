/** Work goes on after its call and is asked about later. */
import { describe, expect, it } from 'vitest';
import { DEFAULT_LIMITS } from '../../../config/limits.ts';
import { createBackgroundTasks } from '../../../src/work/background-tasks.ts';
import type { TaskEnd } from '../../../src/work/background-tasks.ts';

/** Work that speaks and ends when the test says so; a stop ends it as well. */
function puppet() {
  let say: (text: string) => void = () => undefined;
  let finish: (end: TaskEnd) => void = () => undefined;
  const end = new Promise<TaskEnd>((resolve) => (finish = resolve));
  const work = {
    sessionId: 'one',
    kind: 'puppet',
    description: 'does as it is told',
    run: (task: { readonly signal: AbortSignal; say(text: string): void }) => {
      say = task.say;
      task.signal.addEventListener('abort', () => finish({ status: 'completed' }));
      return end;
    },
  };
  return { work, say: (text: string) => say(text), finish: (how: TaskEnd) => finish(how) };
}

describe('background tasks', () => {
  const patient = { until: 'end', signal: new AbortController().signal, timeoutMs: 5_000 } as const;
  const registry = () => createBackgroundTasks({ limits: { ...DEFAULT_LIMITS, backgroundTasks: 2, endedTasks: 2 } });

  it('give what is new since they were last asked', async () => {
    const tasks = registry();
    const { work, say } = puppet();
    const { id } = tasks.start(work);
    await Promise.resolve();
    say('one ');
    say('two');
    expect(tasks.read('one', id)).toMatchObject({ status: 'running', news: { head: 'one two' } });
    say('three');
    expect(tasks.read('one', id).news.head).toBe('three');
  });

  it('tell how they ended', async () => {
    const tasks = registry();
    const { work, finish } = puppet();
    const { id } = tasks.start(work);
    finish({ status: 'failed', exitCode: 3, outputPath: '/x' });
    await tasks.wait('one', id, patient);
    expect(tasks.read('one', id)).toMatchObject({ status: 'failed', exitCode: 3, outputPath: '/x' });
  });

  it('that throw have failed with what they threw', async () => {
    const tasks = registry();
    const { id } = tasks.start({ ...puppet().work, run: () => Promise.reject(new Error('no luck')) });
    await tasks.wait('one', id, patient);
    expect(tasks.read('one', id)).toMatchObject({ status: 'failed', note: 'no luck' });
  });

  it('are killed by a stop, which waits for their end', async () => {
    const tasks = registry();
    const { id } = tasks.start(puppet().work);
    expect(await tasks.stop('one', id)).toMatchObject({ status: 'killed' });
  });

  it('are waited for until news, time or a cancel', async () => {
    const tasks = registry();
    const { work, say } = puppet();
    const { id } = tasks.start(work);
    await tasks.wait('one', id, { ...patient, timeoutMs: 1 });
    const news = tasks.wait('one', id, { ...patient, until: 'news' });
    await Promise.resolve();
    say('hello');
    await news;
    await expect(tasks.wait('one', id, { ...patient, signal: AbortSignal.abort(new Error('enough')) })).rejects.toThrow(
      'enough',
    );
  });

  it('belong to their session alone', () => {
    const tasks = registry();
    const { id } = tasks.start(puppet().work);
    expect(() => tasks.read('two', id)).toThrow(`Cannot find task "${id}". This session has none`);
    expect(tasks.list('two')).toEqual([]);
  });

  it('are as many as a session may run', async () => {
    const tasks = registry();
    const first = tasks.start(puppet().work);
    tasks.start(puppet().work);
    expect(() => tasks.start(puppet().work)).toThrow('Cannot start another background task: 2 run already');
    await tasks.stop('one', first.id);
    expect(tasks.start(puppet().work).status).toBe('running');
  });

  it('that ended long ago are forgotten', async () => {
    const tasks = registry();
    const ids: string[] = [];
    for (let count = 0; count < 4; count += 1) {
      ids.push(tasks.start(puppet().work).id);
      await tasks.stop('one', ids.at(-1) ?? '');
    }
    tasks.start(puppet().work);
    expect(tasks.list('one').map(({ id }) => id)).toEqual([ids[2], ids[3], expect.any(String)]);
  });

  it('end all together with their session', async () => {
    const tasks = registry();
    tasks.start(puppet().work);
    tasks.start(puppet().work);
    await tasks.stopAll('one');
    expect(tasks.list('one')).toEqual([]);
  });

  it('keep beginning and end of what is too long', async () => {
    const tasks = createBackgroundTasks({ limits: { ...DEFAULT_LIMITS, taskNewsHeadChars: 3, taskNewsTailChars: 2 } });
    const { work, say } = puppet();
    const { id } = tasks.start(work);
    await Promise.resolve();
    say('abcdefghij');
    expect(tasks.read('one', id).news).toEqual({ head: 'abc', tail: 'ij', omittedChars: 5, totalChars: 10 });
  });
});
