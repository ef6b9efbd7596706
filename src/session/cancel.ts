/**
 * Ending calls before their time: at a client's wish, a person's word, or the server's end.
 */
import { GauntletError } from '../base/errors.ts';
import type { ScheduledCall } from '../schedule/scheduled-call.ts';
import type { SessionCore } from './session-core.ts';

/** One call, one turn, or, with neither, all that waits and runs. */
export interface CancelTarget {
  readonly toolUseId?: string;
  readonly turnId?: string;
}

/** Cancel what a client names. @returns Ids of the calls that had no result yet. @throws {GauntletError} `not_found` */
export function cancelCalls({ executor, ledger }: SessionCore, target: CancelTarget): readonly string[] {
  const message = 'Cancelled by the client';
  if (target.toolUseId !== undefined) {
    const record = ledger.call(target.toolUseId);
    if (!record) throw new GauntletError('not_found', `There is no call "${target.toolUseId}" in this session`);
    const { scheduled, executor: own = executor } = record;
    return ids(own.cancel(scheduled ? [scheduled] : [], 'cancelled', message));
  }
  if (target.turnId === undefined) return ids(executor.cancel(executor.unyielded, 'cancelled', message));
  const turn = ledger.turn(target.turnId);
  if (!turn) throw new GauntletError('not_found', `There is no turn "${target.turnId}" in this session`);
  return ids(executor.cancelTurn(turn.executorTurn, 'cancelled', message));
}

/** A person typed: running tools say what becomes of them, what is queued is cancelled, and viewers are told. */
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
 * Calls whose work goes on; those that wait for an answer, and those behind them, do not work. Nor does a call that waits
 * for such a one below it: a child session is asked itself whether it works.
 */
export function workingCalls({ executor, questions, climbed, innerCalls }: SessionCore): readonly ScheduledCall[] {
  const asking = new Set(questions.open.map(({ tool_use_id }) => tool_use_id));
  for (const { frame } of climbed.values()) if (frame.parent_tool_use_id) asking.add(frame.parent_tool_use_id);
  const waits = (toolUseId: string): boolean => {
    if (asking.has(toolUseId)) return true;
    const inner = [...innerCalls].filter(({ parentId }) => parentId === toolUseId);
    return inner.length > 0 && inner.every((record) => waits(record.toolUseId));
  };
  return executor.unyielded.filter(({ state, runnable }) => state === 'executing' && !waits(runnable.toolUseId));
}

/** The server ends before these calls do; what waits behind them starts no more. */
export function stopWorking(core: SessionCore): void {
  core.executor.halt();
  core.executor.cancel(workingCalls(core), 'interrupted', 'Interrupted: the server is shutting down');
}

function ids(calls: readonly ScheduledCall[]): readonly string[] {
  return calls.map(({ runnable }) => runnable.toolUseId);
}
