/** TaskCreate: adds a task to the list that a session shares with its agents. */
import * as z from 'zod';
import { showValue } from '../../src/base/hidden-characters.ts';
import { buildTool } from '../../src/tool/build-tool.ts';
import type { Display } from '../../src/wire/display.ts';
import { drawFailure } from '../../src/tool/draw-failure.ts';
import { changeTasks, MAX_LINE_CHARS, MAX_TASK_CHARS, type PlannedTask, TaskMetadata } from './planned-tasks.ts';
import type { ListToolServices } from './services.ts';

const PROMPT = `Adds a task to the task list of this session. The agents that the session starts see and change the same list, and it survives a restart of the server.

Use it to plan work in several steps, above all where several agents share it or steps wait for each other. For a short list that only you follow, TodoWrite is simpler; for a single simple step use neither. It plans work and starts nothing in the background.

- Each task begins as pending, without an owner. It is answered with its number, by which TaskGet, TaskUpdate and TaskList know it.
- Say with TaskUpdate which tasks wait for which, who takes one, and how far it is.
- Look at TaskList first, so that nothing stands in it twice.`;

const TaskCreateInput = z.strictObject({
  subject: z.string().min(1).max(MAX_LINE_CHARS).describe('What is to be done, in a line, as in "Fix the login"'),
  description: z
    .string()
    .max(MAX_TASK_CHARS)
    .describe('All that whoever takes the task must know: where, how, and when it is done'),
  activeForm: z
    .string()
    .min(1)
    .max(MAX_LINE_CHARS)
    .optional()
    .describe('The subject while it is being done, as in "Fixing the login"'),
  metadata: TaskMetadata.optional().describe('Facts of your own to keep with the task'),
});

/** A parsed input. */
export type TaskCreateArguments = z.output<typeof TaskCreateInput>;

/** Make TaskCreate. */
export function taskCreateTool(services: ListToolServices) {
  return buildTool({
    name: 'TaskCreate',
    searchHint: 'add a task to the shared task list',
    shouldDefer: true,
    touchesOnlySession: () => true,
    inputSchema: TaskCreateInput,
    maxResultSizeChars: 100_000,
    prompt: () => PROMPT,
    description: (input) => `Add the task "${input.subject}"`,
    call: async (input, context) => {
      const { task } = await changeTasks(services, context, (list) => {
        const id = String(list.lastId + 1);
        const created: PlannedTask = { id, status: 'pending', blockedBy: [], ...input };
        return { list: { lastId: list.lastId + 1, tasks: [...list.tasks, created] }, task: created };
      });
      return { data: { task } };
    },
    mapToolResultToToolResultBlockParam: ({ task }: TaskCreateOutput, toolUseId) => ({
      type: 'tool_result',
      tool_use_id: toolUseId,
      content: `Created task #${task.id}: ${task.subject}`,
    }),
    getToolUseSummary: (input) => input.subject ?? '',
    getActivityDescription: () => 'Adding a task',
    renderToolUseMessage: renderTaskCreate,
    renderToolResultMessage: ({ task }: TaskCreateOutput): Display => ({
      title: `Task #${task.id} added`,
      subtitle: task.subject,
      tone: 'success',
      blocks: [],
    }),
    renderToolUseRejectedMessage: (_input, message) => drawFailure('Did not add a task', message),
    renderToolUseErrorMessage: (message) => drawFailure('Could not add a task', message),
    renderGroupedToolUse: () => ({ key: 'task-list', title: 'Task list' }),
  });
}

/** The new task. */
export interface TaskCreateOutput {
  readonly task: PlannedTask;
}

function renderTaskCreate({ subject, description }: Partial<TaskCreateArguments>): Display {
  return {
    title: `New task: ${showValue(subject, '…')}`,
    blocks: typeof description === 'string' && description !== '' ? [{ kind: 'text', text: description }] : [],
  };
}
