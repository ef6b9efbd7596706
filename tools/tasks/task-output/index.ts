/** TaskOutput: what a background task has said since it was last asked. */
import { buildTool } from '../../../src/contract/build-tool.ts';
import { GauntletError } from '../../../src/contract/errors.ts';
import type { ToolUseContext } from '../../../src/contract/tool.ts';
import type { TaskReading } from '../../../src/work/background-tasks.ts';
import { TOOL_ALIASES } from '../../../src/permissions/rule-names.ts';
import type { TaskToolServices } from '../services.ts';
import { taskOutputPrompt } from './prompt.ts';
import { renderReading, renderTaskOutput, taskText } from './render.ts';
import { taskOutputInput } from './schema.ts';
import type { TaskOutputArguments } from './schema.ts';

/** Make TaskOutput. */
export function taskOutputTool({ backgroundTasks, limits }: TaskToolServices) {
  async function read(
    { task_id, block = true, timeout }: TaskOutputArguments,
    { sessionId, signal }: ToolUseContext,
  ): Promise<TaskReading> {
    if (block) {
      const wait = { until: 'end', signal, timeoutMs: timeout ?? limits.taskWaitMs } as const;
      await backgroundTasks.wait(sessionId, task_id, wait).catch((cause: unknown) => {
        if (!signal.aborted) throw cause;
        throw new GauntletError('cancelled', `Stopped waiting for task "${task_id}"; it runs on`, { cause });
      });
    }
    return backgroundTasks.read(sessionId, task_id);
  }

  return buildTool({
    name: 'TaskOutput',
    aliases: TOOL_ALIASES.TaskOutput,
    searchHint: 'read output of a background command or agent',
    shouldDefer: true,
    touchesOnlySession: () => true,
    inputSchema: taskOutputInput(limits),
    maxResultSizeChars: 30_000,
    prompt: () => taskOutputPrompt(limits),
    description: (input) => `Read the output of task ${input.task_id}`,
    isReadOnly: () => true,
    isConcurrencySafe: () => true,
    interruptBehavior: () => 'cancel',
    call: async (input, context) => ({ data: await read(input, context) }),
    mapToolResultToToolResultBlockParam: (reading: TaskReading, toolUseId) => ({
      type: 'tool_result',
      tool_use_id: toolUseId,
      content: taskText(reading),
    }),
    isResultTruncated: ({ news }: TaskReading) => news.omittedChars > 0,
    getActivityDescription: (input) => `Reading task ${input.task_id ?? ''}`,
    renderToolUseMessage: renderTaskOutput,
    renderToolResultMessage: (reading: TaskReading, _progress, { style }) =>
      renderReading(reading, style, limits.previewChars),
  });
}
