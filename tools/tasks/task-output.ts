/** TaskOutput: returns the output of a background task since the last read. */
import * as z from 'zod';
import { GauntletError } from '../../src/base/errors.ts';
import { showText, showValue } from '../../src/base/hidden-characters.ts';
import { shownHead } from '../../src/files/shown-head.ts';
import { TOOL_ALIASES } from '../../src/permissions/rule-names.ts';
import { outputText } from '../../src/process/output-text.ts';
import { paceOutput } from '../../src/process/paced-output.ts';
import { buildTool } from '../../src/tool/build-tool.ts';
import type { TaskReading } from '../../src/tool/task.ts';
import type { ToolProgress, ToolUseContext } from '../../src/tool/tool.ts';
import type { Display } from '../../src/wire/display.ts';
import { renameTaskId } from './rename-task-id.ts';
import type { TaskToolServices } from './services.ts';

/** Time that a call with `block` waits for the end of a task by default. */
const WAIT_MS = 30_000;

/** The longest it may wait. */
const MAX_WAIT_MS = 10 * 60_000;

const PROMPT = `Shows what a background task has written since it was last asked, its status and its exit code.

- \`task_id\` is the id that the call which started the task answered with.
- By default it waits for the task to end, ${WAIT_MS} ms at most or \`timeout\`; a task that still runs then is answered as "running". With \`block: false\` it answers at once.
- What was shown is not shown again; the whole output of a command stands in the file that its call named.`;

/** Create the input schema of TaskOutput; former names of the id are accepted. */
const TaskOutputInput = z.preprocess(
  (given) => renameTaskId(given, ['bash_id', 'shell_id', 'agentId']),
  z.strictObject({
    task_id: z.string().min(1).describe('The task to ask about, as the call that started it named it'),
    block: z.boolean().optional().describe('Wait for the task to end (default true); false answers at once'),
    timeout: z
      .int()
      .min(0)
      .max(MAX_WAIT_MS)
      .optional()
      .describe(`How long to wait, in milliseconds: ${WAIT_MS} by default, at most ${MAX_WAIT_MS}`),
  }),
);

/** A parsed input of TaskOutput. */
export type TaskOutputArguments = z.output<typeof TaskOutputInput>;

/** Create TaskOutput. */
export function taskOutputTool({ limits }: TaskToolServices) {
  async function read(
    { task_id, block = true, timeout }: TaskOutputArguments,
    { tasks, signal }: ToolUseContext,
    onProgress: ((progress: ToolProgress<TaskProgress>) => void) | undefined,
  ): Promise<TaskReading> {
    if (block) {
      const shown = paceOutput((_stream, text) => onProgress?.({ data: { type: 'task', task_id, text } }));
      const onText = (text: string) => shown.add('stdout', text);
      try {
        await tasks.wait(task_id, { signal, timeoutMs: timeout ?? WAIT_MS, onText });
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
    inputSchema: TaskOutputInput,
    maxResultSizeChars: 30_000,
    prompt: () => PROMPT,
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

/** New output of a task while waiting for it. */
interface TaskProgress {
  readonly type: 'task';
  readonly task_id: string;
  readonly text: string;
}

/** Format the result for the model. */
function taskText(reading: TaskReading): string {
  const { id, state, exitCode, note, news } = reading;
  const outputPath = state === 'running' ? undefined : reading.outputPath;
  const text = outputText({ ...news, ...(outputPath === undefined ? {} : { path: outputPath }) });
  const facts = [
    `task_id: ${id}`,
    `status: ${state}`,
    exitCode === undefined ? undefined : `exit_code: ${exitCode}`,
    note === undefined ? undefined : `note: ${note}`,
    outputPath === undefined ? undefined : `whole_output: ${outputPath}`,
    text === '' ? '(no new output)' : `output:\n${text}`,
  ];
  return facts.filter((fact) => fact !== undefined).join('\n');
}

/** Display the request; the input may still be streaming in. */
function renderTaskOutput(input: Partial<TaskOutputArguments>): Display {
  return { title: `Output of task ${showValue(input.task_id, '…')}`, blocks: [] };
}

/** Display the output written while waiting. */
function renderTaskProgress(progress: readonly ToolProgress<TaskProgress>[]): Display {
  const text = progress.map(({ data }) => data.text).join('');
  return { title: 'Waiting', blocks: text === '' ? [] : [{ kind: 'code', text }] };
}

/** Display the result. @param drawnChars Upper bound of the characters of output. */
function renderReading(reading: TaskReading, style: 'condensed' | undefined, drawnChars: number): Display {
  const text = shownHead(outputText(reading.news), drawnChars);
  return {
    title: `Task ${reading.id}: ${reading.state}`,
    subtitle: showText(reading.description),
    tone: reading.state === 'failed' ? 'danger' : 'info',
    blocks: style === 'condensed' || text === '' ? [] : [{ kind: 'code', text }],
  };
}
