/**
 * Plans the repair of a session after a crash: calls without a result get one, once, and unanswered questions are asked
 * again.
 *
 * A task without an end has ended with its server.
 *
 * In a turn in which a call had started to run, every call without a result becomes `interrupted`. A turn in which
 * nothing had started but a question was open survives, and so do the turns queued after it. A turn that its client had
 * not closed ends like any other, so that no reader waits for ever, and may be continued.
 */
import type { ToolResultBlock } from '../../wire/blocks.ts';
import type {
  CallSummary,
  NewFrame,
  PermissionRequestFrame,
  PermissionResolvedFrame,
  ResultFrame,
  TurnEndFrame,
} from '../../wire/frames.ts';
import { endedFrame, SERVER_STOPPED } from '../../tasks/task-frames.ts';
import type { LoggedCall, LoggedHistory, LoggedTurn } from './replay-log.ts';

const INTERRUPTED =
  'Interrupted: the server stopped before this call ended, so what it did is not known. ' +
  'Look before you try again, with a new id';

/** Frames to append, and turns that continue. */
export interface Recovery {
  /** One atomic batch; empty if the log is consistent. */
  readonly frames: readonly NewFrame[];
  /** Turns with open questions, and those queued after them. */
  readonly surviving: ReadonlySet<LoggedTurn>;
  /** Ids of turns that were open: a client may continue them. */
  readonly reopened: ReadonlySet<string>;
}

/** Plan the repair of a session. Pure: the same log gives the same frames. */
export function planRecovery(history: LoggedHistory): Recovery {
  const open = [...history.turns.values()].filter((turn) => turn.endSeq === undefined);
  // The call that opened a child session is gone, so no result of the child is awaited.
  const surviving = history.opened.parent ? new Set<LoggedTurn>() : survivors(open);
  // The call that opened them has started, and is over: so are its children.
  const frames: NewFrame[] = history.climbed.map(withdrawn);
  for (const turn of open) {
    if (surviving.has(turn)) continue;
    // Inner calls end before the call that made them.
    const calls = [...turn.inner.toReversed(), ...turn.calls];
    const ended = calls.map((call) => ({ call, summary: call.summary ?? interruptedSummary(call) }));
    for (const { call, summary } of ended) {
      if (call.summary) continue;
      if (call.question) frames.push(withdrawn(call.question));
      frames.push(interruptedResult(call, summary));
    }
    const summaries = ended.slice(turn.inner.length).map(({ summary }) => summary);
    frames.push({ type: 'turn_end', turn_id: turn.id, calls: summaries } satisfies TurnEndFrame);
  }
  for (const task of history.tasks) {
    const { status, note } = SERVER_STOPPED;
    if (task.state === 'running') frames.push(endedFrame({ ...task, note }, status));
  }
  if (frames.length > 0) frames.unshift({ ...history.opened, reopened: true });
  // No client feeds a child session after its call has ended.
  const reopened = history.opened.parent ? [] : open.filter(({ isOpen }) => isOpen);
  return { frames, surviving, reopened: new Set(reopened.map(({ id }) => id)) };
}

function survivors(open: readonly LoggedTurn[]): ReadonlySet<LoggedTurn> {
  const surviving = new Set<LoggedTurn>();
  for (const turn of open) {
    const unfinished = turn.calls.filter((call) => !call.summary);
    const hasBegun = turn.calls.some((call) => call.hasStarted);
    const waits = unfinished.some((call) => call.question) || (unfinished.length > 0 && surviving.size > 0);
    if (!hasBegun && waits) surviving.add(turn);
  }
  return surviving;
}

function withdrawn(question: PermissionRequestFrame): PermissionResolvedFrame {
  const reason = 'The server stopped before the call ended';
  const { request_id, tool_use_id, parent_tool_use_id, session_id } = question;
  const ids = { request_id, tool_use_id, parent_tool_use_id, session_id };
  return { type: 'permission_resolved', ...ids, behavior: 'deny', by: 'cancelled', reason };
}

function interruptedSummary({ block }: LoggedCall): CallSummary {
  return {
    tool_use_id: block.id,
    name: block.name,
    status: 'interrupted',
    error_code: 'interrupted',
    duration_ms: 0,
    result_chars: INTERRUPTED.length,
  };
}

function interruptedResult(call: LoggedCall, summary: CallSummary): ResultFrame {
  const tool_result: ToolResultBlock = {
    type: 'tool_result',
    tool_use_id: call.block.id,
    content: INTERRUPTED,
    is_error: true,
  };
  return {
    type: 'result',
    turn_id: call.turnId,
    index: call.index,
    tool_use_id: call.block.id,
    parent_tool_use_id: call.parentId,
    tool_result,
    call: summary,
    display: { title: summary.name, subtitle: 'Interrupted', tone: 'warning', blocks: [] },
  };
}
