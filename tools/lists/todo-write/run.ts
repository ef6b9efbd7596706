/** The work of TodoWrite: the next list takes the place of the last one. */
import type { JsonValue } from '../../../src/base/json.ts';
import type { SessionContext } from '../../../src/tool/session-context.ts';
import type { ToolResult } from '../../../src/tool/tool.ts';
import type { Todo, TodoWriteArguments } from './schema.ts';

/** Where the list stands in the session's state. */
export const TODO_WRITE = 'TodoWrite';

/** Both lists. */
export interface TodoWriteOutput {
  readonly oldTodos: readonly Todo[];
  readonly newTodos: readonly Todo[];
}

/** Replace the list. */
export function replaceTodos({ todos }: TodoWriteArguments, session: SessionContext): ToolResult<TodoWriteOutput> {
  return {
    data: { oldTodos: todosOf(session), newTodos: todos },
    contextModifier: (context) => ({
      ...context,
      toolState: { ...context.toolState, [TODO_WRITE]: todos as JsonValue },
    }),
  };
}

/** The list as a session has it. Only this tool writes it, so its shape is known. */
function todosOf({ toolState }: SessionContext): readonly Todo[] {
  return (toolState[TODO_WRITE] ?? []) as unknown as readonly Todo[];
}
