/**
 * Executes the calls of a session: decides when each starts, what is cancelled together, and in which order results are
 * yielded.
 *
 * One executor a session. A call is `queued → executing → completed → yielded`; it starts when its block is complete,
 * alone or beside other concurrency-safe calls. Results are yielded in the order of acceptance.
 */
import { type AbortCode, type AbortNode, abortTree } from '../base/abort-tree.ts';
import { errorMessage, GauntletError } from '../base/errors.ts';
import { type CallOutcome, failedOutcome } from '../call/outcome.ts';
import { answersYes } from '../tool/invocation.ts';
import type { ContextModifier } from '../tool/session-context.ts';
import { type ExecutorTurn, isOpen, type RunnableCall, type ScheduledCall } from './scheduled-call.ts';

/** Events of the executor, in the order in which things happen. */
export interface ExecutorEvents {
  onState(call: ScheduledCall, state: 'executing' | 'completed'): void;
  /** Yields calls in this order; each has its `outcome`. */
  onYield(calls: readonly ScheduledCall[]): void;
  /** @returns The reason why the context cannot change; `undefined` if it did. */
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
  /** True while `holdFor` runs work that calls must not overlap. */
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

  /** Number of those calls. */
  get unyieldedCount(): number {
    return this.#unyielded.size;
  }

  /** True while a call's work runs, even of a discarded call, or `holdFor` holds calls back. */
  get isBusy(): boolean {
    return this.#slots.size > 0 || this.#unyielded.size > 0 || this.#isHeld;
  }

  /** Create a turn, below the session in the abort tree. */
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

  /** End the session: cancels everything that waits or runs, and everything added later. */
  end(code: AbortCode, message: string): void {
    this.#root.abort(code, message);
    this.cancel(this.unyielded, code, message);
  }

  /** Start nothing more: running calls may finish, queued ones stay queued. */
  halt(): void {
    this.#isHalted = true;
  }

  /**
   * Run `work` while no call runs; calls added meanwhile wait for its end.
   *
   * @throws {GauntletError} `conflict` if a call waits or runs.
   */
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

  /** Remove calls whose acceptance failed, without a trace; running ones are aborted. */
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

  /** Cancel calls without a result. @returns Those that were still waiting or running. */
  cancel(calls: readonly ScheduledCall[], code: AbortCode, message: string): readonly ScheduledCall[] {
    const open = calls.filter(isOpen);
    for (const call of open) this.#end(call, code, message);
    this.#pump();
    return open;
  }

  /** Cancel the rest of a turn and everything that may still arrive in it. */
  cancelTurn(turn: ExecutorTurn, code: AbortCode, message: string): readonly ScheduledCall[] {
    turn.node.abort(code, message);
    return this.cancel(this.#callsOf(turn), code, message);
  }

  /** Discard a turn after the model fell back: every call without a yielded result gets an empty one at once. */
  discardTurn(turn: ExecutorTurn): void {
    turn.node.abort('discarded', '');
    const calls = this.#callsOf(turn);
    // Outcomes of completed calls are set first: completing the first call in line yields those after it.
    for (const call of calls.filter(({ state }) => state === 'completed')) {
      call.outcome = failedOutcome('discarded', '', { didRun: call.outcome?.didRun });
    }
    for (const call of calls.filter(isOpen)) {
      this.#removeFromQueue(call);
      this.#complete(call, failedOutcome('discarded', '', { didRun: call.state === 'executing' }));
    }
    this.#pump();
  }

  /** Interrupt the calls: each running tool chooses to stop or continue, queued calls are cancelled. */
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

  /** Start calls from the head of the queue, and only there, so that no call overtakes another. */
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
    // A discarded or forgotten call has ended already; only its slot was still occupied.
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

  /** Apply modifiers once nothing runs, in block order: a call that waits to be alone sees only those before it. */
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

  /** Apply one modifier. It was tried after its call had run, but may fail if the context has changed since. */
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
      // An aborted call stops waiting: it counts as running until it has ended.
      signal.addEventListener('abort', () => slot.proceed?.(), { once: true });
      this.#releaseLoner();
    });
  }

  /** If all executing calls wait to be alone, let the earliest continue. */
  #releaseLoner(): void {
    const slots = [...this.#slots.values()];
    if (slots.some((slot) => !slot.proceed)) return;
    this.#applyModifiers();
    slots[0]?.proceed?.();
  }
}

/** A line whose items finish in any order and leave in the order in which they joined. */
interface InOrder<Item> {
  /** Join at the end of the line. */
  join(item: Item): void;
  /** Let the item leave as soon as all before it have left. */
  finish(item: Item): void;
  /** Remove an item without releasing it, as if it had never joined. */
  withdraw(item: Item): void;
  /** Number of items that have not left. */
  readonly size: number;
}

/**
 * Hold finished items back until every earlier one has finished: calls finish in any order, and results are yielded in
 * the order of their blocks. Progress is not held back.
 *
 * @param release Called with the longest run that may leave, in joining order; never with an empty one.
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
