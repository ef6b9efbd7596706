/** TodoWrite: replaces the session's todo list. */
import { buildTool } from '../../../src/tool/build-tool.ts';
import type { ListToolServices } from '../services.ts';
import { TODO_WRITE_PROMPT } from './prompt.ts';
import { renderTodoWrite, renderTodoWriteFailure, renderTodoWriteResult, todoWriteResult } from './render.ts';
import { replaceTodos, TODO_WRITE, type TodoWriteOutput } from './run.ts';
import { todoWriteInput } from './schema.ts';

/** Make TodoWrite. */
export function todoWriteTool(services: Pick<ListToolServices, 'limits'>) {
  return buildTool({
    name: TODO_WRITE,
    searchHint: 'keep the list of what is to be done',
    alwaysLoad: true,
    touchesOnlySession: () => true,
    inputSchema: todoWriteInput(services.limits),
    maxResultSizeChars: 100_000,
    prompt: () => TODO_WRITE_PROMPT,
    description: (input) => `Replace the todo list with ${input.todos.length} items`,
    call: (input, context) => Promise.resolve(replaceTodos(input, context.session)),
    mapToolResultToToolResultBlockParam: todoWriteResult,
    getToolUseSummary: (input) => (Array.isArray(input.todos) ? `${input.todos.length} items` : ''),
    getActivityDescription: () => 'Updating the todo list',
    renderToolUseMessage: renderTodoWrite,
    renderToolResultMessage: (output: TodoWriteOutput, _progress, { style }) => renderTodoWriteResult(output, style),
    renderToolUseRejectedMessage: (_input, message) => renderTodoWriteFailure('Did not update todos', message),
    renderToolUseErrorMessage: (message) => renderTodoWriteFailure('Could not update todos', message),
    renderGroupedToolUse: () => ({ key: 'todo-write', title: 'Update todos' }),
  });
}
