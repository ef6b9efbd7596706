/**
 * Many blocks: which call runs when, what is cancelled with what, and in which order results leave.
 *
 * One executor a session. A call is `queued → executing → completed → yielded`; it starts when its block
 * is complete, alone or beside calls that are safe like itself. Results leave in the order of acceptance.
 */
import { type AbortCode, type AbortNode, abortTree } from '../base/abort-tree.ts';
import { errorMessage, GauntletError } from '../base/errors.ts';
import { type CallOutcome, failedOutcome } from '../call/outcome.ts';
import { answersYes } from '../tool/invocation.ts';
import type { ContextModifier } from '../tool/session-context.ts';
import { type ExecutorTurn, isOpen, type RunnableCall, type ScheduledCall } from './scheduled-call.ts';

/** What the executor tells its session. All are called in the order things happen. */
export interface ExecutorEvents {
  onState(call: ScheduledCall, state: 'executing' | 'completed'): void;
  /** These may leave, in this order; each has its `outcome`. */
  onYield(calls: readonly ScheduledCall[]): void;
  /** @returns Why the context cannot change so; undefined where it did. */
  onModifier(modifier: ContextModifier): string | undefined;
}

interface Slot {
  readonly call: ScheduledCall;
  readonly node: AbortNode;
  isSafe: boolean;
  /** Set while the call waits to be alone. */
  proceed?: () => void;
}

/** Runs a session's calls. */
export class StreamingToolExecutor {
  readonly #root = abortTree();
  readonly #queue: ScheduledCall[] = [];
  readonly #slots = new Map<ScheduledCall, Slot>();
  readonly #unyielded = new Set<ScheduledCall>();
  readonly #line;
  readonly #events: ExecutorEvents;
  readonly #maxConcurrency: number;
  #accepted = 0;
  #isHalted = false;
  /** Something else than a call works on what calls work on. */
  #isHeld = false;
  /** Calls whose modifiers wait until nothing executes. */
  #modifiers: ScheduledCall[] = [];

  constructor(events: ExecutorEvents, maxConcurrency: number) {
    this.#events = events;
    this.#maxConcurrency = maxConcurrency;
    this.#line = inOrder<ScheduledCall>((calls) => this.#yield(calls));
  }

