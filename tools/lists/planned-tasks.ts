/**
 * The task list that a session shares with its agents: tasks, their states and their dependencies.
 *
 * The whole list is one entry of the shared store, so that a change of several tasks is made at once or not at all. Two
 * agents that change it at the same time both succeed: the later change is repeated on the result of the first.
 */
import * as z from 'zod';
import { GauntletError, isGauntletError } from '../../src/base/errors.ts';
import type { JsonValue } from '../../src/base/json.ts';
import { sessionNamespace } from '../../src/log/shared-store.ts';
import type { ToolUseContext } from '../../src/tool/tool.ts';
import type { ListToolServices } from './services.ts';

const KEY = 'tasks';

/** Attempts of a change that conflicts with another agent's. */
const MAX_TRIES = 20;

/** Longest text of one line: a subject, an owner. */
export const MAX_LINE_CHARS = 500;

/** States of a task. */
export const TASK_STATUSES = ['pending', 'in_progress', 'completed'] as const;

/** One task; the tasks that it blocks are derived from their `blockedBy`. */
const PlannedTask = z.object({
  id: z.string(),
  subject: z.string(),
  description: z.string(),
  activeForm: z.string().optional(),
  status: z.enum(TASK_STATUSES),
  owner: z.string().optional(),
  blockedBy: z.array(z.string()),
  metadata: z.record(z.string(), z.unknown()).optional(),
});

const TaskList = z.object({ lastId: z.int(), tasks: z.array(PlannedTask) });

/** One task. */
export type PlannedTask = Readonly<z.output<typeof PlannedTask>>;

/** All tasks, the oldest first. Ids are never given twice. */
export interface TaskList {
  readonly lastId: number;
  readonly tasks: readonly PlannedTask[];
}

/** Tasks of one list; finished ones count until they are deleted. */
export const MAX_TASKS = 500;

/** Description of one task, and its metadata as JSON. */
export const MAX_TASK_CHARS = 10_000;

/** Metadata of a task, bounded as JSON. */
export const TaskMetadata = z
  .record(z.string(), z.unknown())
  .refine(
    (value) => JSON.stringify(value).length <= MAX_TASK_CHARS,
    `must be at most ${MAX_TASK_CHARS} characters of JSON`,
  );

/** The part of a context that finds the list. */
type Asking = Pick<ToolUseContext, 'principal' | 'rootSessionId'>;

/** Read the list. */
export async function readTasks({ store }: ListToolServices, { principal, rootSessionId }: Asking): Promise<TaskList> {
  return listOf((await store(principal, sessionNamespace(rootSessionId)).get(KEY))?.value);
}

/**
 * Change the list.
 *
 * @param change Returns the next list; may be called several times. If it throws, nothing changes.
 * @returns The result of `change`, once it is on disk.
 * @throws {GauntletError} `resource_exhausted` if the list is full.
 */
export async function changeTasks<Change extends { readonly list: TaskList }>(
  { store }: ListToolServices,
  { principal, rootSessionId }: Asking,
  change: (list: TaskList) => Change,
): Promise<Change> {
  const entries = store(principal, sessionNamespace(rootSessionId));
  for (let tries = 1; ; tries++) {
    const entry = await entries.get(KEY);
    const made = change(listOf(entry?.value));
    refuseTooMany(made.list);
    try {
      await entries.set(KEY, made.list as unknown as JsonValue, entry?.version ?? 0);
      return made;
    } catch (error) {
      if (isGauntletError(error, 'resource_exhausted')) throw full('no more is kept for your sessions', error);
      if (!isGauntletError(error, 'conflict') || tries === MAX_TRIES) throw error;
    }
  }
}

/** Find a task. @param id With or without the `#` that lists show. @throws {GauntletError} `tool_failed` */
export function taskOf({ tasks }: TaskList, id: string): PlannedTask {
  const wanted = id.replace(/^#/, '');
  const found = tasks.find((task) => task.id === wanted);
  if (found) return found;
  const known = tasks.length === 0 ? 'The list is empty' : `There are ${tasks.map((task) => `#${task.id}`).join(', ')}`;
  throw new GauntletError('tool_failed', `There is no task "${id}". ${known}: look with TaskList`);
}

/** Return the tasks that wait for a task. */
export function blocksOf({ tasks }: TaskList, id: string): readonly string[] {
  return tasks.filter(({ blockedBy }) => blockedBy.includes(id)).map((task) => task.id);
}

/** Return the open tasks that a task waits for. */
export function openBlockers({ tasks }: TaskList, { blockedBy }: PlannedTask): readonly string[] {
  return blockedBy.filter((id) => tasks.some((task) => task.id === id && task.status !== 'completed'));
}

/** Refuse circular dependencies. @throws {GauntletError} `tool_failed`, with the tasks of the circle. */
export function refuseCycles({ tasks }: TaskList): void {
  const byId = new Map(tasks.map((task) => [task.id, task]));
  const settled = new Set<string>();
  for (const { id } of tasks) {
    const circle = circleFrom(id, byId, settled);
    if (!circle) continue;
    const path = circle.map((each) => `#${each}`).join(' waits for ');
    throw new GauntletError('tool_failed', `Cannot link these tasks: ${path}, so none could begin. Leave one link out`);
  }
}

/** Format ids for a text. */
export function namesOf(ids: readonly string[]): string {
  return ids.map((id) => `#${id}`).join(', ');
}

/** Format a task as one line. */
export function taskLine(list: TaskList, task: PlannedTask): string {
  const owner = task.owner === undefined ? '' : ` (${task.owner})`;
  const open = task.status === 'completed' ? [] : openBlockers(list, task);
  const waits = open.length === 0 ? '' : ` [blocked by ${namesOf(open)}]`;
  return `#${task.id} [${task.status}] ${task.subject.replace(/\s+/g, ' ')}${owner}${waits}`;
}

function listOf(value: JsonValue | undefined): TaskList {
  return value === undefined ? { lastId: 0, tasks: [] } : TaskList.parse(value);
}

function refuseTooMany({ tasks }: TaskList): void {
  if (tasks.length > MAX_TASKS) throw full(`it has ${MAX_TASKS} tasks already`);
}

function full(why: string, cause?: unknown): GauntletError {
  const message = `Cannot keep this: the task list is full, ${why}. Delete finished tasks with TaskUpdate, status "deleted"`;
  return new GauntletError('resource_exhausted', message, { cause });
}

/** Depth first, without recursion: 500 tasks may wait in one line. @returns The circle, its first task twice. */
function circleFrom(
  start: string,
  byId: ReadonlyMap<string, PlannedTask>,
  settled: Set<string>,
): readonly string[] | undefined {
  const path: { readonly id: string; next: number }[] = [{ id: start, next: 0 }];
  for (let last = path.at(-1); last; last = path.at(-1)) {
    const blocker = byId.get(last.id)?.blockedBy[last.next++];
    if (blocker === undefined) {
      settled.add(last.id);
      path.pop();
    } else if (!settled.has(blocker)) {
      const place = path.findIndex(({ id }) => id === blocker);
      if (place >= 0) return [...path.slice(place).map(({ id }) => id), blocker];
      path.push({ id: blocker, next: 0 });
    }
  }
  return undefined;
}
