/** What the model reads about TaskOutput. */
import type { Limits } from '../../../config/limits.ts';

/** The words, with the numbers that hold on this server. */
export function taskOutputPrompt({ taskWaitMs }: Pick<Limits, 'taskWaitMs'>): string {
  return `Shows what a background task has written since it was last asked, its status and its exit code.

- \`task_id\` is the id that the call which started the task answered with.
- By default it waits for the task to end, ${taskWaitMs} ms at most or \`timeout\`; a task that still runs then is answered as "running". With \`block: false\` it answers at once.
- What was shown is not shown again; the whole output of a command stands in the file that its call named.`;
}
