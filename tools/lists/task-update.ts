/** TaskUpdate: changes one task of the shared list, its links to others included. */
import * as z from 'zod';
import { GauntletError } from '../../src/base/errors.ts';
import { showValue } from '../../src/base/hidden-characters.ts';
import { buildTool } from '../../src/tool/build-tool.ts';
import type { Display } from '../../src/wire/display.ts';
import { drawFailure } from '../../src/tool/draw-failure.ts';
import {
  blocksOf,
  changeTasks,
  MAX_LINE_CHARS,
  MAX_TASK_CHARS,
  namesOf,
  openBlockers,
  type PlannedTask,
  refuseCycles,
  TASK_STATUSES,
  type TaskList,
  TaskMetadata,
  taskOf,
} from './planned-tasks.ts';
import type { ListToolServices } from './services.ts';

const PROMPT = `Changes a task of the shared task list: how far it is, who has it, what it says, and which tasks wait for which.

- Set status "in_progress" and yourself as owner before you begin a task, and "completed" only when all of it is done. One that failed or is stuck stays in_progress: add a task for what is missing.
- Status "deleted" takes the task out of the list for good, and out of the links of others.
- addBlockedBy names tasks that must be completed before this one, addBlocks tasks that wait for this one. Links in a circle are refused.
- metadata is merged into what is kept; a key with the value null is removed.
- The answer says what changed, and which tasks can begin now.`;

const MAX_LINKS = 100;

const line = z.string().min(1).max(MAX_LINE_CHARS);
const ids = z.array(z.string().min(1).max(40)).max(MAX_LINKS);

const TaskUpdateInput = z.strictObject({
  taskId: z.string().min(1).max(40).describe('Number of the task, as TaskCreate and TaskList give it'),
  subject: line.optional().describe('A new subject'),
  description: z.string().max(MAX_TASK_CHARS).optional().describe('A new description'),
  activeForm: line.optional().describe('The subject while it is being done'),
  status: z
    .enum([...TASK_STATUSES, 'deleted'])
    .optional()
    .describe('How far the task is; "deleted" takes it out of the list'),
  addBlocks: ids.optional().describe('Tasks that cannot begin before this one is completed'),
  addBlockedBy: ids.optional().describe('Tasks that must be completed before this one can begin'),
  owner: z.string().max(MAX_LINE_CHARS).optional().describe('Who does it, such as the name of an agent; "" for nobody'),
  metadata: TaskMetadata.optional().describe('Facts to add or change; null removes one'),
});

/** A parsed input. */
export type TaskUpdateArguments = z.output<typeof TaskUpdateInput>;

/** Make TaskUpdate. */
export function taskUpdateTool(services: ListToolServices) {
  return buildTool({
    name: 'TaskUpdate',
    searchHint: 'change, link, take or finish a planned task',
    shouldDefer: true,
    touchesOnlySession: () => true,
    inputSchema: TaskUpdateInput,
    maxResultSizeChars: 100_000,
    prompt: () => PROMPT,
    description: (input) => `Change task ${input.taskId}`,
    validateInput: (input) => {
      if (Object.keys(input).length > 1) return { result: true };
      const message = 'Cannot change the task: the input names nothing to change. Give status, owner or another field';
      return { result: false, message };
    },
    call: async (input, context) => {
      const { output } = await changeTasks(services, context, (list) => updated(list, input));
      return { data: output };
    },
    mapToolResultToToolResultBlockParam: (output: TaskUpdateOutput, toolUseId) => ({
      type: 'tool_result',
      tool_use_id: toolUseId,
      content: updateText(output),
    }),
    getToolUseSummary: (input) => [input.taskId, input.status].filter((word) => typeof word === 'string').join(' '),
    getActivityDescription: () => 'Updating the task list',
    renderToolUseMessage: renderTaskUpdate,
    renderToolResultMessage: (output: TaskUpdateOutput, _progress, { style }): Display => ({
      title: output.isDeleted ? `Task #${output.id} deleted` : `Task #${output.id} changed`,
      subtitle: output.subject,
      tone: 'success',
      blocks: style === 'condensed' || output.changes.length === 0 ? [] : [{ kind: 'list', items: output.changes }],
    }),
    renderToolUseRejectedMessage: (_input, message) => drawFailure('Did not change the task', message),
    renderToolUseErrorMessage: (message) => drawFailure('Could not change the task', message),
    renderGroupedToolUse: () => ({ key: 'task-list', title: 'Task list' }),
  });
}

/** Result of a change. */
export interface TaskUpdateOutput {
  readonly id: string;
  readonly subject: string;
  readonly isDeleted: boolean;
  /** One line each. */
  readonly changes: readonly string[];
  /** Tasks that wait for nothing any more. */
  readonly unblocked: readonly string[];
  /** Open tasks that the task waits for although it was begun or completed. */
  readonly openBlockers: readonly string[];
}