  /** Calls accepted and not yet yielded, in order of acceptance. */
  get unyielded(): readonly ScheduledCall[] {
    return [...this.#unyielded];
  }

  /** How many of them there are. */
  get unyieldedCount(): number {
    return this.#unyielded.size;
  }

  /** True while a call's work goes on, a discarded one's included, or `holdFor` holds calls back. */
  get isBusy(): boolean {
    return this.#slots.size > 0 || this.#unyielded.size > 0 || this.#isHeld;
  }

  /** A new turn, below the session in the abort tree. */
  openTurn(): ExecutorTurn {
    return { node: this.#root.branch() };
  }

  /** Accept a block; it starts at once if it may. */
  add(turn: ExecutorTurn, runnable: RunnableCall): ScheduledCall {
    const call: ScheduledCall = { runnable, turn, place: this.#accepted++, state: 'queued' };
    this.#unyielded.add(call);
    this.#line.join(call);
    const { abortedBy } = turn.node;
    if (abortedBy) this.#complete(call, failedOutcome(abortedBy.code, abortedBy.message));
    else this.#queue.push(call);
    this.#pump();
    return call;
  }

  /** The session is over: all that waits and runs ends, and so does whatever is still added. */
  end(code: AbortCode, message: string): void {
    this.#root.abort(code, message);
    this.cancel(this.unyielded, code, message);
  }

  /** Start nothing more: what runs may finish, what is queued stays as it is. */
  halt(): void {
    this.#isHalted = true;
  }

  /** Do `work` while no call runs; calls that come meanwhile wait for its end. @throws {GauntletError} `conflict` while any waits or runs. */
  async holdFor<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.isBusy) {
      const message =
        'Cannot begin while calls of this session run or wait: try again when they have ended, or cancel them';
      throw new GauntletError('conflict', message, { details: { reason: 'calls_running' } });
    }
    this.#isHeld = true;
    try {
      return await work();
    } finally {
      this.#isHeld = false;
      this.#pump();
    }
  }

  /** The session never accepted these: they leave no trace. What runs of them is aborted. */
  forget(calls: readonly ScheduledCall[]): void {
    for (const call of calls) {
      this.#slots.get(call)?.node.abort('cancelled', 'The call could not be logged');
      this.#removeFromQueue(call);
      this.#unyielded.delete(call);
      this.#modifiers = this.#modifiers.filter((other) => other !== call);
      call.state = 'yielded';
      this.#line.withdraw(call);
    }
    this.#pump();
  }

  /** Cancel calls that have no result yet. @returns Those that were still waiting or running. */
  cancel(calls: readonly ScheduledCall[], code: AbortCode, message: string): readonly ScheduledCall[] {
    const open = calls.filter(isOpen);
    for (const call of open) this.#end(call, code, message);
    this.#pump();
    return open;
  }

  /** Cancel what is left of a turn and whatever may still arrive in it. */
  cancelTurn(turn: ExecutorTurn, code: AbortCode, message: string): readonly ScheduledCall[] {
    turn.node.abort(code, message);
    return this.cancel(this.#callsOf(turn), code, message);
  }

  /** The model fell back: every call of the turn without a result gets an empty one, at once. */
  discardTurn(turn: ExecutorTurn): void {
    turn.node.abort('discarded', '');
    const calls = this.#callsOf(turn);
    // All outcomes first: the end of the first call in line releases those behind it that are completed.
    for (const call of calls.filter(({ state }) => state === 'completed')) {
      call.outcome = failedOutcome('discarded', '', { didRun: call.outcome?.didRun });
    }
    for (const call of calls.filter(isOpen)) {
      this.#removeFromQueue(call);
      this.#complete(call, failedOutcome('discarded', '', { didRun: call.state === 'executing' }));
    }
    this.#pump();
  }

  /** A person typed: each running tool says what becomes of it, what is queued is cancelled. */
  interrupt(): { readonly cancelled: readonly ScheduledCall[]; readonly continuing: readonly ScheduledCall[] } {
    const open = this.unyielded.filter(isOpen);
    const continuing = open.filter(
      (call) => call.state === 'executing' && !answersYes(() => call.runnable.interruptBehavior() === 'cancel'),
    );
    const cancelled = open.filter((call) => !continuing.includes(call));
    return { cancelled: this.cancel(cancelled, 'cancelled', 'Cancelled: the user interrupted'), continuing };
  }

  #end(call: ScheduledCall, code: AbortCode, message: string): void {
    this.#slots.get(call)?.node.abort(code, message);
    if (this.#removeFromQueue(call)) this.#complete(call, failedOutcome(code, message));
  }

  #callsOf(turn: ExecutorTurn): readonly ScheduledCall[] {
    return this.unyielded.filter((call) => call.turn === turn);
  }

  #removeFromQueue(call: ScheduledCall): boolean {
    const place = this.#queue.indexOf(call);
    if (place !== -1) this.#queue.splice(place, 1);
    return place !== -1;
  }

