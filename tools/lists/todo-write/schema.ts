/** What TodoWrite takes: the whole list. */
import { z } from 'zod';
import type { Limits } from '../../../config/limits.ts';

/** How far an item is. */
const TODO_STATUSES = ['pending', 'in_progress', 'completed'] as const;

/** The input, bounded by `limits`. */
export function todoWriteInput(limits: Pick<Limits, 'todoItems' | 'todoChars'>) {
  const words = z.string().min(1).max(limits.todoChars);
  const item = z.strictObject({
    content: words.describe('What is to be done, as in "Run the tests"'),
    status: z.enum(TODO_STATUSES).describe('How far it is'),
    activeForm: words.describe('The same while it is being done, as in "Running the tests"'),
  });
  return z.strictObject({
    todos: z.array(item).max(limits.todoItems).describe('The whole list, which replaces the one before'),
  });
}

/** A parsed input. */
export type TodoWriteArguments = ReturnType<typeof todoWriteInput>['_output'];

/** One item. */
export type Todo = TodoWriteArguments['todos'][number];
