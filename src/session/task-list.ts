/**
 * Interface to a session's background tasks for the routes.
 */
import { GauntletError, isGauntletError } from '../base/errors.ts';
import type { TaskView } from '../tool/task.ts';
import type { ResultTextPage, TaskDescription } from '../wire/session-replies.ts';
import type { SessionCore } from './session-core.ts';
import { textPage, type TextRange } from './turn/stored-result.ts';

/** Operations on a session's tasks. */
export interface TaskList {
  /** Running tasks, and the latest of those that have ended; by start, earliest first. */
  list(): readonly TaskDescription[];
  /** Read a range of a task's whole output. @throws {GauntletError} `not_found`, `gone` if the output is not kept */
  output(taskId: string, range: TextRange): Promise<ResultTextPage>;
  /**
   * Stop a task. Resolves when everything it started has ended; at once if it had ended.
   *
   * @throws {GauntletError} `not_found`
   */
  stop(taskId: string): Promise<TaskDescription>;
}

/** Create the interface for one session. */
export function taskList({ id: sessionId, tasks, services }: SessionCore): TaskList {
  function find(taskId: string): TaskView {
    const task = tasks.list.find(({ id }) => id === taskId);
    if (task) return task;
    throw new GauntletError('not_found', `Session "${sessionId}" has no task "${taskId}"`);
  }

  return {
    list: () => tasks.list.map(describeTask),
    async output(taskId, range) {
      const { outputPath, state } = find(taskId);
      if (outputPath === undefined) throw outputGone(taskId);
      try {
        return textPage(await services.readSpilled(outputPath, range), range);
      } catch (cause) {
        if (!isGauntletError(cause, 'tool_failed')) throw cause;
        // The file of a task that was just started does not exist yet.
        if (state === 'running') return textPage({ text: '', totalChars: 0 }, range);
        throw outputGone(taskId, cause);
      }
    },
    async stop(taskId) {
      find(taskId);
      return describeTask(await tasks.stop(taskId));
    },
  };
}

function describeTask(task: TaskView): TaskDescription {
  const { id, toolUseId, kind, description, state, startedAt, endedAt, exitCode, note } = task;
  return {
    task_id: id,
    tool_use_id: toolUseId,
    kind,
    description,
    state,
    started_at: startedAt,
    ended_at: endedAt,
    exit_code: exitCode,
    note,
  };
}

function outputGone(taskId: string, cause?: unknown): GauntletError {
  return new GauntletError('gone', `The output of task "${taskId}" is not kept`, { cause });
}
