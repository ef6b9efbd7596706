/** The list tools: what a session means to do. */
import type { ListToolServices } from './services.ts';
import { todoWriteTool } from './todo-write.ts';

/** All list tools, in no particular order: the pool sorts. */
export function listTools(_services: ListToolServices) {
  return [todoWriteTool()];
}
