/** Work goes on after its call and is asked about later. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { TaskEnd, TaskView } from '../../../src/tool/task.ts';
import { SERVER_STOPPED } from '../../../src/tasks/task-frames.ts';
import { testTasks } from '../../helpers/session-tasks.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';
import { until } from '../../helpers/wire-client.ts';

const call = { toolUseId: 'call-1', signal: new AbortController().signal };
const patient = { signal: new AbortController().signal, timeoutMs: 5_000 };

/** Work that speaks and ends when the test says so; a stop ends it as well. */
function puppet() {
  let say: (text: string) => void = () => undefined;
  let finish: (end: TaskEnd) => void = () => undefined;
  let hasBegun = false;
  const end = new Promise<TaskEnd>((resolve) => (finish = resolve));
  const work = {
    kind: 'puppet',
    description: 'does as it is told',
    run: (task: { readonly signal: AbortSignal; say(text: string): void }) => {
      hasBegun = true;
      say = task.say;
      task.signal.addEventListener('abort', () => finish({ status: 'completed' }));
      return end;
    },
  };
  return {
    work,
    begun: () => hasBegun,
    say: (text: string) => say(text),
    finish: (how: TaskEnd) => finish(how),
  };
}

/** A task that an earlier server ran. */
function earlier(changes: Partial<TaskView> = {}): TaskView {
  const { status: state, note } = SERVER_STOPPED;
  const startedAt = '2026-01-02T03:04:05.678Z';
  return { id: 'bash_1', toolUseId: 'call-0', kind: 'bash', description: 'seq', state, note, startedAt, ...changes };
}

describe('background tasks', () => {
  const few = { backgroundTasks: 2 };

  it('give what is new since they were last asked', async () => {
    const { tasks } = testTasks();
    const { work, say } = puppet();
    const { id } = await tasks.start(work, call);
    say('one ');
    say('two');
    expect(await tasks.read(id)).toMatchObject({ state: 'running', news: { head: 'one two' } });
    say('three');
    expect((await tasks.read(id)).news.head).toBe('three');
  });

  it('are frames: start, output and end, with the call that started them', async () => {
    const { tasks, frames } = testTasks();
    const { work, say, finish } = puppet();
    const { id } = await tasks.start({ ...work, outputPath: (taskId) => `/out/${taskId}` }, call);
    say('hello');
    finish({ status: 'failed', exitCode: 3, note: 'no luck' });
    await tasks.wait(id, patient);
    expect(frames).toEqual([
      {
        type: 'task_started',
        task_id: id,
        tool_use_id: 'call-1',
        kind: 'puppet',
        description: 'does as it is told',
        output_path: `/out/${id}`,
      },
      { type: 'task_output', task_id: id, n: 1, text: 'hello' },
      { type: 'task_ended', task_id: id, status: 'failed', exit_code: 3, note: 'no luck' },
    ]);
    expect(tasks.list).toMatchObject([{ id, state: 'failed', exitCode: 3, endedAt: expect.any(String) }]);
  });

  it('are not heard any more once they have ended', async () => {
    const { tasks, frames } = testTasks();
    const { work, say, finish } = puppet();
    const { id } = await tasks.start(work, call);
    finish({ status: 'completed' });
    await tasks.wait(id, patient);
    say('too late');
    expect([frames.at(-1)?.type, (await tasks.read(id)).news.totalChars]).toEqual(['task_ended', 0]);
  });

  it('that end with what is no end have failed', async () => {
    const { tasks, frames } = testTasks();
    const end = { status: 'completed', exitCode: 1n } as unknown as TaskEnd;
    const { id } = await tasks.start({ ...puppet().work, run: () => Promise.resolve(end) }, call);
    await tasks.wait(id, patient);
    expect(frames.at(-1)).toMatchObject({
      type: 'task_ended',
      status: 'failed',
      note: expect.stringContaining('invalid') as string,
    });
  });

  it('have a kind that fits into an address', async () => {
    const { tasks, frames } = testTasks();
    await expect(tasks.start({ ...puppet().work, kind: '../x' }, call)).rejects.toMatchObject({ code: 'tool_failed' });
    expect(frames).toEqual([]);
  });

  it('begin when their start is on disk, and not at all where the disk refuses it', async () => {
    const { work, begun } = puppet();
    const { tasks } = testTasks({}, [], () => Promise.reject(new Error('disk full')));
    await expect(tasks.start(work, call)).rejects.toThrow('disk full');
    expect([begun(), tasks.list, tasks.runningCount]).toEqual([false, [], 0]);
  });

  it('do not begin when their call was cancelled meanwhile', async () => {
    const { tasks, frames } = testTasks();
    const { work, begun } = puppet();
    const { id } = await tasks.start(work, { ...call, signal: AbortSignal.abort() });
    await tasks.wait(id, patient);
    expect([begun(), frames.at(-1)]).toEqual([false, { type: 'task_ended', task_id: id, status: 'killed' }]);
  });

  it('that throw have failed with what they threw', async () => {
    const { tasks } = testTasks();
    const work = { ...puppet().work, run: () => Promise.reject(new Error('no luck')) };
    const { id } = await tasks.start(work, call);
    await tasks.wait(id, patient);
    expect(await tasks.read(id)).toMatchObject({ state: 'failed', note: 'no luck' });
  });

  it('are killed by a stop, which waits for their end', async () => {
    const { tasks } = testTasks();
    const { id } = await tasks.start(puppet().work, call);
    expect(await tasks.stop(id)).toMatchObject({ state: 'killed' });
  });

  it('tell whoever waits what was not read, and what is new', async () => {
    const { tasks } = testTasks();
    const { work, say, finish } = puppet();
    const { id } = await tasks.start(work, call);
    say('early ');
    const told: string[] = [];
    const waiting = tasks.wait(id, { ...patient, onText: (text) => told.push(text) });
    await until(() => Promise.resolve(told.length === 1));
    say('late');
    finish({ status: 'completed' });
    await waiting;
    expect(told).toEqual(['early ', 'late']);
    expect((await tasks.read(id)).news.head).toBe('early late');
  });

  it('are waited for until the time is over or the wait is cancelled', async () => {
    const { tasks } = testTasks();
    const { id } = await tasks.start(puppet().work, call);
    await tasks.wait(id, { ...patient, timeoutMs: 1 });
    const cancelled = { ...patient, signal: AbortSignal.abort(new Error('enough')) };
    await expect(tasks.wait(id, cancelled)).rejects.toThrow('enough');
  });

  it('are as many as a session may run', async () => {
    const { tasks } = testTasks(few);
    const first = await tasks.start(puppet().work, call);
    await tasks.start(puppet().work, call);
    await expect(tasks.start(puppet().work, call)).rejects.toThrow(
      'Cannot start another background task: 2 run already',
    );
    await tasks.stop(first.id);
    expect((await tasks.start(puppet().work, call)).state).toBe('running');
  });

  it('that ended long ago are forgotten', async () => {
    const { tasks } = testTasks(few);
    const ids: string[] = [];
    for (let count = 0; count < 66; count += 1) {
      ids.push((await tasks.start(puppet().work, call)).id);
      await tasks.stop(ids.at(-1) ?? '');
    }
    await tasks.start(puppet().work, call);
    expect(tasks.list.map(({ id }) => id)).toEqual([...ids.slice(2), expect.any(String)]);
  });

  it('end all together, as interrupted when the server stops', async () => {
    const { tasks, frames } = testTasks();
    await tasks.start(puppet().work, call);
    await tasks.start(puppet().work, call);
    await tasks.stopAll(SERVER_STOPPED);
    expect(tasks.list).toMatchObject([{ state: 'interrupted' }, { state: 'interrupted' }]);
    expect(frames.filter(({ type }) => type === 'task_ended')).toHaveLength(2);
  });

  it('keep beginning and end of what is too long', async () => {
    const { tasks } = testTasks();
    const { work, say } = puppet();
    const { id } = await tasks.start(work, call);
    say(`${'a'.repeat(6_000)}${'b'.repeat(5)}${'c'.repeat(18_000)}`);
    expect((await tasks.read(id)).news).toEqual({
      head: 'a'.repeat(6_000),
      tail: 'c'.repeat(18_000),
      omittedChars: 5,
      totalChars: 24_005,
    });
  });

  it('say which there are when there is none of that name', async () => {
    const { tasks } = testTasks({}, [earlier()]);
    await expect(tasks.read('bash_2')).rejects.toThrow('Cannot find task "bash_2". This session has "bash_1"');
  });

  it('that speak without end send ever fewer frames, each of bounded size', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const { tasks, frames } = testTasks();
    const { work, say } = puppet();
    await tasks.start(work, call);
    /** Frames of so many seconds in which the task speaks all the time. */
    const framesIn = (seconds: number) => {
      const before = frames.length;
      for (let tick = 0; tick < seconds * 20; tick += 1) {
        say('0123456789abcdef');
        vi.advanceTimersByTime(50);
      }
      return frames.length - before;
    };
    expect(framesIn(5)).toBeGreaterThan(45);
    framesIn(3_600);
    expect(framesIn(600)).toBeLessThan(30);
    for (const frame of frames) if (frame.type === 'task_output') expect(frame.text.length).toBeLessThan(17_000);
  });
});

