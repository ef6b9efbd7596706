/** What the task tools are handed by whoever wires the server. */
import type { Limits } from '../../config/limits.ts';
import type { BackgroundTasks } from '../../src/work/background-tasks.ts';

/** Services of TaskOutput and TaskStop. */
export interface TaskToolServices {
  readonly backgroundTasks: BackgroundTasks;
  readonly limits: Limits;
}
