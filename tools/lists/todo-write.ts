/** TodoWrite: replaces the session's todo list. */
import * as z from 'zod';
import type { JsonValue } from '../../src/base/json.ts';
import { buildTool } from '../../src/tool/build-tool.ts';
import type { SessionContext } from '../../src/tool/session-context.ts';
import type { ToolResult } from '../../src/tool/tool.ts';
import type { ToolResultBlock } from '../../src/wire/blocks.ts';
import type { Display } from '../../src/wire/display.ts';

const MARKS: Readonly<Record<Todo['status'], string>> = { pending: '[ ]', in_progress: '[>]', completed: '[x]' };

/** Name of the tool, and its key in the session's tool state. */
const TODO_WRITE = 'TodoWrite';

/** The description. */
const TODO_WRITE_PROMPT = `Keeps the todo list of this session, so that you and the person who watches see what is done and what is left.

Use it for work of three steps or more, when you are given several things to do, or when you find new work on the way. Leave it out for a single simple step or a question.

How to use it:
- Send the whole list each time: it replaces the one before
- Keep exactly one item in_progress while you work, and mark it before you begin
- Mark an item completed as soon as it is wholly done; if it failed or is blocked, leave it in_progress and add what is needed as a new item
- Take items that no longer matter out of the list`;

/** Progress of an item. */
const TODO_STATUSES = ['pending', 'in_progress', 'completed'] as const;

/** Items of a list, which a model writes anew with each change. */
const MAX_ITEMS = 500;

/** Text of one item: a line, not a document. */
const MAX_ITEM_CHARS = 4_000;

const words = z.string().min(1).max(MAX_ITEM_CHARS);

const TodoWriteInput = z.strictObject({
  todos: z
    .array(
      z.strictObject({
        content: words.describe('What is to be done, as in "Run the tests"'),
        status: z.enum(TODO_STATUSES).describe('How far it is'),
        activeForm: words.describe('The same while it is being done, as in "Running the tests"'),
      }),
    )
    .max(MAX_ITEMS)
    .describe('The whole list, which replaces the one before'),
});

/** A parsed input. */
export type TodoWriteArguments = z.output<typeof TodoWriteInput>;

/** One item. */
export type Todo = TodoWriteArguments['todos'][number];

/** Create TodoWrite. */
export function todoWriteTool() {
  return buildTool({
    name: TODO_WRITE,
    searchHint: 'keep the list of what is to be done',
    alwaysLoad: true,
    touchesOnlySession: () => true,
    inputSchema: TodoWriteInput,
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

/** Lists before and after. */
export interface TodoWriteOutput {
  readonly oldTodos: readonly Todo[];
  readonly newTodos: readonly Todo[];
}

/** Replace the list in the session's state. */
function replaceTodos({ todos }: TodoWriteArguments, session: SessionContext): ToolResult<TodoWriteOutput> {
  return {
    data: { oldTodos: todosOf(session), newTodos: todos },
    contextModifier: (context) => ({
      ...context,
      toolState: { ...context.toolState, [TODO_WRITE]: todos as JsonValue },
    }),
  };
}

/** Return the list of a session. Only this tool writes it, so its type is known. */
function todosOf({ toolState }: SessionContext): readonly Todo[] {
  return (toolState[TODO_WRITE] ?? []) as unknown as readonly Todo[];
}

/** Format the result for the model. */
function todoWriteResult({ oldTodos, newTodos }: TodoWriteOutput, toolUseId: string): ToolResultBlock {
  const content = ['Replaced the todo list', 'Before:', ...lines(oldTodos), 'Now:', ...lines(newTodos)].join('\n');
  return { type: 'tool_result', tool_use_id: toolUseId, content };
}

/** Display the new list as far as the input has arrived. */
function renderTodoWrite({ todos }: Partial<TodoWriteArguments>): Display {
  const items = Array.isArray(todos) ? todos.flatMap(partialLine) : [];
  return { title: 'Update todos', blocks: items.length === 0 ? [] : [{ kind: 'list', items }] };
}

/** Display the result. */
function renderTodoWriteResult({ newTodos }: TodoWriteOutput, style: 'condensed' | undefined): Display {
  const done = newTodos.filter(({ status }) => status === 'completed').length;
  const current = newTodos.find(({ status }) => status === 'in_progress');
  return {
    title: `Todos: ${done} of ${newTodos.length} done`,
    ...(current && { subtitle: current.activeForm }),
    tone: 'success',
    blocks: style === 'condensed' || newTodos.length === 0 ? [] : [{ kind: 'list', items: lines(newTodos) }],
  };
}

/** Display a call that was denied or failed. */
function renderTodoWriteFailure(title: string, message: string): Display {
  return { title, tone: 'danger', blocks: [{ kind: 'text', text: message }] };
}

function lines(todos: readonly Todo[]): readonly string[] {
  return todos.length === 0 ? ['(empty)'] : todos.map(({ status, content }) => `${MARKS[status]} ${content}`);
}

/** Format an item that may still be incomplete: without a status, or with a part of its content. */
function partialLine(todo: Partial<Todo> | null | undefined): readonly string[] {
  if (typeof todo?.content !== 'string') return [];
  return [`${MARKS[todo.status ?? 'pending'] ?? MARKS.pending} ${todo.content}`];
}
