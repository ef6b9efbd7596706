/** Task tools: read the output of background tasks, and stop them. */
import type { TaskToolServices } from './services.ts';
import { taskOutputTool } from './task-output.ts';
import { taskStopTool } from './task-stop.ts';

/** Create all task tools, in no particular order; the pool sorts them. */
export function taskTools(services: TaskToolServices) {
  return [taskOutputTool(services), taskStopTool()];
}
