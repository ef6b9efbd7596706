/** TaskGet: shows one task of the shared list in full. */
import * as z from 'zod';
import { showValue } from '../../src/base/hidden-characters.ts';
import { buildTool } from '../../src/tool/build-tool.ts';
import type { Display } from '../../src/wire/display.ts';
import { drawFailure } from '../../src/tool/draw-failure.ts';
import { blocksOf, namesOf, openBlockers, type PlannedTask, readTasks, taskOf } from './planned-tasks.ts';
import type { ListToolServices } from './services.ts';

const PROMPT = `Shows one task of the shared task list: its description, status, owner, metadata, what it waits for and what waits for it.

Use it before you begin a task, and where the line that TaskList shows does not say enough. It knows planned tasks alone: for a command or agent that runs in the background ask TaskOutput.`;

const TaskGetInput = z.strictObject({
  taskId: z.string().min(1).max(40).describe('Number of the task, as TaskCreate and TaskList give it'),
});

/** Make TaskGet. */
export function taskGetTool(services: ListToolServices) {
  return buildTool({
    name: 'TaskGet',
    searchHint: 'show one task of the shared task list',
    shouldDefer: true,
    touchesOnlySession: () => true,
    isReadOnly: () => true,
    isConcurrencySafe: () => true,
    inputSchema: TaskGetInput,
    maxResultSizeChars: 100_000,
    prompt: () => PROMPT,
    description: (input) => `Show task ${input.taskId}`,
    call: async ({ taskId }, context) => {
      const list = await readTasks(services, context);
      const task = taskOf(list, taskId);
      return { data: { task, blocks: blocksOf(list, task.id), openBlockers: openBlockers(list, task) } };
    },
    mapToolResultToToolResultBlockParam: (output: TaskGetOutput, toolUseId) => ({
      type: 'tool_result',
      tool_use_id: toolUseId,
      content: taskText(output),
    }),
    getToolUseSummary: (input) => input.taskId ?? '',
    getActivityDescription: () => 'Looking at a task',
    renderToolUseMessage: ({ taskId }): Display => ({ title: `Task #${showValue(taskId, '…')}`, blocks: [] }),
    renderToolResultMessage: (output: TaskGetOutput, _progress, { style }): Display => ({
      title: `Task #${output.task.id}: ${output.task.status}`,
      subtitle: output.task.subject,
      tone: 'info',
      blocks: style === 'condensed' ? [] : [{ kind: 'text', text: taskText(output) }],
    }),
    renderToolUseRejectedMessage: (_input, message) => drawFailure('Did not look at the task', message),
    renderToolUseErrorMessage: (message) => drawFailure('Could not look at the task', message),
    renderGroupedToolUse: () => ({ key: 'task-list', title: 'Task list' }),
  });
}

/** One task and its neighbours. */
export interface TaskGetOutput {
  readonly task: PlannedTask;
  readonly blocks: readonly string[];
  readonly openBlockers: readonly string[];
}

function taskText({ task, blocks, openBlockers: open }: TaskGetOutput): string {
  const { id, subject, status, owner, activeForm, blockedBy, metadata, description } = task;
  const waiting = open.length === 0 ? 'all completed' : `still open: ${namesOf(open)}`;
  const facts = [
    `Task #${id}: ${subject}`,
    `Status: ${status}`,
    owner === undefined ? undefined : `Owner: ${owner}`,
    activeForm === undefined ? undefined : `Active form: ${activeForm}`,
    blockedBy.length === 0 ? undefined : `Blocked by: ${namesOf(blockedBy)} (${waiting})`,
    blocks.length === 0 ? undefined : `Blocks: ${namesOf(blocks)}`,
    metadata === undefined ? undefined : `Metadata: ${JSON.stringify(metadata)}`,
    `Description: ${description === '' ? '(none)' : description}`,
  ];
  return facts.filter((fact) => fact !== undefined).join('\n');
}
