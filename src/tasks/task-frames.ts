/**
 * Conversion between a task and the frames of its session's log.
 */
import type { Frame, TaskEndedFrame, TaskStartedFrame, TaskStatus } from '../wire/frames.ts';
import type { TaskView } from '../tool/task.ts';

/** Outcome of a task that was stopped. */
export interface TaskStop {
  readonly status: TaskStatus;
  readonly note?: string;
}

/** Outcome of tasks that end with the server. */
export const SERVER_STOPPED = {
  status: 'interrupted',
  note: 'The server stopped, and the task with it. What it wrote up to then is kept',
} as const satisfies TaskStop;

/** Build the frame of a start. */
export function startedFrame({ id, toolUseId, kind, description, outputPath }: TaskView): TaskStartedFrame {
  return {
    type: 'task_started',
    task_id: id,
    tool_use_id: toolUseId,
    kind,
    description,
    ...(outputPath === undefined ? {} : { output_path: outputPath }),
  };
}

/** Build the frame of an end. */
export function endedFrame({ id, exitCode, note }: TaskView, status: TaskStatus): TaskEndedFrame {
  return {
    type: 'task_ended',
    task_id: id,
    status,
    ...(exitCode === undefined ? {} : { exit_code: exitCode }),
    ...(note === undefined ? {} : { note }),
  };
}

/**
 * Apply a frame of the log to a task.
 *
 * @param known State from earlier frames or a snapshot. A frame may be read although the snapshot includes it, since an
 *   open turn keeps the snapshot from covering all frames before it.
 * @returns `undefined` for the end of a task whose start was forgotten.
 */
export function taskAfter(
  known: TaskView | undefined,
  frame: Extract<Frame, { readonly type: 'task_started' | 'task_ended' }>,
): TaskView | undefined {
  if (frame.type === 'task_ended') {
    const { status: state, exit_code: exitCode, note, ts: endedAt } = frame;
    const facts = { ...(exitCode === undefined ? {} : { exitCode }), ...(note === undefined ? {} : { note }) };
    return known && { ...known, state, endedAt, ...facts };
  }
  if (known) return known;
  const { task_id: id, tool_use_id: toolUseId, kind, description, output_path: outputPath, ts: startedAt } = frame;
  const task = { id, toolUseId, kind, description, state: 'running', startedAt } as const;
  return outputPath === undefined ? task : { ...task, outputPath };
}
