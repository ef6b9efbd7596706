/** TodoWrite, for the model and for people. */
import type { ToolResultBlock } from '../../../src/wire/blocks.ts';
import type { Display } from '../../../src/wire/display.ts';
import type { TodoWriteOutput } from './run.ts';
import type { Todo, TodoWriteArguments } from './schema.ts';

const MARKS: Readonly<Record<Todo['status'], string>> = { pending: '[ ]', in_progress: '[>]', completed: '[x]' };

/** What the model is sent. */
export function todoWriteResult({ oldTodos, newTodos }: TodoWriteOutput, toolUseId: string): ToolResultBlock {
  const content = ['Replaced the todo list', 'Before:', ...lines(oldTodos), 'Now:', ...lines(newTodos)].join('\n');
  return { type: 'tool_result', tool_use_id: toolUseId, content };
}

/** What will stand in the list, as far as the input has come. */
export function renderTodoWrite({ todos }: Partial<TodoWriteArguments>): Display {
  const items = Array.isArray(todos) ? todos.flatMap(partialLine) : [];
  return { title: 'Update todos', blocks: items.length === 0 ? [] : [{ kind: 'list', items }] };
}

/** The new list, for people. */
export function renderTodoWriteResult({ newTodos }: TodoWriteOutput, style: 'condensed' | undefined): Display {
  const done = newTodos.filter(({ status }) => status === 'completed').length;
  const current = newTodos.find(({ status }) => status === 'in_progress');
  return {
    title: `Todos: ${done} of ${newTodos.length} done`,
    ...(current && { subtitle: current.activeForm }),
    tone: 'success',
    blocks: style === 'condensed' || newTodos.length === 0 ? [] : [{ kind: 'list', items: lines(newTodos) }],
  };
}

/** A call that was not allowed, or that failed. */
export function renderTodoWriteFailure(title: string, message: string): Display {
  return { title, tone: 'danger', blocks: [{ kind: 'text', text: message }] };
}

function lines(todos: readonly Todo[]): readonly string[] {
  return todos.length === 0 ? ['(empty)'] : todos.map(({ status, content }) => `${MARKS[status]} ${content}`);
}

/** An item may still be a fragment: no status yet, half a content. */
function partialLine(todo: Partial<Todo> | null | undefined): readonly string[] {
  if (typeof todo?.content !== 'string') return [];
  return [`${MARKS[todo.status ?? 'pending'] ?? MARKS.pending} ${todo.content}`];
}