  /** Start what may start: the head of the queue, and only the head, so that no call overtakes another. */
  #pump(): void {
    this.#releaseLoner();
    for (let call = this.#queue[0]; call && this.#mayStart(call); call = this.#queue[0]) {
      this.#queue.shift();
      this.#start(call);
    }
  }

  #mayStart(call: ScheduledCall): boolean {
    if (this.#isHalted || this.#isHeld) return false;
    if (this.#slots.size === 0) return true;
    if (this.#slots.size >= this.#maxConcurrency) return false;
    return (
      [...this.#slots.values()].every((slot) => slot.isSafe) && answersYes(() => call.runnable.isConcurrencySafe())
    );
  }

  #start(call: ScheduledCall): void {
    const isSafe = answersYes(() => call.runnable.isConcurrencySafe());
    const slot: Slot = { call, node: call.turn.node.branch(), isSafe };
    this.#slots.set(call, slot);
    call.state = 'executing';
    call.startedMs = performance.now();
    this.#events.onState(call, 'executing');
    const steps = { node: slot.node, signal: slot.node.signal, becomeAlone: () => this.#becomeAlone(slot) };
    call.runnable.run(steps).then(
      (outcome) => this.#finish(slot, outcome),
      (error: unknown) => this.#finish(slot, failedOutcome('tool_failed', errorMessage(error), { didRun: true })),
    );
  }

  #finish(slot: Slot, outcome: CallOutcome): void {
    slot.node.release();
    this.#slots.delete(slot.call);
    // A discarded or forgotten call has ended already: only its slot was still held.
    if (slot.call.state === 'executing') this.#complete(slot.call, outcome);
    else this.#applyModifiers();
    this.#pump();
  }

  #complete(call: ScheduledCall, outcome: CallOutcome): void {
    call.outcome = outcome;
    call.completedMs = performance.now();
    call.state = 'completed';
    this.#events.onState(call, 'completed');
    if (outcome.status === 'ok' && outcome.contextModifier) this.#modifiers.push(call);
    this.#applyModifiers();
    this.#takeDownSiblings(call, outcome);
    this.#line.finish(call);
  }

  #yield(calls: readonly ScheduledCall[]): void {
    for (const call of calls) {
      call.state = 'yielded';
      this.#unyielded.delete(call);
    }
    this.#events.onYield(calls);
  }

  /** Once nothing runs any more, in block order: a call that waits to be alone sees those before it only. */
  #applyModifiers(): void {
    if (this.#modifiers.length === 0) return;
    const slots = [...this.#slots.values()];
    if (slots.some((slot) => !slot.proceed)) return;
    const firstWaiting = Math.min(...slots.map(({ call }) => call.place));
    const ready = this.#modifiers
      .filter(({ place }) => place < firstWaiting)
      .sort((one, other) => one.place - other.place);
    this.#modifiers = this.#modifiers.filter(({ place }) => place > firstWaiting);
    for (const call of ready) this.#applyModifier(call);
  }

  /** The modifier was tried when its call had run; where the context has changed since, it may fail all the same. */
  #applyModifier(call: ScheduledCall): void {
    const { outcome } = call;
    const problem = outcome?.contextModifier && this.#events.onModifier(outcome.contextModifier);
    if (!outcome || problem === undefined || call.state !== 'completed') return;
    const { budget, decided, endsTurn, spilled, newMessages } = outcome;
    const failed = failedOutcome('tool_failed', problem, { didRun: true, budget, decided, endsTurn, spilled });
    call.outcome = { ...failed, newMessages };
  }

  #takeDownSiblings(call: ScheduledCall, outcome: CallOutcome): void {
    if (outcome.endsTurn !== undefined) {
      this.cancelTurn(call.turn, 'cancelled', `Cancelled: ${outcome.endsTurn}`);
      return;
    }
    const isFailure = ['tool_failed', 'timeout', 'output_limit'].includes(outcome.errorCode ?? '');
    if (!outcome.didRun || !isFailure || !answersYes(() => call.runnable.abortsSiblings())) return;
    this.cancelTurn(call.turn, 'sibling_aborted', `Cancelled: ${call.runnable.label} failed earlier in this turn`);
  }

  #becomeAlone(slot: Slot): Promise<void> {
    const { signal } = slot.node;
    slot.isSafe = false;
    if (signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      slot.proceed = () => {
        slot.proceed = undefined;
        resolve();
      };
      // An aborted call waits no longer: it counts as running until it has ended.
      signal.addEventListener('abort', () => slot.proceed?.(), { once: true });
      this.#releaseLoner();
    });
  }

  /** When all that executes waits to be alone, the earliest of them goes on. */
  #releaseLoner(): void {
    const slots = [...this.#slots.values()];
    if (slots.some((slot) => !slot.proceed)) return;
    this.#applyModifiers();
    slots[0]?.proceed?.();
  }
}

/** A line that things join in one order, finish in any, and leave in the order they joined. */
interface InOrder<Item> {
  /** Take a place at the end of the line. */
  join(item: Item): void;
  /** The item may leave as soon as all before it have left. */
  finish(item: Item): void;
  /** Leave the line at once and release nothing: the item never was. */
  withdraw(item: Item): void;
  /** How many have not left. */
  readonly size: number;
}

/**
 * Hold finished items back until every earlier one has finished: calls finish in any order, results leave in the order
 * of their blocks. Progress does not pass through here.
 *
 * @param release Called with the longest run that may leave, in joining order; never with none.
 */
export function inOrder<Item>(release: (items: readonly Item[]) => void): InOrder<Item> {
  const line: Item[] = [];
  const finished = new Set<Item>();

  const leave = () => {
    const waiting = line.findIndex((item) => !finished.has(item));
    const leaving = line.splice(0, waiting === -1 ? line.length : waiting);
    for (const item of leaving) finished.delete(item);
    if (leaving.length > 0) release(leaving);
  };

  return {
    join: (item) => void line.push(item),
    finish: (item) => {
      if (!line.includes(item)) throw new RangeError('Cannot finish an item that is not in line');
      finished.add(item);
      leave();
    },
    withdraw: (item) => {
      const place = line.indexOf(item);
      if (place === -1) return;
      line.splice(place, 1);
      finished.delete(item);
      leave();
    },
    get size() {
      return line.length;
    },
  };
}
