/**
 * Types of background tasks: work that continues after its call has ended.
 */
import type { WindowedText } from '../base/cut-text.ts';
import type { TaskStatus } from '../wire/frames.ts';
import type { OpenChild } from './inner-call.ts';

/** Outcome of a task's work. */
export interface TaskEnd {
  readonly status: 'completed' | 'failed';
  readonly exitCode?: number;
  /** Sentence about the end, for the model. */
  readonly note?: string;
  /** True if the file of `TaskWork.outputPath` could not be written. */
  readonly isOutputLost?: boolean;
}

/** Work to run in the background. */
export interface TaskWork {
  /** Kind of task, the first part of its id. Lower-case letters. */
  readonly kind: string;
  /** One line for people. */
  readonly description: string;
  /** Returns the absolute path of the file with the whole output; absent if there is none. */
  outputPath?(taskId: string): string;
  /**
   * Runs the work. When the task is stopped, `signal` aborts: end everything, then settle. A rejection counts as
   * `failed`.
   */
  run(task: RunningTask): Promise<TaskEnd>;
}

/** Context of a task's work. */
export interface RunningTask {
  readonly id: string;
  readonly signal: AbortSignal;
  say(text: string): void;
  /** As of the call that started the task; but the child ends with the task, and its frames are progress of nothing. */
  readonly openChild: OpenChild;
}

/** A task of a session. Plain data, stored in snapshots as it is. */
export interface TaskView {
  readonly id: string;
  /** Call that started it. */
  readonly toolUseId: string;
  readonly kind: string;
  readonly description: string;
  readonly state: 'running' | TaskStatus;
  /** ISO 8601. */
  readonly startedAt: string;
  /** ISO 8601; absent while it runs. */
  readonly endedAt?: string;
  readonly exitCode?: number;
  readonly note?: string;
  /** Absolute path of the whole output. */
  readonly outputPath?: string;
}

/** A task and its output since the last reading. */
export interface TaskReading extends TaskView {
  readonly news: WindowedText;
}

/** Options of waiting for a task. */
export interface TaskWait {
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  /** Called with the unread output, then with each new piece at once. */
  onText?(text: string): void;
}

/**
 * The tasks of a session, for its calls. Methods with an id throw {GauntletError} `tool_failed` if there is no such
 * task.
 */
export interface Tasks {
  /**
   * Start a task. Its start is on disk before its work begins.
   *
   * @throws {GauntletError} `resource_exhausted` if the session already runs its maximum; `log_unavailable`.
   */
  start(work: TaskWork): Promise<TaskView>;
  /** Read the output since the last reading. */
  read(taskId: string): Promise<TaskReading>;
  /** Resolves when the task has ended or the time is over. Rejects with the signal's reason. */
  wait(taskId: string, wait: TaskWait): Promise<void>;
  /** Stop a task. Resolves when everything it started has ended; at once if it had ended. */
  stop(taskId: string): Promise<TaskView>;
}
