/**
 * Builds the description of a session, as in `POST /sessions` and `GET /sessions/{id}`.
 */
import { toWirePermissionContext } from '../../permissions/context.ts';
import type { OpenedFrame, Seq } from '../../wire/frames.ts';
import type { RunningCall, SessionDescription } from '../../wire/session-replies.ts';
import type { SessionContext } from '../../tool/session-context.ts';
import type { SessionCore } from '../session-core.ts';
import type { SessionLabel } from '../session-label.ts';

/** Describe a session as it stands. */
export function describeSession(core: SessionCore): SessionDescription {
  const running = runningCalls(core);
  const { opened, context, label, services } = core;
  const lastAt = services.log.lastAt(core.id) ?? opened.created_at;
  const still = describeStill({ opened, context, label, head: services.log.bounds(core.id)?.head ?? 0, lastAt });
  const isAsking = core.questions.open.length + core.climbed.size > 0;
  return { ...still, state: isAsking ? 'waiting' : running.length > 0 ? 'running' : 'idle', running };
}

/** A session without running calls. */
interface StillSession {
  readonly opened: OpenedFrame;
  readonly context: SessionContext;
  readonly label: SessionLabel;
  readonly head: Seq;
  readonly lastAt: string;
}

/** Describe a session without running calls, such as one that is not loaded. */
export function describeStill({ opened, context, label, head, lastAt }: StillSession): SessionDescription {
  const { title = opened.title } = label;
  return {
    session_id: opened.session_id,
    cwd: context.cwd,
    mode: context.permissions.mode,
    tool_mode: context.toolMode,
    permission_context: toWirePermissionContext(context.permissions),
    created_at: opened.created_at,
    last_activity_at: lastAt,
    title: title === '' ? undefined : title,
    archived: label.isArchived,
    on_ask: opened.on_ask,
    id_scope: opened.id_scope,
    tool_search: opened.tool_search,
    tools: opened.tools,
    output_schema: opened.output_schema,
    parent: opened.parent,
    state: 'idle',
    head,
    running: [],
  };
}

/** Calls that wait, run, or wait to be yielded, in order of acceptance; inner calls after all others. */
export function runningCalls(core: SessionCore): readonly RunningCall[] {
  const inner = [...core.innerCalls].flatMap(({ scheduled }) => scheduled ?? []);
  return [...core.executor.unyielded, ...inner].flatMap(({ runnable, state }) => {
    const call = core.ledger.call(runnable.toolUseId);
    if (!call) return [];
    const { toolUseId, name, turn, parentId } = call;
    return [{ tool_use_id: toolUseId, name, turn_id: turn.id, parent_tool_use_id: parentId, state }];
  });
}
