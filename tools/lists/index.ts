/** The list tools: the todo list of a session, and the task list that it shares with its agents. */
import type { ListToolServices } from './services.ts';
import { taskCreateTool } from './task-create.ts';
import { taskGetTool } from './task-get.ts';
import { taskListTool } from './task-list.ts';
import { taskUpdateTool } from './task-update.ts';
import { todoWriteTool } from './todo-write.ts';

/** Create all list tools, in no particular order; the pool sorts them. */
export function listTools(services: ListToolServices) {
  return [
    taskCreateTool(services),
    taskGetTool(services),
    taskListTool(services),
    taskUpdateTool(services),
    todoWriteTool(),
  ];
}
