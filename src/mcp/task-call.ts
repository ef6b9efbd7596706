/**
 * Calls a tool as a task of the 2025-11-25 revision: the server answers at once with a task, which is followed to its end.
 *
 * In the 2026-07-28 revision tasks are an extension, which the SDK refuses to read; it is not declared, and servers answer
 * without tasks.
 */
import { type CallToolResult, type Client, type RequestOptions, specTypeSchemas } from '@modelcontextprotocol/client';
import { setTimeout as delay } from 'node:timers/promises';
import * as z from 'zod';
import { GauntletError } from '../base/errors.ts';
import type { McpToolDefinition } from './tool-definition.ts';
import { visibleLine } from './visible-text.ts';

/** Pause between two looks at a task; the server may name its own within these bounds. */
const POLL_MS = 1_000;
const MIN_POLL_MS = 20;
const MAX_POLL_MS = 30_000;

/** Time for telling a server that its task is not wanted any more. */
const CANCEL_MS = 2_000;

/** A result is kept at the server for this long beyond the longest call. */
const FETCH_MS = 60_000;

/** Key of `_meta` that names the task of a result. */
const RELATED_TASK = 'io.modelcontextprotocol/related-task';

/** Status of a task in an error, in characters. */
const STATUS_CHARS = 500;

const Task = z.looseObject({
  taskId: z.string(),
  status: z.enum(['working', 'input_required', 'completed', 'failed', 'cancelled']),
  statusMessage: z.string().optional().catch(undefined),
  lastUpdatedAt: z.string().optional().catch(undefined),
  pollInterval: z.number().optional().catch(undefined),
});

type Task = z.output<typeof Task>;

const CreatedTask = z.looseObject({ task: Task });

/** Options of `callAsTask`. */
export interface TaskCallOptions {
  readonly signal: AbortSignal;
  /** Longest call. */
  readonly totalMs: number;
  /** Timeout of one request, in milliseconds. */
  readonly timeout: number;
  /** Called with each new status of the task. */
  readonly onStatus: (status: string) => void;
}

/** Report whether a tool is called as a task: it offers or demands that, and its server serves such calls. */
export function isCalledAsTask(client: Client, { execution }: Pick<McpToolDefinition, 'execution'>): boolean {
  const isServed = client.getServerCapabilities()?.tasks?.requests?.tools?.call !== undefined;
  const support = execution?.taskSupport;
  return isServed && (support === 'optional' || support === 'required') && client.getProtocolEra() === 'legacy';
}

/**
 * Call the tool and follow its task. A call that is aborted, or whose task cannot be followed, cancels it at the server.
 *
 * @throws The SDK's error, or {GauntletError} `tool_failed` if the server cancelled the task.
 */
export async function callAsTask(
  client: Client,
  params: {
    readonly name: string;
    readonly arguments: Record<string, unknown>;
    readonly _meta?: Readonly<Record<string, unknown>>;
  },
  { signal, totalMs, timeout, onStatus }: TaskCallOptions,
): Promise<CallToolResult> {
  const options = { signal, timeout } satisfies RequestOptions;
  const asked = { method: 'tools/call', params: { ...params, task: { ttl: totalMs + FETCH_MS } } };
  const { task: created } = await client.request(asked, CreatedTask, options);
  const { taskId } = created;
  try {
    const ended = await followTask(client, created, { options, onStatus });
    if (ended.status === 'cancelled') throw cancelledByServer(ended);
    // While the task waits for input, the server asks for it during this request, which lasts until the task has ended.
    const request = { method: 'tasks/result', params: { taskId } };
    return withoutTask(await client.request(request, specTypeSchemas.CallToolResult, options));
  } catch (error) {
    // One that has ended refuses it.
    void cancelTask(client, taskId);
    throw error;
  }
}

/** Drop the name of the task, so that the result is the one of any call. */
function withoutTask({ _meta: { [RELATED_TASK]: _task, ...meta } = {}, ...result }: CallToolResult): CallToolResult {
  return Object.keys(meta).length === 0 ? result : { ...result, _meta: meta };
}

/** Look at the task until it has ended or wants input. */
async function followTask(
  client: Client,
  created: Task,
  { options, onStatus }: { readonly options: RequestOptions & { signal: AbortSignal }; onStatus(status: string): void },
): Promise<Task> {
  let task = created;
  let seen: string | undefined;
  for (;;) {
    const state = `${task.status} ${task.lastUpdatedAt} ${task.statusMessage}`;
    if (state !== seen) onStatus(task.statusMessage ?? task.status);
    seen = state;
    if (task.status !== 'working') return task;
    const pauseMs = Math.min(Math.max(task.pollInterval ?? POLL_MS, MIN_POLL_MS), MAX_POLL_MS);
    await delay(pauseMs, undefined, { signal: options.signal });
    // By the id that was given first, whatever the status names.
    task = await client.request({ method: 'tasks/get', params: { taskId: created.taskId } }, Task, options);
  }
}

/** Tell the server that its task is not wanted any more. Never rejects: one that has gone needs not be told. */
async function cancelTask(client: Client, taskId: string): Promise<void> {
  const request = { method: 'tasks/cancel', params: { taskId } };
  await client.request(request, z.looseObject({}), { timeout: CANCEL_MS }).catch(() => undefined);
}

function cancelledByServer({ statusMessage }: Task): GauntletError {
  const why = statusMessage === undefined ? '' : `: ${visibleLine(statusMessage, STATUS_CHARS)}`;
  return new GauntletError('tool_failed', `The server cancelled the task of this call${why}`);
}