describe('a task of an earlier server', () => {
  const folder = temporaryFolder();
  function kept(text: string): string {
    const path = join(folder, `${text.length}.output`);
    writeFileSync(path, text);
    return path;
  }

  it('gives what its file keeps, once', async () => {
    const { tasks } = testTasks({}, [earlier({ outputPath: kept('short') })]);
    expect(await tasks.read('bash_1')).toMatchObject({ state: 'interrupted', news: { head: 'short', totalChars: 5 } });
    expect((await tasks.read('bash_1')).news.totalChars).toBe(0);
  });

  it('gives beginning and end of a long one', async () => {
    const { tasks } = testTasks({}, [
      earlier({ outputPath: kept(`${'a'.repeat(6_000)}${'b'.repeat(5)}${'c'.repeat(18_000)}`) }),
    ]);
    expect((await tasks.read('bash_1')).news).toEqual({
      head: 'a'.repeat(6_000),
      tail: 'c'.repeat(18_000),
      omittedChars: 5,
      totalChars: 24_005,
    });
  });

  it('says so where the file is gone', async () => {
    const { tasks } = testTasks({}, [earlier({ outputPath: join(folder, 'gone') })]);
    const { note, news } = await tasks.read('bash_1');
    expect(note).toMatch(/^The server stopped, .* Its output cannot be read: /);
    expect(news.totalChars).toBe(0);
  });

  it('has ended: a wait returns at once and a stop changes nothing', async () => {
    const { tasks, frames } = testTasks({}, [earlier()]);
    await tasks.wait('bash_1', patient);
    expect(await tasks.stop('bash_1')).toMatchObject({ state: 'interrupted' });
    expect(frames).toEqual([]);
  });
});
