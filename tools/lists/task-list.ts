/** TaskList: shows the list that a session shares with its agents. */
import * as z from 'zod';
import { buildTool } from '../../src/tool/build-tool.ts';
import type { Display } from '../../src/wire/display.ts';
import { drawFailure } from '../../src/tool/draw-failure.ts';
import { openBlockers, type PlannedTask, readTasks, type TaskList, taskLine } from './planned-tasks.ts';
import type { ListToolServices } from './services.ts';

const PROMPT = `Lists the tasks of the shared task list, one a line: number, status, subject, owner, and what it still waits for.

Use it to see what can be begun next (pending, no owner, nothing that blocks it; take lower numbers first), after a task is completed, and before you add tasks. TaskGet shows one with its description. Background commands and agents do not stand here.`;

/** Make TaskList. */
export function taskListTool(services: ListToolServices) {
  return buildTool({
    name: 'TaskList',
    searchHint: 'list the tasks of the shared task list',
    shouldDefer: true,
    touchesOnlySession: () => true,
    isReadOnly: () => true,
    isConcurrencySafe: () => true,
    inputSchema: z.strictObject({}),
    maxResultSizeChars: 100_000,
    prompt: () => PROMPT,
    description: () => 'List the tasks',
    call: async (_input, context) => {
      const list = await readTasks(services, context);
      return { data: { tasks: list.tasks.map((task) => withLine(list, task)) } };
    },
    mapToolResultToToolResultBlockParam: ({ tasks }: TaskListOutput, toolUseId) => ({
      type: 'tool_result',
      tool_use_id: toolUseId,
      content:
        tasks.length === 0
          ? 'The task list is empty. Add to it with TaskCreate'
          : tasks.map(({ line }) => line).join('\n'),
    }),
    getActivityDescription: () => 'Looking at the task list',
    renderToolUseMessage: (): Display => ({ title: 'Task list', blocks: [] }),
    renderToolResultMessage: ({ tasks }: TaskListOutput, _progress, { style }): Display => ({
      title: `Tasks: ${tasks.filter(({ status }) => status === 'completed').length} of ${tasks.length} completed`,
      tone: 'info',
      blocks:
        style === 'condensed' || tasks.length === 0 ? [] : [{ kind: 'list', items: tasks.map(({ line }) => line) }],
    }),
    renderToolUseRejectedMessage: (_input, message) => drawFailure('Did not list the tasks', message),
    renderToolUseErrorMessage: (message) => drawFailure('Could not list the tasks', message),
    renderGroupedToolUse: () => ({ key: 'task-list', title: 'Task list' }),
  });
}

/** All tasks, without the details that TaskGet returns. */
export interface TaskListOutput {
  readonly tasks: readonly (Pick<PlannedTask, 'id' | 'subject' | 'status' | 'owner'> & {
    /** Open tasks that it waits for. */
    readonly blockedBy: readonly string[];
    readonly line: string;
  })[];
}

function withLine(list: TaskList, task: PlannedTask): TaskListOutput['tasks'][number] {
  const { id, subject, status, owner } = task;
  return { id, subject, status, owner, blockedBy: openBlockers(list, task), line: taskLine(list, task) };
}
