/**
 * Cancels calls: for a client, for an interrupting person, or because the server ends.
 */
import { GauntletError } from '../base/errors.ts';
import type { ScheduledCall } from '../schedule/scheduled-call.ts';
import type { SessionCore } from './session-core.ts';

/** One call, one turn or, with neither, everything that waits or runs. */
export interface CancelTarget {
  readonly toolUseId?: string;
  readonly turnId?: string;
}

/**
 * Cancel the target of a client.
 *
 * @returns Ids of the calls that had no result yet.
 * @throws {GauntletError} `not_found`
 */
export function cancelCalls({ executor, ledger }: SessionCore, target: CancelTarget): readonly string[] {
  const message = 'Cancelled by the client';
  if (target.toolUseId !== undefined) {
    const call = ledger.call(target.toolUseId);
    if (!call) throw new GauntletError('not_found', `There is no call "${target.toolUseId}" in this session`);
    return call.cancel(message) ? [call.toolUseId] : [];
  }
  if (target.turnId === undefined) return ids(executor.cancel(executor.unyielded, 'cancelled', message));
  const turn = ledger.turn(target.turnId);
  if (!turn) throw new GauntletError('not_found', `There is no turn "${target.turnId}" in this session`);
  return ids(executor.cancelTurn(turn.executorTurn, 'cancelled', message));
}

/**
 * Interrupt the session: running tools choose to stop or continue, queued calls are cancelled, and viewers are
 * notified.
 */
export function interruptCalls({ executor, log }: SessionCore): void {
  const { cancelled, continuing } = executor.interrupt();
  log.tell({
    type: 'notice',
    level: 'info',
    code: 'interrupted',
    message: `Interrupted: ${cancelled.length} cancelled, ${continuing.length} continuing`,
    cancelled: ids(cancelled),
    continuing: ids(continuing),
  });
}

/**
 * Calls that are making progress. Calls that wait for an answer, and those queued after them, are not; nor is a call
 * all of whose inner calls wait. A child session is checked by itself.
 */
export function workingCalls({ executor, questions, climbed, innerCalls }: SessionCore): readonly ScheduledCall[] {
  const asking = new Set(questions.open.map(({ tool_use_id }) => tool_use_id));
  for (const { frame } of climbed.values()) if (frame.parent_tool_use_id) asking.add(frame.parent_tool_use_id);
  const waits = (toolUseId: string): boolean => {
    if (asking.has(toolUseId)) return true;
    const inner = [...innerCalls].filter(({ parentId }) => parentId === toolUseId);
    return inner.length > 0 && inner.every((call) => waits(call.toolUseId));
  };
  return executor.unyielded.filter(({ state, runnable }) => state === 'executing' && !waits(runnable.toolUseId));
}

/** Stop the calls because the server ends; queued ones do not start. */
export function stopWorking(core: SessionCore): void {
  core.executor.halt();
  core.executor.cancel(workingCalls(core), 'interrupted', 'Interrupted: the server is shutting down');
}

function ids(calls: readonly ScheduledCall[]): readonly string[] {
  return calls.map(({ runnable }) => runnable.toolUseId);
}
