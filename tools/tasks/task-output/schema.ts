/** What TaskOutput takes. */
import { z } from 'zod';
import type { Limits } from '../../../config/limits.ts';
import { renameTaskId } from '../old-keys.ts';

/** Input of TaskOutput; old names of the id are taken too. */
export function taskOutputInput({ taskWaitMs, taskWaitMostMs }: Pick<Limits, 'taskWaitMs' | 'taskWaitMostMs'>) {
  const input = z.strictObject({
    task_id: z.string().min(1).describe('The task to ask about, as the call that started it named it'),
    block: z.boolean().optional().describe('Wait for the task to end (default true); false answers at once'),
    timeout: z
      .int()
      .min(0)
      .max(taskWaitMostMs)
      .optional()
      .describe(`How long to wait, in milliseconds: ${taskWaitMs} by default, at most ${taskWaitMostMs}`),
  });
  return z.preprocess((given) => renameTaskId(given, ['bash_id', 'shell_id', 'agentId']), input);
}

/** A parsed input of TaskOutput. */
export type TaskOutputArguments = z.output<ReturnType<typeof taskOutputInput>>;
