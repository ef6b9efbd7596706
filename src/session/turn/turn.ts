/**
 * A turn and its calls, from acceptance to the frames on disk. Only their methods change them.
 */
import { GauntletError } from '../../base/errors.ts';
import type { CallTrace } from '../../base/tracing.ts';
import type { CallOutcome } from '../../call/outcome.ts';
import type { ExecutorTurn, RunnableCall, ScheduledCall } from '../../schedule/scheduled-call.ts';
import type { StreamingToolExecutor } from '../../schedule/streaming-tool-executor.ts';
import type { TurnBudget } from '../../schedule/turn-budget.ts';
import type { CallApproval } from '../../wire/approval.ts';
import type { ToolUseBlock } from '../../wire/blocks.ts';
import type { CallSummary, Seq } from '../../wire/frames.ts';
import type { AskPolicy, CallIdentity, CallTerms, LoggedCallState, OnResult } from './call-terms.ts';

/** One accepted call. */
export class Call implements CallIdentity {
  readonly toolUseId: string;
  readonly name: string;
  readonly index: number;
  readonly parentId: string | undefined;
  readonly providerId: string | undefined;
  readonly turn: Turn;
  readonly askPolicy: AskPolicy;
  #block: ToolUseBlock | undefined;
  #acceptedSeq: Seq | undefined;
  #accepting: Promise<void> | undefined;
  #executor: StreamingToolExecutor | undefined;
  #scheduled: ScheduledCall | undefined;
  #summary: CallSummary | undefined;
  #resultSeq: Seq | undefined;
  #wasInterrupted: boolean | undefined;
  #isExecutingLogged = false;
  #isForgotten = false;
  #onResult: OnResult | undefined;
  #trace: CallTrace | undefined;
  #approval: CallApproval | undefined;
  /** Turns that repeat this result, and cannot end before it. */
  #joinedBy: Turn[] | undefined;

  constructor(turn: Turn, identity: CallIdentity, given: CallTerms & { readonly block?: ToolUseBlock }) {
    this.turn = turn;
    this.toolUseId = identity.toolUseId;
    this.name = identity.name;
    this.index = identity.index;
    this.parentId = identity.parentId;
    this.providerId = identity.providerId;
    this.askPolicy = given.askPolicy;
    this.#block = given.block;
    this.#onResult = given.onResult;
    this.#trace = given.trace;
    this.#approval = given.approval;
  }

  /** The block, until its result is on disk; after that it is read from the log. */
  get block(): ToolUseBlock | undefined {
    return this.#block;
  }

  /** Set once the acceptance is on disk. */
  get acceptedSeq(): Seq | undefined {
    return this.#acceptedSeq;
  }

  /** Pending acceptance; rejects if the disk rejects it. */
  get accepting(): Promise<void> | undefined {
    return this.#accepting;
  }

  /** Set once the result is on disk. */
  get resultSeq(): Seq | undefined {
    return this.#resultSeq;
  }

  /** Set when the result is yielded; for a recalled call, when its result is read back. */
  get summary(): CallSummary | undefined {
    return this.#summary;
  }

  /** Its place in the executor, until its result is on disk. */
  get scheduled(): ScheduledCall | undefined {
    return this.#scheduled;
  }

  /** Its spans, until its result is on disk; absent where nothing is traced, and after a restart. */
  get trace(): CallTrace | undefined {
    return this.#trace;
  }

  /** True if the log has the state `executing` from before a restart. */
  get isExecutingLogged(): boolean {
    return this.#isExecutingLogged;
  }

  /** True if a crash interrupted it. */
  get wasInterrupted(): boolean {
    return this.#wasInterrupted ?? this.#summary?.status === 'interrupted';
  }

  /** True if its acceptance failed, so that it counts as never made. */
  get isForgotten(): boolean {
    return this.#isForgotten;
  }

