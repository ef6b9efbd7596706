/**
 * The background tasks of one session: each is logged as frames, and its output goes to a file if it names one.
 *
 * Unread output is kept in memory, within limits. For a task of an earlier server, or one that ended before its session
 * was loaded again, it is read from the file.
 */
import { randomBytes } from 'node:crypto';
import * as z from 'zod';
import type { Limits } from '../../config/limits.ts';
import { cutText, type WindowedText } from '../base/cut-text.ts';
import { errorMessage, GauntletError } from '../base/errors.ts';
import { paceOutput } from '../process/paced-output.ts';
import { createTextWindow, type TextWindow } from '../process/text-window.ts';
import type { OpenChild } from '../tool/inner-call.ts';
import type { TaskEnd, TaskReading, TaskView, TaskWait, TaskWork } from '../tool/task.ts';
import { PROGRESS_MS } from '../tool/tool.ts';
import type { TaskEndedFrame, TaskOutputFrame, TaskStartedFrame, TaskStatus } from '../wire/frames.ts';
import { endedFrame, startedFrame, type TaskStop } from './task-frames.ts';

const EMPTY_OUTPUT: WindowedText = { head: '', tail: '', omittedChars: 0, totalChars: 0 };

/** The kind is the first part of an id, which must fit into a URL. */
const KIND = /^[a-z]{1,32}$/;

/** Longest description in a frame, which may be a whole script, in characters. */
const DESCRIPTION_CHARS = 200;

/** Output frames after which the interval doubles, again and again: a task that runs for days does not fill the log. */
const FRAMES_PER_PACE = 100;

const MAX_PACE_MS = 60_000;

/** Tasks that have ended and can still be asked about; of each some 24 KiB are kept. */
const MAX_ENDED_TASKS = 64;

/** Output of a task since it was last read: the beginning, if it is too long for a model. */
const NEWS_HEAD_CHARS = 6_000;

/** Its end, which says how it stands. */
const NEWS_TAIL_CHARS = 18_000;

/** The bounds of a session's tasks. */
export type TaskLimits = Pick<Limits, 'abandonMs' | 'backgroundTasks'>;

/** Services of the session that its tasks use. */
export interface SessionTaskParts {
  readonly limits: TaskLimits;
  /** Log a start. Resolves once it is on disk. */
  logStart(frame: TaskStartedFrame): Promise<unknown>;
  /** Log a piece of output; it may be lost. */
  logOutput(frame: TaskOutputFrame): void;
  /** Log an end; retried until it is on disk. */
  logEnd(frame: TaskEndedFrame): void;
  readonly readFile: ReadFileRange;
}

/** The call that starts a task. */
export interface TaskCall {
  readonly toolUseId: string;
  readonly signal: AbortSignal;
  /** Opens child sessions for a task that this call starts; absent: nothing does. */
  childrenOf?(task: TaskOpener): TaskChildren;
}

/** A task, as the sessions that it opens see it. */
export interface TaskOpener {
  readonly signal: AbortSignal;
  /** Reason for which it was stopped; undefined if it was not. */
  stoppedBy(): TaskStop | undefined;
}

/** The child sessions of one task. */
export interface TaskChildren {
  readonly open: OpenChild;
  /** Ends them all, and lets no more begin. */
  end(): Promise<void>;
}

/** Validated at run time: a plugin's work may return anything, and a value that JSON cannot hold would stop the log. */
const TaskEndSchema: z.ZodType<TaskEnd> = z.object({
  status: z.enum(['completed', 'failed']),
  exitCode: z.int().optional(),
  note: z.string().optional(),
  isOutputLost: z.boolean().optional(),
});

const NO_CHILDREN: TaskChildren = {
  open: () => Promise.reject(new GauntletError('tool_failed', 'There are no child sessions here')),
  end: () => Promise.resolve(),
};

const INVALID_END: TaskEnd = { status: 'failed', note: 'The work of the task gave an invalid result' };

interface Task {
  view: TaskView;
  /** Unread output; `undefined` if it must be read from the file. */
  news: TextWindow | undefined;
  /** Called with each piece of output. */
  readonly listeners: Set<(text: string) => void>;
  readonly controller: AbortController;
  /** Set before the controller is aborted. */
  stop?: TaskStop;
  /** Resolves when the work has ended; never rejects. */
  ended: Promise<void>;
}

/** The tasks of one session. Methods with an id throw {GauntletError} `tool_failed` if there is no such task. */
export class SessionTasks {
  readonly #parts: SessionTaskParts;
  /** By start, earliest first. */
  readonly #tasks = new Map<string, Task>();

