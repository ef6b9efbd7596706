/**
 * Work that goes on after its call has ended: commands now, agents too.
 *
 * A session sees its own tasks only. What a task says is kept until it is asked for, within bounds;
 * the whole of it stands in the file the task names, if it names one.
 */
import { randomBytes } from 'node:crypto';
import type { Limits } from '../../config/limits.ts';
import { errorMessage, GauntletError } from '../contract/errors.ts';
import { createTextWindow } from '../process/text-window.ts';
import type { TextWindow, WindowedText } from '../process/text-window.ts';

/** How far a task has come. */
export type TaskStatus = 'running' | 'completed' | 'failed' | 'killed';

/** How a task's work ended. */
export interface TaskEnd {
  readonly status: Exclude<TaskStatus, 'running'>;
  readonly exitCode?: number;
  /** A sentence about the end, for the model. */
  readonly note?: string;
  /** Absolute path of the whole output. */
  readonly outputPath?: string;
}

/** Work to be done in the background. */
export interface TaskWork {
  readonly sessionId: string;
  /** What sort of task: first half of its id. Lower-case letters. */
  readonly kind: string;
  /** One line for people. */
  readonly description: string;
  /**
   * Does the work. `signal` is aborted when the task is stopped: end everything, then settle.
   * A rejection counts as `failed`, or as `killed` after a stop.
   */
  run(task: { readonly id: string; readonly signal: AbortSignal; say(text: string): void }): Promise<TaskEnd>;
}

/** A task as its session sees it. */
export interface TaskView extends Partial<Omit<TaskEnd, 'status'>> {
  readonly id: string;
  readonly kind: string;
  readonly description: string;
  readonly status: TaskStatus;
  /** ISO 8601. */
  readonly startedAt: string;
}

/** A task and what it has said since it was last asked. */
export interface TaskReading extends TaskView {
  readonly news: WindowedText;
}