function updated(
  list: TaskList,
  input: TaskUpdateArguments,
): { readonly list: TaskList; readonly output: TaskUpdateOutput } {
  const before = taskOf(list, input.taskId);
  const { id } = before;
  const after = input.status === 'deleted' ? undefined : changedTask(list, before, input);
  const blocked = new Set((input.addBlocks ?? []).map((blockedId) => taskOf(list, blockedId).id));
  const tasks = list.tasks.flatMap((task) => {
    if (task.id === id) return after ? [blocked.has(id) ? withBlocker(after, id) : after] : [];
    if (!after) return [{ ...task, blockedBy: task.blockedBy.filter((blocker) => blocker !== id) }];
    return [blocked.has(task.id) ? withBlocker(task, id) : task];
  });
  const next = { ...list, tasks };
  refuseCycles(next);
  const wasWaiting = (task: PlannedTask) => openBlockers(list, taskOf(list, task.id)).length > 0;
  const freed = tasks.filter(
    (task) => task.status !== 'completed' && wasWaiting(task) && openBlockers(next, task).length === 0,
  );
  const output = {
    id,
    subject: after?.subject ?? before.subject,
    isDeleted: after === undefined,
    changes: after ? changesOf(before, after, blocksOf(list, id), blocksOf(next, id)) : [],
    unblocked: freed.map((task) => task.id),
    openBlockers: after && after.status !== 'pending' ? openBlockers(next, after) : [],
  };
  return { list: next, output };
}

function changedTask(
  list: TaskList,
  task: PlannedTask,
  { subject, description, activeForm, status, owner, metadata, addBlockedBy = [] }: TaskUpdateArguments,
): PlannedTask {
  const changed = {
    ...task,
    ...(subject !== undefined && { subject }),
    ...(description !== undefined && { description }),
    ...(activeForm !== undefined && { activeForm }),
    ...(status !== undefined && status !== 'deleted' && { status }),
    ...(owner !== undefined && { owner: owner === '' ? undefined : owner }),
    ...(metadata && { metadata: mergedMetadata(task.metadata, metadata) }),
  };
  return addBlockedBy.reduce((next, id) => withBlocker(next, taskOf(list, id).id), changed);
}

function withBlocker(task: PlannedTask, id: string): PlannedTask {
  return task.blockedBy.includes(id) ? task : { ...task, blockedBy: [...task.blockedBy, id] };
}

function mergedMetadata(
  before: PlannedTask['metadata'] = {},
  changes: Readonly<Record<string, unknown>>,
): PlannedTask['metadata'] {
  const kept = Object.entries({ ...before, ...changes }).filter(([, value]) => value !== null);
  const merged = Object.fromEntries(kept);
  if (JSON.stringify(merged).length <= MAX_TASK_CHARS) return kept.length === 0 ? undefined : merged;
  const message = `Cannot change "metadata": it would have more than ${MAX_TASK_CHARS} characters. Remove keys with null`;
  throw new GauntletError('tool_failed', message);
}

function changesOf(
  before: PlannedTask,
  after: PlannedTask,
  blockedBefore: readonly string[],
  blockedAfter: readonly string[],
): readonly string[] {
  const short = (['status', 'owner', 'subject', 'activeForm'] as const).flatMap((field) =>
    before[field] === after[field] ? [] : [`${field}: ${before[field] ?? '(none)'} → ${after[field] ?? '(none)'}`],
  );
  const long = (['description', 'metadata'] as const).flatMap((field) =>
    JSON.stringify(before[field]) === JSON.stringify(after[field]) ? [] : [`${field}: changed`],
  );
  const newBlockers = after.blockedBy.filter((id) => !before.blockedBy.includes(id));
  const newBlocked = blockedAfter.filter((id) => !blockedBefore.includes(id));
  return [
    ...short,
    ...long,
    ...(newBlockers.length > 0 ? [`waits for ${namesOf(newBlockers)}`] : []),
    ...(newBlocked.length > 0 ? [`blocks ${namesOf(newBlocked)}`] : []),
  ];
}

function updateText({ id, subject, isDeleted, changes, unblocked, openBlockers: open }: TaskUpdateOutput): string {
  const first = isDeleted
    ? `Deleted task #${id}: ${subject}`
    : changes.length === 0
      ? `Task #${id} is like that already: ${subject}`
      : `Changed task #${id}: ${subject}`;
  const notes = [
    ...changes.map((change) => `- ${change}`),
    ...(unblocked.length > 0 ? [`Can begin now: ${namesOf(unblocked)}`] : []),
    ...(open.length > 0 ? [`Note: it waits for ${namesOf(open)}, not completed yet`] : []),
  ];
  return [first, ...notes].join('\n');
}

function renderTaskUpdate({ taskId, status, owner }: Partial<TaskUpdateArguments>): Display {
  const words = [status, typeof owner === 'string' && owner !== '' ? `owner ${owner}` : undefined];
  const subtitle = words.filter((word) => typeof word === 'string').join(', ');
  return { title: `Change task #${showValue(taskId, '…')}`, ...(subtitle !== '' && { subtitle }), blocks: [] };
}