  /** @param logged Tasks found in the log; all of them have ended. */
  constructor(parts: SessionTaskParts, logged: readonly TaskView[] = []) {
    this.#parts = parts;
    for (const view of logged) this.#tasks.set(view.id, loggedTask(view));
    this.#forgetOldest();
  }

  /** Running tasks, and the latest of those that have ended. */
  get list(): readonly TaskView[] {
    return [...this.#tasks.values()].map(({ view }) => view);
  }

  get runningCount(): number {
    return [...this.#tasks.values()].filter(isRunning).length;
  }

  /** As `Tasks.start`. If the call is cancelled meanwhile, the task is stopped. */
  async start(work: TaskWork, call: TaskCall): Promise<TaskView> {
    const { limits, logStart } = this.#parts;
    if (!KIND.test(work.kind)) throw new GauntletError('tool_failed', `Cannot start a task of kind "${work.kind}"`);
    if (this.runningCount >= limits.backgroundTasks) {
      const message = `Cannot start another background task: ${limits.backgroundTasks} run already. Stop one first`;
      throw new GauntletError('resource_exhausted', message);
    }
    const task = newTask(work, call);
    const { id } = task.view;
    this.#tasks.set(id, task);
    this.#forgetOldest();
    const logged = logStart(startedFrame(task.view));
    task.ended = logged.then(
      () => {
        if (call.signal.aborted) stopNow(task, { status: 'killed' });
        return this.#run(task, work, call);
      },
      () => void this.#tasks.delete(id),
    );
    await logged;
    return task.view;
  }

  /** As `Tasks.read`. */
  async read(taskId: string): Promise<TaskReading> {
    const task = this.#find(taskId);
    const { news } = task;
    if (news) {
      const unread = news.read();
      news.clear();
      return { ...task.view, news: unread };
    }
    // Set before the file is read: a concurrent or later reading then returns only new output, which is none.
    task.news = newsWindow();
    return { ...task.view, ...(await readStoredOutput(task.view, this.#parts.readFile)) };
  }

  /** As `Tasks.wait`. */
  async wait(taskId: string, wait: TaskWait): Promise<void> {
    const task = this.#find(taskId);
    const unread = task.news?.read();
    if (unread && unread.totalChars > 0) wait.onText?.(unread.omittedChars === 0 ? unread.head : unread.tail);
    if (isRunning(task)) await untilEnd(task, wait);
  }

  /** As `Tasks.stop`. */
  async stop(taskId: string): Promise<TaskView> {
    const task = this.#find(taskId);
    stopNow(task, { status: 'killed' });
    await task.ended;
    return task.view;
  }

  /** Stop all running tasks. Resolves when everything they started has ended. */
  async stopAll(how: TaskStop): Promise<void> {
    const tasks = [...this.#tasks.values()];
    for (const task of tasks) stopNow(task, how);
    await Promise.all(tasks.map(({ ended }) => ended));
  }

  async #run(task: Task, work: TaskWork, call: TaskCall): Promise<void> {
    const { limits, logOutput, logEnd } = this.#parts;
    const { id } = task.view;
    const { signal } = task.controller;
    let count = 0;
    const paceMs = () => Math.min(PROGRESS_MS * 2 ** Math.floor(count / FRAMES_PER_PACE), MAX_PACE_MS);
    const output = paceOutput(
      (_stream, text) => logOutput({ type: 'task_output', task_id: id, n: ++count, text }),
      paceMs,
    );
    let hasEnded = false;
    function say(text: string): void {
      // The frame of the end must be the last one.
      if (hasEnded) return;
      task.news?.add(text);
      for (const listener of task.listeners) listener(text);
      output.add('stdout', text);
    }
    let end: TaskEnd | undefined;
    const children = call.childrenOf?.({ signal, stoppedBy: () => task.stop }) ?? NO_CHILDREN;
    try {
      if (!signal.aborted) {
        const run = Promise.resolve(work.run({ id, signal, say, openChild: children.open }));
        const result = await Promise.race([run, abandonAfterAbort(signal, limits.abandonMs)]);
        end = TaskEndSchema.safeParse(result).data ?? INVALID_END;
      }
    } catch (error) {
      end = { status: 'failed', note: errorMessage(error) };
    }
    await children.end();
    hasEnded = true;
    output.finish();
    const status = task.stop?.status ?? end?.status ?? 'failed';
    task.view = endedView(task.view, status, end, task.stop?.note);
    logEnd(endedFrame(task.view, status));
  }

  #find(taskId: string): Task {
    const task = this.#tasks.get(taskId);
    if (task !== undefined) return task;
    const known = [...this.#tasks.keys()].map((id) => `"${id}"`);
    const hint = known.length === 0 ? 'This session has none' : `This session has ${known.join(', ')}`;
    throw new GauntletError('tool_failed', `Cannot find task "${taskId}". ${hint}`);
  }

  #forgetOldest(): void {
    const ended = [...this.#tasks].filter(([, task]) => !isRunning(task));
    const excess = Math.max(0, ended.length - MAX_ENDED_TASKS);
    for (const [id] of ended.slice(0, excess)) this.#tasks.delete(id);
  }
}

function newTask(work: TaskWork, { toolUseId }: TaskCall): Task {
  const { kind } = work;
  const id = `${kind}_${randomBytes(4).toString('hex')}`;
  const outputPath = work.outputPath?.(id);
  const description = cutText(work.description, DESCRIPTION_CHARS);
  const startedAt = new Date().toISOString();
  return {
    view: { id, toolUseId, kind, description, state: 'running', startedAt, ...(outputPath && { outputPath }) },
    news: newsWindow(),
    listeners: new Set(),
    controller: new AbortController(),
    ended: Promise.resolve(),
  };
}

function loggedTask(view: TaskView): Task {
  const [listeners, controller] = [new Set<(text: string) => void>(), new AbortController()];
  return { view, news: undefined, listeners, controller, ended: Promise.resolve() };
}

function newsWindow(): TextWindow {
  const [headChars, tailChars] = [NEWS_HEAD_CHARS, NEWS_TAIL_CHARS];
  return createTextWindow({ wholeChars: headChars + tailChars, headChars, tailChars });
}

/** Build the view of an ended task. The status of a stop takes precedence over the end that it caused. */
function endedView(view: TaskView, state: TaskStatus, end: TaskEnd | undefined, stopNote?: string): TaskView {
  const { outputPath, ...rest } = view;
  const note = stopNote ?? end?.note;
  return {
    ...rest,
    state,
    endedAt: new Date().toISOString(),
    ...(end?.exitCode === undefined ? {} : { exitCode: end.exitCode }),
    ...(note === undefined ? {} : { note }),
    ...(outputPath === undefined || end?.isOutputLost === true ? {} : { outputPath }),
  };
}

/** Resolves `graceMs` after the signal, so that work that ignores it is abandoned. */
function abandonAfterAbort(signal: AbortSignal, graceMs: number): Promise<void> {
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => void setTimeout(resolve, graceMs).unref(), { once: true });
  });
}

function isRunning({ view }: Task): boolean {
  return view.state === 'running';
}

/** Abort the work of a task; the first reason is kept. */
function stopNow(task: Task, how: TaskStop): void {
  if (!isRunning(task)) return;
  task.stop ??= how;
  task.controller.abort(new GauntletError('cancelled', `Stopped: ${task.view.description}`));
}

/** Wait for the end or the timeout, and remove timer and listeners. */
function untilEnd({ ended, listeners }: Task, { signal, timeoutMs, onText }: TaskWait): Promise<void> {
  return new Promise<void>((resolve, reject) => {
    const timer = setTimeout(finish, timeoutMs);
    function finish(): void {
      clearTimeout(timer);
      if (onText) listeners.delete(onText);
      signal.removeEventListener('abort', finish);
      if (signal.aborted) reject(signal.reason as Error);
      else resolve();
    }
    if (signal.aborted) return finish();
    signal.addEventListener('abort', finish, { once: true });
    if (onText) listeners.add(onText);
    void ended.then(finish);
  });
}

/** Reads a part of a file, by UTF-16 offset. @throws {GauntletError} `tool_failed` if the file is missing. */
type ReadFileRange = (
  path: string,
  range: { readonly offsetChars: number; readonly limitChars: number },
) => Promise<{ readonly text: string; readonly totalChars: number }>;

/** Read head and tail of a task's output. @returns Both, or a note with the reason if the file cannot be read. */
async function readStoredOutput(
  { outputPath, note }: TaskView,
  readFile: ReadFileRange,
): Promise<Pick<TaskReading, 'news' | 'note'>> {
  if (outputPath === undefined) return { news: EMPTY_OUTPUT };
  const [headChars, tailChars] = [NEWS_HEAD_CHARS, NEWS_TAIL_CHARS];
  try {
    const { text, totalChars } = await readFile(outputPath, { offsetChars: 0, limitChars: headChars + tailChars });
    if (totalChars <= text.length) return { news: { head: text, tail: '', omittedChars: 0, totalChars } };
    const head = cutText(text, headChars);
    const { text: tail } = await readFile(outputPath, { offsetChars: totalChars - tailChars, limitChars: tailChars });
    return { news: { head, tail, omittedChars: Math.max(0, totalChars - head.length - tail.length), totalChars } };
  } catch (error) {
    const why = `Its output cannot be read: ${errorMessage(error)}`;
    return { news: EMPTY_OUTPUT, note: note === undefined ? why : `${note}. ${why}` };
  }
}
