/**
 * Sends results: fits each to the turn's budget, in order, and ends the turn after the last.
 */
import { fitResult, NOTICE_CHARS, type FittedResult } from '../../call/fit-result.ts';
import type { CallOutcome } from '../../call/outcome.ts';
import { callFileName } from '../../files/spill.ts';
import type { CallSummary, ResultFrame, TurnEndFrame } from '../../wire/frames.ts';
import type { ScheduledCall } from '../../schedule/scheduled-call.ts';
import type { SessionCore } from '../session-core.ts';
import type { Call, Turn } from './turn.ts';

/** Sends results one after another; while one is being spilled, later ones wait. */
export class ResultLine {
  readonly #core: SessionCore;
  #last: Promise<void> | undefined;

  constructor(core: SessionCore) {
    this.#core = core;
  }

  /** Send results, in this order. */
  yield(calls: readonly ScheduledCall[]): void {
    for (const scheduled of calls) {
      const call = this.#core.ledger.call(scheduled.runnable.toolUseId);
      const { outcome } = scheduled;
      if (!call || !outcome) continue;
      const leave = async () => void (await leaveWithResult(this.#core, call, outcome, durationOf(scheduled)));
      const before = this.#last;
      const step: Promise<void> = this.#core
        .whileLeaving(() => (before ? before.then(leave) : leave()))
        .catch((error: unknown) => this.#core.services.onFault(error, 'A result could not leave'))
        .finally(() => {
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
  call: Call,
  outcome: CallOutcome,
  durationMs: number,
): Promise<FittedResult | undefined> {
  if (call.isForgotten) return undefined;
  const isInner = call.parentId !== undefined;
  const fitted = await fitOutcome(core, call, outcome);
  if (outcome.budget.isInTurnSum && !isInner) call.turn.budget.spend(fitted.resultChars);
  const summary = summarise(core, call, outcome, fitted, durationMs);
  call.settle(summary);
  core.log.insist(
    [resultFrame(call, outcome, fitted, summary)],
    () => !call.isForgotten,
    (seq) => call.logged(seq),
  );
  for (const turn of call.waitingTurns) endTurnIfDone(core, turn);
  call.sent(outcome, fitted.content);
  return fitted;
}

/** Close a turn to further blocks. Logged if its end does not follow at once. */
export function closeTurn(core: SessionCore, turn: Turn): void {
  if (turn.close()) core.log.tell({ type: 'turn_closed', turn_id: turn.id });
  endTurnIfDone(core, turn);
}

/** End a turn that is closed, or orphaned by a crash, once nothing is left to yield; may be called at any time. */
export function endTurnIfDone(core: SessionCore, turn: Turn): void {
  if (!turn.endIfDone()) return;
  const frame: TurnEndFrame = { type: 'turn_end', turn_id: turn.id, calls: [...turn.summaries()] };
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
async function fitOutcome(core: SessionCore, call: Call, outcome: CallOutcome): Promise<FittedResult> {
  const { services } = core;
  const { content, budget, spilled } = outcome;
  const { turn, parentId } = call;
  const fitted = await fitResult(content, budget, {
    // Later blocks need room at least for a notice, or the total would exceed the budget. Inner results are not sent to
    // the model, so they do not count.
    remainingChars:
      parentId === undefined
        ? Math.max(0, turn.budget.remainingChars - NOTICE_CHARS * (turn.unsettledCount - 1))
        : Infinity,
    resultChars: services.limits.resultChars,
    previewChars: services.limits.previewChars,
    spill: async (text) =>
      spilled ?? services.spill(services.sessionFolder(core.id), `${callFileName(call.toolUseId)}.txt`, text),
  });
  return spilled ? { ...fitted, spilled } : fitted;
}

function summarise(
  core: SessionCore,
  call: Call,
  outcome: CallOutcome,
  fitted: FittedResult,
  durationMs: number,
): CallSummary {
  const { spilled } = fitted;
  return {
    tool_use_id: call.toolUseId,
    provider_id: call.providerId,
    name: call.name,
    status: outcome.status,
    error_code: outcome.errorCode,
    duration_ms: Math.round(durationMs * 1_000) / 1_000,
    result_chars: fitted.resultChars,
    truncated: outcome.isTruncated === true ? true : undefined,
    rewritten: outcome.isRewritten === true ? true : undefined,
    spilled: spilled && { chars: spilled.chars, path: spilled.path, url: resultUrl(core.id, call.toolUseId) },
  };
}

function resultFrame(call: Call, outcome: CallOutcome, fitted: FittedResult, summary: CallSummary): ResultFrame {
  return {
    type: 'result',
    turn_id: call.turn.id,
    index: call.index,
    tool_use_id: call.toolUseId,
    parent_tool_use_id: call.parentId,
    tool_result: {
      type: 'tool_result',
      tool_use_id: call.toolUseId,
      content: fitted.content,
      is_error: outcome.status === 'ok' ? undefined : true,
    },
    call: summary,
    decision: outcome.decided,
    display: outcome.display,
    condensed: outcome.condensed,
    new_messages: outcome.newMessages,
    mcp_result: outcome.mcpResult,
  };
}

function resultUrl(sessionId: string, toolUseId: string): string {
  return `/sessions/${sessionId}/results/${encodeURIComponent(toolUseId)}`;
}
