/** The task tools: ask about what runs in the background, and end it. */
import type { TaskToolServices } from './services.ts';
import { taskOutputTool } from './task-output.ts';
import { taskStopTool } from './task-stop.ts';

/** All task tools, in no particular order: the pool sorts. */
export function taskTools(services: TaskToolServices) {
  return [taskOutputTool(services), taskStopTool()];
}
