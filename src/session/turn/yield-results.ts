/**
 * Sends results: fits each to the turn's budget, in order, and ends the turn after the last.
 */
import { fitResult, NOTICE_CHARS, type FittedResult } from '../../call/fit-result.ts';
import type { CallOutcome } from '../../call/outcome.ts';
import type { CallSummary, ResultFrame, TurnEndFrame } from '../../wire/frames.ts';
import type { ScheduledCall } from '../../schedule/scheduled-call.ts';
import type { CallRecord, TurnRecord } from '../call-record.ts';
import type { SessionCore } from '../session-core.ts';

/** Sends results one after another; while one is being spilled, later ones wait. */
export class ResultLine {
  readonly #core: SessionCore;
  #last: Promise<void> | undefined;

  constructor(core: SessionCore) {
    this.#core = core;
  }

  /** Send results, in this order. */
  yield(calls: readonly ScheduledCall[]): void {
    for (const call of calls) {
      const record = this.#core.ledger.call(call.runnable.toolUseId);
      if (!record || !call.outcome) continue;
      const { outcome } = call;
      const leave = async () => void (await leaveWithResult(this.#core, record, outcome, durationOf(call)));
      const before = this.#last;
      this.#core.leaving++;
      const step: Promise<void> = (before ? before.then(leave) : leave())
        .catch((error: unknown) => this.#core.services.onFault(error, 'A result could not leave'))
        .finally(() => {
          this.#core.leaving--;
          if (this.#last === step) this.#last = undefined;
        });
      this.#last = step;
    }
  }
}

/** Milliseconds for which a call executed. */
export function durationOf({ startedMs, completedMs }: ScheduledCall): number {
  return startedMs === undefined || completedMs === undefined ? 0 : completedMs - startedMs;
}

/**
 * Write a result to the log, fitted to its budget.
 *
 * @returns The fitted result; `undefined` for a call whose acceptance failed.
 */
export async function leaveWithResult(
  core: SessionCore,
  record: CallRecord,
  outcome: CallOutcome,
  durationMs: number,
): Promise<FittedResult | undefined> {
  if (record.isForgotten) return undefined;
  const isInner = record.parentId !== undefined;
  const fitted = await fitOutcome(core, record, outcome);
  if (outcome.budget.isInTurnSum && !isInner) record.turn.budget.spend(fitted.resultChars);
  const summary = summarise(core, record, outcome, fitted, durationMs);
  record.summary = summary;
  core.log.insist(
    [resultFrame(record, outcome, fitted, summary)],
    () => !record.isForgotten,
    (seq) => {
      record.resultSeq = seq;
      record.block = undefined;
      record.scheduled = undefined;
      record.executor = undefined;
      record.onResult = undefined;
    },
  );
  for (const turn of [record.turn, ...(record.joinedBy ?? [])]) {
    if (isInner) turn.innerUnyielded--;
    else turn.unyielded--;
    endTurnIfDone(core, turn);
  }
  record.onResult?.(record, outcome, fitted.content);
  return fitted;
}

/** Close a turn to further blocks. Logged if its end does not follow at once. */
export function closeTurn(core: SessionCore, turn: TurnRecord): void {
  if (turn.state === 'open') {
    turn.state = 'closed';
    const endsNow = turn.unyielded + turn.innerUnyielded === 0;
    if (turn.isLoggedOpen && !endsNow) core.log.tell({ type: 'turn_closed', turn_id: turn.id });
    turn.isLoggedOpen = false;
  }
  endTurnIfDone(core, turn);
}

/** End a turn that is closed, or orphaned by a crash, once nothing is left to yield; may be called at any time. */
export function endTurnIfDone(core: SessionCore, turn: TurnRecord): void {
  const isOver = turn.state === 'closed' || (turn.isOrphaned === true && turn.state === 'open');
  if (!isOver || turn.unyielded + turn.innerUnyielded > 0) return;
  turn.state = 'ended';
  turn.executorTurn.node.release();
  const replayed = turn.replayed.flatMap(({ summary }) => (summary ? [{ ...summary, replayed: true }] : []));
  const own = turn.calls.flatMap(({ summary }) => (summary ? [summary] : []));
  const frame: TurnEndFrame = { type: 'turn_end', turn_id: turn.id, calls: [...own, ...replayed] };
  core.log.insist(
    [frame],
    () => core.ledger.turn(turn.id) === turn,
    (seq) => {
      core.ledger.end(turn, seq);
      core.saveIfDue();
    },
  );
}

/** A text that the tool itself wrote to a file is not written again; the result's URL serves that file. */
async function fitOutcome(core: SessionCore, record: CallRecord, outcome: CallOutcome): Promise<FittedResult> {
  const { services } = core;
  const { content, budget, spilled } = outcome;
  const { turn, parentId } = record;
  const fitted = await fitResult(content, budget, {
    // Later blocks need room at least for a notice, or the total would exceed the budget. Inner results are not sent to
    // the model, so they do not count.
    remainingChars:
      parentId === undefined ? Math.max(0, turn.budget.remainingChars - NOTICE_CHARS * (turn.unyielded - 1)) : Infinity,
    resultChars: services.limits.resultChars,
    previewChars: services.limits.previewChars,
    spill: async (text) => spilled ?? services.spill(services.sessionFolder(core.id), `${record.toolUseId}.txt`, text),
  });
  return spilled ? { ...fitted, spilled } : fitted;
}

function summarise(
  core: SessionCore,
  record: CallRecord,
  outcome: CallOutcome,
  fitted: FittedResult,
  durationMs: number,
): CallSummary {
  const { spilled } = fitted;
  return {
    tool_use_id: record.toolUseId,
    name: record.name,
    status: outcome.status,
    error_code: outcome.errorCode,
    duration_ms: Math.round(durationMs * 1_000) / 1_000,
    result_chars: fitted.resultChars,
    truncated: outcome.isTruncated === true ? true : undefined,
    spilled: spilled && { chars: spilled.chars, path: spilled.path, url: resultUrl(core.id, record.toolUseId) },
  };
}

function resultFrame(record: CallRecord, outcome: CallOutcome, fitted: FittedResult, call: CallSummary): ResultFrame {
  return {
    type: 'result',
    turn_id: record.turn.id,
    index: record.index,
    tool_use_id: record.toolUseId,
    parent_tool_use_id: record.parentId,
    tool_result: {
      type: 'tool_result',
      tool_use_id: record.toolUseId,
      content: fitted.content,
      is_error: outcome.status === 'ok' ? undefined : true,
    },
    call,
    decision: outcome.decided,
    display: outcome.display,
    condensed: outcome.condensed,
    new_messages: outcome.newMessages,
  };
}

function resultUrl(sessionId: string, toolUseId: string): string {
  return `/sessions/${sessionId}/results/${toolUseId}`;
}
