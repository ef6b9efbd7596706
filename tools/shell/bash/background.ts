/** Starts a command line that runs on after its call. */
import type { TaskEnd } from '../../../src/tool/task.ts';
import type { ToolUseContext } from '../../../src/tool/tool.ts';
import type { CommandEnd } from '../../../src/process/run-command.ts';
import type { ShellToolServices } from '../services.ts';
import { outputFile, runEnclosed } from './enclosed.ts';
import { lineOf } from './line.ts';
import type { BashOutput } from './output.ts';
import type { BashArguments } from './schema.ts';
import { shellRequest } from './shell-request.ts';
import { startFolder } from './working-directory.ts';

/**
 * Start a command as a task of its session; the task tells how it ended.
 *
 * @throws {GauntletError} As `Tasks.start`.
 */
export async function startInBackground(
  services: ShellToolServices,
  input: BashArguments,
  context: ToolUseContext,
): Promise<BashOutput> {
  const request = shellRequest(lineOf(input, context.analysis), startFolder(context.session).cwd);
  const { id } = await context.tasks.start({
    kind: 'bash',
    description: input.description ?? input.command,
    outputPath: (taskId) => outputFile(context, taskId),
    run: async (task) =>
      taskEnd(
        await runEnclosed(services, input, context, {
          request,
          ...(input.timeout === undefined ? {} : { timeoutMs: input.timeout }),
          signal: task.signal,
          outputPath: outputFile(context, task.id),
          isFileKept: true,
          onText: (_stream, text) => task.say(text),
        }),
      ),
  });
  return { type: 'background', taskId: id, outputPath: outputFile(context, id) };
}

function taskEnd({ code, stoppedBy, output }: CommandEnd): TaskEnd {
  const note = output.failureCode === undefined ? stoppedBy : `spill_failed: ${output.failureCode}`;
  return {
    status: code === 0 && stoppedBy === undefined ? 'completed' : 'failed',
    ...(code === null ? {} : { exitCode: code }),
    ...(note === undefined || note === 'signal' ? {} : { note: `Ended: ${note}` }),
    isOutputLost: output.path === undefined,
  };
}
