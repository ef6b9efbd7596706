/** TaskStop: stops a background task and all processes it started. */
import * as z from 'zod';
import { buildTool } from '../../src/tool/build-tool.ts';
import type { TaskView } from '../../src/tool/task.ts';
import { showValue } from '../../src/base/hidden-characters.ts';
import { TOOL_ALIASES } from '../../src/permissions/rule-names.ts';
import { renameTaskId } from './rename-task-id.ts';

const TaskStopInput = z.preprocess(
  (given) => renameTaskId(given, ['shell_id']),
  z.strictObject({
    task_id: z.string().min(1).describe('The task to end, as the call that started it named it'),
  }),
);

const PROMPT = `Ends a background task and everything it started.

- \`task_id\` is the id that the call which started the task answered with.
- A task that has ended already is answered with how it ended.`;

/** Create TaskStop. */
export function taskStopTool() {
  return buildTool({
    name: 'TaskStop',
    aliases: TOOL_ALIASES.TaskStop,
    searchHint: 'end a background command or agent',
    shouldDefer: true,
    touchesOnlySession: () => true,
    inputSchema: TaskStopInput,
    maxResultSizeChars: 1_000,
    prompt: () => PROMPT,
    description: (input) => `End task ${input.task_id}`,
    call: async (input, { tasks }) => ({ data: await tasks.stop(input.task_id) }),
    mapToolResultToToolResultBlockParam: (task: TaskView, toolUseId) => ({
      type: 'tool_result',
      tool_use_id: toolUseId,
      content: taskStopText(task),
    }),
    getActivityDescription: (input) => `Ending task ${input.task_id ?? ''}`,
    renderToolUseMessage: (input) => ({
      title: `End task ${showValue(input.task_id, '…')}`,
      tone: 'warning',
      blocks: [],
    }),
    renderToolResultMessage: (task: TaskView) => ({ title: taskStopText(task), tone: 'success', blocks: [] }),
  });
}

function taskStopText({ id, state, exitCode }: TaskView): string {
  if (state === 'killed') return `Task ${id} was ended, with everything it started`;
  return `Task ${id} had ended already: ${state}${exitCode === undefined ? '' : `, exit code ${exitCode}`}`;
}
