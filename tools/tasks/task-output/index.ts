/** TaskOutput: what a background task has said since it was last asked. */
import { buildTool } from '../../../src/tool/build-tool.ts';
import { GauntletError } from '../../../src/base/errors.ts';
import type { TaskReading } from '../../../src/tool/task.ts';
import type { ToolProgress, ToolUseContext } from '../../../src/tool/tool.ts';
import { TOOL_ALIASES } from '../../../src/permissions/rule-names.ts';
import { paceOutput } from '../../../src/process/paced-output.ts';
import type { TaskToolServices } from '../services.ts';
import { taskOutputPrompt } from './prompt.ts';
import { renderReading, renderTaskOutput, renderTaskProgress, type TaskProgress, taskText } from './render.ts';
import { type TaskOutputArguments, taskOutputInput } from './schema.ts';

/** Make TaskOutput. */
export function taskOutputTool({ limits }: TaskToolServices) {
  async function read(
    { task_id, block = true, timeout }: TaskOutputArguments,
    { tasks, signal }: ToolUseContext,
    onProgress: ((progress: ToolProgress<TaskProgress>) => void) | undefined,
  ): Promise<TaskReading> {
    if (block) {
      const shown = paceOutput(limits, (_stream, text) => onProgress?.({ data: { type: 'task', task_id, text } }));
      const onText = (text: string) => shown.add('stdout', text);
      try {
        await tasks.wait(task_id, { signal, timeoutMs: timeout ?? limits.taskWaitMs, onText });
      } catch (cause) {
        if (!signal.aborted) throw cause;
        throw new GauntletError('cancelled', `Stopped waiting for task "${task_id}"; it runs on`, { cause });
      } finally {
        shown.finish();
      }
    }
    return tasks.read(task_id);
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
    call: async (input, context, _canUseTool, _parentMessage, onProgress) => ({
      data: await read(input, context, onProgress),
    }),
    mapToolResultToToolResultBlockParam: (reading: TaskReading, toolUseId) => ({
      type: 'tool_result',
      tool_use_id: toolUseId,
      content: taskText(reading),
    }),
    isResultTruncated: ({ news }: TaskReading) => news.omittedChars > 0,
    getActivityDescription: (input) => `Reading task ${input.task_id ?? ''}`,
    renderToolUseMessage: renderTaskOutput,
    renderToolUseProgressMessage: renderTaskProgress,
    renderToolResultMessage: (reading: TaskReading, _progress, { style }) =>
      renderReading(reading, style, limits.previewChars),
  });
}
