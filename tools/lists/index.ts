/** List tools: the plans of a session. */
import type { ListToolServices } from './services.ts';
import { todoWriteTool } from './todo-write.ts';

/** Create all list tools, in no particular order; the pool sorts them. */
export function listTools(_services: ListToolServices) {
  return [todoWriteTool()];
}
