/**
 * Builds the description of a session, as in `POST /sessions` and `GET /sessions/{id}`.
 */
import { toWirePermissionContext } from '../../permissions/context.ts';
import type { OpenedFrame, Seq } from '../../wire/frames.ts';
import type { RunningCall, SessionDescription } from '../../wire/session-replies.ts';
import type { SessionContext } from '../../tool/session-context.ts';
import type { SessionCore } from '../session-core.ts';

/** Describe a session as it stands. */
export function describeSession(core: SessionCore): SessionDescription {
  const running = runningCalls(core);
  const still = describeStill(core.opened, core.context, core.services.log.bounds(core.id)?.head ?? 0);
  const isAsking = core.questions.open.length + core.climbed.size > 0;
  return { ...still, state: isAsking ? 'waiting' : running.length > 0 ? 'running' : 'idle', running };
}

/** Describe a session without running calls, such as one that is not loaded. */
export function describeStill(opened: OpenedFrame, context: SessionContext, head: Seq): SessionDescription {
  return {
    session_id: opened.session_id,
    cwd: context.cwd,
    mode: context.permissions.mode,
    tool_mode: context.toolMode,
    permission_context: toWirePermissionContext(context.permissions),
    created_at: opened.created_at,
    title: opened.title,
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