  /** Turns that wait for its result: its own, and those that repeat it. */
  get waitingTurns(): readonly Turn[] {
    return [this.turn, ...(this.#joinedBy ?? [])];
  }

  /** Begin to write the acceptance. */
  accept(landing: Promise<void>): void {
    this.#accepting = landing;
  }

  /** The acceptance is on disk. */
  accepted(seq: Seq): void {
    this.#acceptedSeq = seq;
    this.#accepting = undefined;
  }

  /** Hand it to an executor. @param siblings Calls that are cancelled together. */
  schedule(executor: StreamingToolExecutor, siblings: ExecutorTurn, runnable: RunnableCall): void {
    this.#executor = executor;
    this.#scheduled = executor.add(siblings, runnable);
  }

  /** Cancel it, unless it has ended. @returns True if it had no result yet. */
  cancel(message: string): boolean {
    const open = this.#scheduled && this.#executor?.cancel([this.#scheduled], 'cancelled', message);
    return open !== undefined && open.length > 0;
  }

  /** Return the approval that it was handed in with, and forget it: it counts once. */
  takeApproval(): CallApproval | undefined {
    const approval = this.#approval;
    this.#approval = undefined;
    return approval;
  }

  /** The result is yielded: no turn waits for it any longer. */
  settle(summary: CallSummary): void {
    this.#summary = summary;
    for (const turn of this.waitingTurns) turn.settled(this);
  }

  /** The result is sent. */
  sent(outcome: CallOutcome, content: CallOutcome['content']): void {
    this.#onResult?.(outcome, content);
  }

  /** The result is on disk: the log has all that was needed to run it. */
  logged(resultSeq: Seq): void {
    this.#resultSeq = resultSeq;
    this.#block = undefined;
    this.#executor = undefined;
    this.#scheduled = undefined;
    this.#trace = undefined;
    this.#onResult = undefined;
  }

  /** The acceptance failed. @returns Turns that lose the call. */
  forget(): readonly Turn[] {
    this.#isForgotten = true;
    for (const turn of this.waitingTurns) turn.remove(this);
    return this.waitingTurns;
  }

  /** Let another turn wait for the result. */
  joinedBy(turn: Turn): void {
    (this.#joinedBy ??= []).push(turn);
  }

  /** Take over what the log says of it. */
  restore({ acceptedSeq, isExecuting = false, resultSeq, summary, wasInterrupted }: LoggedCallState): void {
    this.#acceptedSeq = acceptedSeq;
    this.#isExecutingLogged = isExecuting;
    this.#wasInterrupted = wasInterrupted;
    if (resultSeq !== undefined) this.logged(resultSeq);
    if (summary) this.settle(summary);
  }

  /** Take over the summary of a recalled call, which no turn waits for. */
  recall(summary: CallSummary): void {
    this.#summary = summary;
  }
}

/** The calls of one assistant message. */
export class Turn {
  readonly id: string;
  readonly executorTurn: ExecutorTurn;
  readonly budget: TurnBudget;
  #state: 'open' | 'closed' | 'ended' = 'open';
  readonly #calls: Call[] = [];
  readonly #inner: Call[] = [];
  readonly #replayed: Call[] = [];
  /** Number of own and repeated calls without a yielded result. */
  #unsettled = 0;
  /** Number of inner calls without one. */
  #unsettledInner = 0;
  #isLoggedOpen = false;
  #isOrphaned = false;
  #feeder: object | undefined;
  #endSeq: Seq | undefined;

  constructor(id: string, executorTurn: ExecutorTurn, budget: TurnBudget) {
    this.id = id;
    this.executorTurn = executorTurn;
    this.budget = budget;
  }

  /** True while it takes further blocks. */
  get isOpen(): boolean {
    return this.#state === 'open';
  }

  /** Calls of its blocks, in block order. */
  get calls(): readonly Call[] {
    return this.#calls;
  }

  /** Calls made by those calls, at any depth. */
  get inner(): readonly Call[] {
    return this.#inner;
  }

  /** Calls of other turns whose results this one repeats. */
  get replayed(): readonly Call[] {
    return this.#replayed;
  }

  /** Number of own and repeated calls without a yielded result. */
  get unsettledCount(): number {
    return this.#unsettled;
  }

  /** Connection that feeds it; a turn without one ends after a while. */
  get feeder(): object | undefined {
    return this.#feeder;
  }

  /** `seq` of its `turn_end`, once that is on disk. */
  get endSeq(): Seq | undefined {
    return this.#endSeq;
  }

  /** Add the call of a block. @throws {GauntletError} `conflict` if the turn takes no more blocks. */
  add(block: ToolUseBlock, name: string, { providerId, ...given }: CallTerms & { readonly providerId?: string }): Call {
    if (!this.isOpen) throw endedTurn(this.id);
    const identity = { toolUseId: block.id, name, index: this.#calls.length, providerId };
    const call = new Call(this, identity, { block, ...given });
    this.#calls.push(call);
    this.#unsettled++;
    return call;
  }

  /** Add an inner call; the turn need not be open. */
  addInner(
    block: ToolUseBlock,
    { askPolicy, trace, ...identity }: Omit<CallIdentity, 'toolUseId'> & Pick<CallTerms, 'askPolicy' | 'trace'>,
  ): Call {
    const call = new Call(this, { toolUseId: block.id, ...identity }, { block, askPolicy, trace });
    this.#inner.push(call);
    this.#unsettledInner++;
    return call;
  }

  /** Add a call that ended before, whose result is on disk. */
  addRecalled(identity: CallIdentity, state: Omit<LoggedCallState, 'summary'>): Call {
    const call = new Call(this, identity, { askPolicy: {} });
    (identity.parentId === undefined ? this.#calls : this.#inner).push(call);
    call.restore(state);
    return call;
  }

  /** Repeat the result of a known call, and wait for it if necessary. */
  repeat(call: Call): void {
    if (call.turn === this || this.#replayed.includes(call)) return;
    this.#replayed.push(call);
    if (call.summary) return;
    call.joinedBy(this);
    this.#unsettled++;
  }

  /** A call that it waited for has its result. */
  settled({ parentId }: Call): void {
    if (parentId === undefined) this.#unsettled--;
    else this.#unsettledInner--;
  }

  /** Remove a call whose acceptance failed. */
  remove(call: Call): void {
    const wasInner = remove(this.#inner, call);
    const wasOwn = remove(this.#calls, call);
    const wasReplayed = remove(this.#replayed, call);
    if (call.summary) return;
    if (wasInner) this.#unsettledInner--;
    if (wasOwn || wasReplayed) this.#unsettled--;
  }

  /** Let a connection feed it. */
  feedBy(feeder: object): void {
    this.#feeder = feeder;
    this.#isOrphaned = false;
  }

  /** Note that the log says whether more blocks may come. */
  loggedAs(isOpen: boolean): void {
    this.#isLoggedOpen = isOpen;
  }

  /**
   * Wait for a client to feed it: it was open when the server died.
   *
   * @param isEnded The log has an end of it. Otherwise it ends with its calls, unless a client feeds it before.
   */
  awaitFeeder(isEnded: boolean): void {
    this.#isLoggedOpen = true;
    this.#isOrphaned = !isEnded;
  }

  /** Take no further blocks. @returns True if the log must say so, because the end does not follow at once. */
  close(): boolean {
    if (!this.isOpen) return false;
    this.#state = 'closed';
    const isNews = this.#isLoggedOpen && this.#isWaiting;
    this.#isLoggedOpen = false;
    return isNews;
  }

  /** End it if it is closed, or orphaned by a crash, and waits for no result. @returns True if it ends now. */
  endIfDone(): boolean {
    const isOver = this.#state === 'closed' || (this.#isOrphaned && this.isOpen);
    if (!isOver || this.#isWaiting) return false;
    this.end();
    return true;
  }

  /** End it. */
  end(): void {
    this.#state = 'ended';
    this.executorTurn.node.release();
  }

  /** Its end, and with it all its results, is on disk. */
  logged(endSeq: Seq): void {
    this.#endSeq = endSeq;
  }

  /** Summaries for its `turn_end`: its own calls in block order, then the repeated ones. */
  summaries(): readonly CallSummary[] {
    const replayed = this.#replayed.flatMap(({ summary }) => (summary ? [{ ...summary, replayed: true }] : []));
    return [...this.#calls.flatMap(({ summary }) => summary ?? []), ...replayed];
  }

  get #isWaiting(): boolean {
    return this.#unsettled + this.#unsettledInner > 0;
  }
}

/** Error for a new block of a turn that takes no more. */
export function endedTurn(turnId: string): GauntletError {
  return new GauntletError('conflict', `Turn "${turnId}" has ended and takes no new blocks; send them in a new turn`, {
    details: { reason: 'turn_ended', turn_id: turnId },
  });
}

/** @returns True if it was present. */
function remove<Item>(items: Item[], item: Item): boolean {
  const place = items.indexOf(item);
  if (place !== -1) items.splice(place, 1);
  return place !== -1;
}
