/**
 * Background tasks, work that goes on after its call has ended: as tools see them, and their frames.
 */
import type { WindowedText } from '../base/cut-text.ts';
import { type TaskStatus } from '../wire/frames.ts';

/** How the work of a task ended. */
export interface TaskEnd {
  readonly status: 'completed' | 'failed';
  readonly exitCode?: number;
  /** A sentence about the end, for the model. */
  readonly note?: string;
  /** The file that `TaskWork.outputPath` names could not be written. */
  readonly isOutputLost?: boolean;
}

/** Work to be done in the background. */
export interface TaskWork {
  /** Sort of task, the first half of its id. Lower-case letters. */
  readonly kind: string;
  /** One line for people. */
  readonly description: string;
  /** Absolute path of the file that takes the whole output; absent where there is none. */
  outputPath?(taskId: string): string;
  /**
   * Does the work. `signal` is aborted when the task is stopped: end everything, then settle.
   * A rejection counts as `failed`.
   */
  run(task: { readonly id: string; readonly signal: AbortSignal; say(text: string): void }): Promise<TaskEnd>;
}

/** A task of a session. Plain data: a snapshot holds it as it is. */
export interface TaskView {
  readonly id: string;
  /** The call that started it. */
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

/** A task and what it has said since it was last asked. */
export interface TaskReading extends TaskView {
  readonly news: WindowedText;
}

/** How long to wait for the end of a task. */
export interface TaskWait {
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  /** Told what was not read yet, then each new piece at once. */
  onText?(text: string): void;
}

/** The tasks of a session, as one of its calls may use them. Methods with an id throw {GauntletError} `tool_failed` when there is no such task. */
export interface Tasks {
  /**
   * Start a task. Its start is on disk before its work begins.
   *
   * @throws {GauntletError} `resource_exhausted` when the session runs as many as it may; `log_unavailable`.
   */
  start(work: TaskWork): Promise<TaskView>;
  /** Read what is new; the next reading begins after it. */
  read(taskId: string): Promise<TaskReading>;
  /** Resolves when the task has ended, or after the time. Rejects with the signal's reason. */
  wait(taskId: string, wait: TaskWait): Promise<void>;
  /** Resolves when all that the task started has ended; at once for one that had. */
  stop(taskId: string): Promise<TaskView>;
}