/** What to wait for, and how long. */
export interface TaskWait {
  readonly until: 'end' | 'news';
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

/** All background tasks of the server. Methods with an id throw {GauntletError} `tool_failed` when the session has no such task. */
export interface BackgroundTasks {
  /** @throws {GauntletError} `resource_exhausted` when the session runs as many as it may. */
  start(work: TaskWork): TaskView;
  list(sessionId: string): readonly TaskView[];
  /** What is new; the next reading begins after it. */
  read(sessionId: string, id: string): TaskReading;
  /** Resolves when the task has ended, or, for news, has something to read; or after the time. Rejects with the signal's reason. */
  wait(sessionId: string, id: string, wait: TaskWait): Promise<void>;
  /** Resolves when all that the task started has ended; at once for one that had. */
  stop(sessionId: string, id: string): Promise<TaskView>;
  /** End all tasks of a session and forget them. */
  stopAll(sessionId: string): Promise<void>;
}

interface Task {
  view: TaskView;
  readonly news: TextWindow;
  /** Those who wait for the next piece of news, each told once. */
  readonly listeners: Set<() => void>;
  readonly controller: AbortController;
  /** Settles when the work has; never rejects. */
  readonly ended: Promise<void>;
}

/** What a registry is bounded by. */
export type BackgroundTaskLimits = Pick<
  Limits,
  'backgroundTasks' | 'endedTasks' | 'taskNewsHeadChars' | 'taskNewsTailChars'
>;

/** A task that was stopped before its work began. */
const STOPPED: TaskEnd = { status: 'killed' };

/** Make an empty registry. */
export function createBackgroundTasks({ limits }: { readonly limits: BackgroundTaskLimits }): BackgroundTasks {
  const sessions = new Map<string, Map<string, Task>>();

  function find(sessionId: string, id: string): Task {
    const task = sessions.get(sessionId)?.get(id);
    if (task !== undefined) return task;
    const known = [...(sessions.get(sessionId)?.keys() ?? [])];
    const hint =
      known.length === 0 ? 'This session has none' : `This session has ${known.map((each) => `"${each}"`).join(', ')}`;
    throw new GauntletError('tool_failed', `Cannot find task "${id}". ${hint}`);
  }

  function start(work: TaskWork): TaskView {
    const tasks = sessions.get(work.sessionId) ?? new Map<string, Task>();
    const running = [...tasks.values()].filter(isRunning).length;
    if (running >= limits.backgroundTasks) {
      throw new GauntletError(
        'resource_exhausted',
        `Cannot start another background task: ${running} run already. Stop one first`,
      );
    }
    sessions.set(work.sessionId, tasks);
    const task = begin(work, limits);
    tasks.set(task.view.id, task);
    forgetOldest(tasks, limits.endedTasks);
    return task.view;
  }

  return {
    start,
    list: (sessionId) => [...(sessions.get(sessionId)?.values() ?? [])].map(({ view }) => view),
    read(sessionId, id) {
      const task = find(sessionId, id);
      const news = task.news.read();
      task.news.clear();
      return { ...task.view, news };
    },
    async wait(sessionId, id, wait) {
      const task = find(sessionId, id);
      const hasNews = wait.until === 'news' && task.news.read().totalChars > 0;
      if (isRunning(task) && !hasNews) await within(task, wait);
    },
    async stop(sessionId, id) {
      const task = find(sessionId, id);
      await end(task);
      return task.view;
    },
    async stopAll(sessionId) {
      const tasks = [...(sessions.get(sessionId)?.values() ?? [])];
      sessions.delete(sessionId);
      await Promise.all(tasks.map(end));
    },
  };
}

function begin(work: TaskWork, limits: BackgroundTaskLimits): Task {
  const { kind, description } = work;
  const id = `${kind}_${randomBytes(4).toString('hex')}`;
  const controller = new AbortController();
  const news = createTextWindow({
    wholeChars: limits.taskNewsHeadChars + limits.taskNewsTailChars,
    headChars: limits.taskNewsHeadChars,
    tailChars: limits.taskNewsTailChars,
  });
  const listeners = new Set<() => void>();
  function say(text: string): void {
    news.add(text);
    for (const listener of listeners) listener();
    listeners.clear();
  }
  // The work begins after this function, so that it finds its task registered.
  const ended = Promise.resolve()
    .then(() => (controller.signal.aborted ? STOPPED : work.run({ id, signal: controller.signal, say })))
    .catch((error: unknown): TaskEnd => ({ status: 'failed', note: errorMessage(error) }))
    .then((end) => {
      task.view = { ...task.view, ...end, status: controller.signal.aborted ? 'killed' : end.status };
    });
  const view: TaskView = { id, kind, description, status: 'running', startedAt: new Date().toISOString() };
  const task: Task = { view, news, listeners, controller, ended };
  return task;
}

/** Ended tasks are kept for whoever still asks, the latest of them. */
function forgetOldest(tasks: Map<string, Task>, mostEnded: number): void {
  const ended = [...tasks].filter(([, task]) => !isRunning(task));
  for (const [id] of ended.slice(0, Math.max(0, ended.length - mostEnded))) tasks.delete(id);
}

function isRunning({ view }: Task): boolean {
  return view.status === 'running';
}

async function end(task: Task): Promise<void> {
  if (isRunning(task)) task.controller.abort(new GauntletError('cancelled', `Stopped: ${task.view.description}`));
  await task.ended;
}

/** Wait no longer than asked, and leave neither timer nor listener behind. */
function within({ ended, listeners }: Task, { until, signal, timeoutMs }: TaskWait): Promise<void> {
  return new Promise<void>((resolve, reject) => {
    const timer = setTimeout(finish, timeoutMs);
    function finish(): void {
      clearTimeout(timer);
      listeners.delete(finish);
      signal.removeEventListener('abort', finish);
      if (signal.aborted) reject(signal.reason as Error);
      else resolve();
    }
    if (signal.aborted) return finish();
    signal.addEventListener('abort', finish, { once: true });
    if (until === 'news') listeners.add(finish);
    void ended.then(finish);
  });
}
