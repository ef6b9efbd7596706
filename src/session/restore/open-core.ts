/**
 * Creates a session's core, new or from its log, with the executor connected to the log.
 */
import type { AssistantMessage } from '../../wire/blocks.ts';
import { errorMessage } from '../../base/errors.ts';
import type { OpenedFrame, Seq } from '../../wire/frames.ts';
import type { ExecutorEvents } from '../../schedule/streaming-tool-executor.ts';
import { openTurn } from '../turn/intake.ts';
import { prepareCall } from '../turn/prepare-call.ts';
import type { LoggedCall, LoggedHistory, LoggedTurn } from './replay-log.ts';
import type { OrderedHistory } from './read-history.ts';
import { saveReads, saveSession } from './save-session.ts';
import { SessionCore } from '../session-core.ts';
import { savedLabel } from '../session-label.ts';
import type { SessionServices } from '../session-services.ts';
import { sessionContextFrom, restoredContext } from './restored-context.ts';
import type { Turn } from '../turn/turn.ts';
import { closeTurn, ResultLine } from '../turn/yield-results.ts';

const CALLBACKS = { events: executorEvents, save: saveSession, saveReads };
const CANCELLED = { behavior: 'deny', by: 'cancelled' } as const;

/** Create the core of a new session, whose first frame is not yet in the log. */
export function newCore(opened: OpenedFrame, services: SessionServices): SessionCore {
  const context = sessionContextFrom({ opened }, services);
  return new SessionCore({ opened, context, head: 0, settled: new Map() }, services, CALLBACKS);
}

/**
 * Restore a session's core from its log.
 *
 * @throws {GauntletError} `forbidden` if its folder is no longer within its principal's bounds.
 * Calls of surviving turns pass their gates again; a turn that was open continues if a client feeds it in time.
 */
export function restoredCore(
  history: LoggedHistory,
  { surviving, reopened }: Pick<OrderedHistory, 'surviving' | 'reopened'>,
  services: SessionServices,
): SessionCore {
  const { opened, head, settled, tasks } = history;
  const context = restoredContext(history, services);
  services.checkFolders(opened.principal, [context.root]);
  const savedAs = history.savedSeq === undefined ? undefined : { seq: history.savedSeq, context };
  const label = savedLabel(services.log, opened.session_id);
  const core = new SessionCore({ opened, context, head, settled, tasks, label, savedAs }, services, CALLBACKS);
  for (const turn of history.turns.values()) restoreTurn(core, turn, reopened.has(turn.id));
  for (const turn of surviving) resumeTurn(core, turn);
  for (const id of reopened) awaitFeeder(core, history.turns.get(id));
  return core;
}

function executorEvents(core: SessionCore): ExecutorEvents {
  const line = new ResultLine(core);
  return {
    onState: (call, state) => {
      const { toolUseId } = call.runnable;
      const { isExecutingLogged, parentId, trace } = core.ledger.call(toolUseId) ?? {};
      if (state === 'executing') trace?.executing();
      else if (call.outcome) trace?.ended(call.outcome);
      if (state === 'completed') core.questions.withdrawQuestion(toolUseId, CANCELLED, 'The call has ended');
      if (state === 'executing' && isExecutingLogged) return;
      core.log.tell({ type: 'state', tool_use_id: toolUseId, parent_tool_use_id: parentId, state });
    },
    onYield: (calls) => line.yield(calls),
    onModifier: (modifier) => {
      try {
        const changed = core.setContext(core.contextAfter(modifier));
        changed.catch((error: unknown) => core.services.onFault(error, 'A context could not be logged'));
        return undefined;
      } catch (error) {
        const message = errorMessage(error);
        core.log.tell({ type: 'notice', level: 'error', code: 'context_unchanged', message });
        return message;
      }
    },
  };
}

function restoreTurn(core: SessionCore, logged: LoggedTurn, isReopened: boolean): void {
  const turn = openTurn(core, logged.id);
  for (const call of logged.calls) restoreCall(core, turn, call);
  for (const call of logged.inner) restoreInnerCall(core, turn, call);
  turn.budget.spend(logged.spentChars);
  if (logged.endSeq !== undefined && !isReopened) endTurn(core, turn, logged.endSeq);
}

function restoreCall(core: SessionCore, turn: Turn, logged: LoggedCall): void {
  const { block, summary, providerId } = logged;
  // Settled calls, and those that a crash interrupted, are never asked about again; an open question keeps waiting.
  const call = turn.add(block, summary?.name ?? block.name, { askPolicy: {}, providerId });
  call.restore(logged);
  core.ledger.addCall(call);
}

/** Restore an inner call, which is settled by now: it never continues without the call that made it. */
function restoreInnerCall(core: SessionCore, turn: Turn, logged: LoggedCall): void {
  const { block, index, parentId, summary } = logged;
  const call = turn.addInner(block, { name: summary?.name ?? block.name, index, parentId, askPolicy: {} });
  call.restore(logged);
  core.ledger.addCall(call);
}

/** Queue calls that had not started, in the order of their acceptance; they pass their gates again. */
function resumeTurn(core: SessionCore, logged: LoggedTurn): void {
  const turn = core.ledger.turn(logged.id);
  if (!turn) return;
  const message: AssistantMessage = { role: 'assistant', content: logged.calls.map(({ block }) => block) };
  for (const call of logged.calls) if (call.question) core.questions.restore(call.question);
  for (const call of logged.calls) {
    const queued = core.ledger.call(call.block.id);
    if (call.summary || !queued) continue;
    queued.schedule(
      core.executor,
      turn.executorTurn,
      prepareCall(core, queued, { block: call.block, message, pool: core.pool }),
    );
  }
  if (!logged.isOpen) closeTurn(core, turn);
}

/** Keep a turn open for a client to feed; after the time it ends, at its logged end if there is one. */
function awaitFeeder(core: SessionCore, logged: LoggedTurn | undefined): void {
  const turn = logged && core.ledger.turn(logged.id);
  if (!turn) return;
  turn.awaitFeeder(logged.endSeq !== undefined);
  setTimeout(() => {
    if (turn.feeder !== undefined || !turn.isOpen) return;
    if (logged.endSeq === undefined) closeTurn(core, turn);
    else endTurn(core, turn, logged.endSeq);
  }, core.services.limits.turnFeederMs).unref();
}

function endTurn(core: SessionCore, turn: Turn, endSeq: Seq): void {
  turn.end();
  core.ledger.end(turn, endSeq);
}
