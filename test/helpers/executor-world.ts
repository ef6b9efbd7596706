/**
 * A session's executor under random events, and what must come out of them: a model that says of every
 * call how it ends, and rules that are checked at every start, modifier and end.
 */
import { failedOutcome, type CallOutcome } from '../../src/call/outcome.ts';
import { answersYes } from '../../src/tool/invocation.ts';
import { partitionToolCalls } from '../../src/schedule/partition.ts';
import { isOpen, type ExecutorTurn, type RunControl, type ScheduledCall } from '../../src/schedule/scheduled-call.ts';
import { StreamingToolExecutor } from '../../src/schedule/streaming-tool-executor.ts';
import { afterMicrotasks, namedModifier, okOutcome } from './fake-call.ts';

/** A call as it is drawn. */
export interface CallPlan {
  readonly isSafe: boolean;
  /** `denied` never runs; a call that neither ends nor obeys is ended by the end of the test. */
  readonly ending: 'ok' | 'tool_failed' | 'permission_denied';
  readonly abortsSiblings: boolean;
  readonly modifies: boolean;
  /** Ends as soon as its signal says so; the others go on to their own end. */
  readonly obeys: boolean;
  readonly onInterrupt: 'cancel' | 'block';
}

/** Something that happens. Numbers pick among what there is. */
export type WorldEvent =
  | { readonly type: 'add'; readonly turn: number; readonly plan: CallPlan }
  | { readonly type: 'finish' | 'cancel' | 'becomeUnsafe'; readonly pick: number }
  | { readonly type: 'cancelTurn' | 'discard'; readonly turn: number }
  | { readonly type: 'interrupt' };

interface WorldCall {
  readonly name: string;
  readonly plan: CallPlan;
  readonly turn: number;
  scheduled?: ScheduledCall;
  steps?: RunControl;
  isInFlight: boolean;
  /** Waiting to be alone; `alone` once it is. */
  unsafe?: 'waiting' | 'alone';
  /** The code of its result, as far as is known. */
  expected?: string;
  /** The first reason it was told to stop. */
  stoppedBy?: string;
  isDiscarded?: boolean;
  end: (outcome: CallOutcome) => void;
}

/** The world of one run. */
export class ExecutorWorld {
  readonly calls: WorldCall[] = [];
  /** Names of calls, in the order in which they began. */
  readonly began: string[] = [];
  readonly modified: string[] = [];
  readonly yielded: string[] = [];
  /** Rules that were broken, as sentences. */
  readonly broken: string[] = [];
  readonly #executor: StreamingToolExecutor;
  readonly #turns: ExecutorTurn[];
  readonly #closed: (string | undefined)[] = [];
  readonly #maxConcurrency: number;
  #lastModified = -1;

  constructor(maxConcurrency: number, turns: number) {
    this.#maxConcurrency = maxConcurrency;
    this.#executor = new StreamingToolExecutor(
      {
        onState: () => undefined,
        onYield: (calls) => {
          for (const { runnable, outcome } of calls)
            this.yielded.push(`${runnable.toolUseId} ${outcome?.errorCode ?? outcome?.status}`);
        },
        onModifier: ({ name }) => {
          this.#checkModifier(name);
          return undefined;
        },
      },
      maxConcurrency,
    );
    this.#turns = Array.from({ length: turns }, () => this.#executor.openTurn());
  }

  /** Let something happen, and all that follows from it. */
  async happen(event: WorldEvent): Promise<void> {
    switch (event.type) {
      case 'add':
        this.#add(event.turn % this.#turns.length, event.plan);
        break;
      case 'finish':
        this.#finish(pick(this.#finishable(), event.pick));
        break;
      case 'cancel':
        this.#cancel(pick(this.calls, event.pick));
        break;
      case 'becomeUnsafe':
        this.#becomeUnsafe(
          pick(
            this.#inFlight().filter(({ plan, unsafe }) => plan.isSafe && !unsafe),
            event.pick,
          ),
        );
        break;
      case 'interrupt':
        this.#interrupt();
        break;
      default:
        this.#endTurn(event.turn % this.#turns.length, event.type === 'discard' ? 'discarded' : 'cancelled');
    }
    await afterMicrotasks();
    this.#checkNobodyIsForgotten();
  }

  /** Let everything come to its end. */
  async settle(): Promise<void> {
    for (let next = this.#finishable()[0]; next; next = this.#finishable()[0]) {
      this.#finish(next);
      await afterMicrotasks();
      this.#checkNobodyIsForgotten();
    }
  }

  /** How every call must have ended, in block order. */
  get expected(): readonly string[] {
    return this.calls.map(({ name, expected }) => `${name} ${expected}`);
  }

  /** Whose modifiers must have been applied. */
  get expectedModifiers(): readonly string[] {
    return this.calls.filter(({ plan, expected }) => plan.modifies && expected === 'ok').map(({ name }) => name);
  }

  #add(turn: number, plan: CallPlan): void {
    const call: WorldCall = { name: `call${this.calls.length}`, plan, turn, isInFlight: false, end: () => undefined };
    this.calls.push(call);
    call.expected = this.#closed[turn];
    const executorTurn = this.#turns[turn];
    if (!executorTurn) return;
    call.scheduled = this.#executor.add(executorTurn, {
      toolUseId: call.name,
      label: call.name,
      isConcurrencySafe: () => plan.isSafe,
      abortsSiblings: () => plan.abortsSiblings,
      interruptBehavior: () => plan.onInterrupt,
      run: (steps) => this.#run(call, steps),
    });
  }

  #run(call: WorldCall, steps: RunControl): Promise<CallOutcome> {
    this.#checkStart(call);
    this.began.push(call.name);
    call.steps = steps;
    call.isInFlight = true;
    return new Promise((resolve) => {
      call.end = (outcome) => {
        call.isInFlight = false;
        resolve(outcome);
      };
      steps.signal.addEventListener('abort', () => {
        const { code } = steps.signal.reason as { code: 'cancelled' };
        if (call.plan.obeys && call.isInFlight) call.end(failedOutcome(code, '', { didRun: true }));
      });
    });
  }

  #finish(call: WorldCall | undefined): void {
    if (!call) return;
    const { plan } = call;
    if (call.scheduled?.state === 'executing') {
      call.expected = plan.ending;
      if (plan.ending === 'tool_failed' && plan.abortsSiblings) this.#stopTurn(call.turn, 'sibling_aborted', call);
    }
    const modifier = plan.modifies ? { contextModifier: namedModifier(call.name) } : {};
    call.end(
      plan.ending === 'ok'
        ? okOutcome(modifier)
        : { ...failedOutcome(plan.ending, 'no', { didRun: plan.ending === 'tool_failed' }), ...modifier },
    );
  }

  #cancel(call: WorldCall | undefined): void {
    if (!call?.scheduled) return;
    this.#stop(call, 'cancelled');
    this.#executor.cancel([call.scheduled], 'cancelled', 'By the client');
  }

  #endTurn(turn: number, code: 'cancelled' | 'discarded'): void {
    const executorTurn = this.#turns[turn];
    if (!executorTurn) return;
    this.#stopTurn(turn, code);
    if (code === 'cancelled') this.#executor.cancelTurn(executorTurn, code, 'By the client');
    else this.#executor.discardTurn(executorTurn);
  }

  #interrupt(): void {
    for (const call of this.calls) {
      if (call.scheduled?.state === 'queued' || call.plan.onInterrupt === 'cancel') this.#stop(call, 'cancelled');
    }
    this.#executor.interrupt();
  }

  #becomeUnsafe(call: WorldCall | undefined): void {
    if (!call?.steps) return;
    call.unsafe = 'waiting';
    void call.steps.becomeAlone().then(() => {
      if (call.isInFlight && !call.stoppedBy) this.#checkAlone(call);
      call.unsafe = 'alone';
    });
  }

  /** The model: what a turn's end means for its calls. */
  #stopTurn(turn: number, code: string, except?: WorldCall): void {
    this.#closed[turn] ??= code;
    for (const call of this.calls) if (call.turn === turn && call !== except) this.#stop(call, code);
  }

  /** The model: what being told to stop means for a call. */
  #stop(call: WorldCall, code: string): void {
    const { scheduled } = call;
    if (!scheduled || scheduled.state === 'yielded') return;
    if (code === 'discarded') {
      call.expected = code;
    } else if (scheduled.state === 'queued' || (scheduled.state === 'executing' && call.plan.obeys)) {
      call.expected = call.stoppedBy ?? code;
    }
    if (isOpen(scheduled)) call.stoppedBy ??= code;
  }

  #inFlight(): WorldCall[] {
    return this.calls.filter(({ isInFlight }) => isInFlight);
  }

  #finishable(): WorldCall[] {
    return this.#inFlight().filter(({ unsafe }) => unsafe !== 'waiting');
  }

  #checkStart(call: WorldCall): void {
    const others = this.#inFlight();
    if (others.length >= this.#maxConcurrency) this.broken.push(`${call.name} began beside ${others.length} others`);
    const overlap = partitionToolCalls([...others, call], ({ plan, unsafe }) => plan.isSafe && !unsafe);
    if (overlap.length > 1) this.broken.push(`${call.name} began beside ${others.map(({ name }) => name).join()}`);
    const overtaken = this.calls.find(
      (other) =>
        other !== call && other.scheduled?.state === 'queued' && this.calls.indexOf(other) < this.calls.indexOf(call),
    );
    if (overtaken) this.broken.push(`${call.name} overtook ${overtaken.name}`);
    if (!answersYes(() => call.plan.isSafe)) this.#checkAllApplied(call);
  }

  #checkAlone(call: WorldCall): void {
    const running = this.#inFlight().filter(
      (other) => other !== call && other.unsafe !== 'waiting' && !other.isDiscarded,
    );
    if (running.length > 0) this.broken.push(`${call.name} went on beside ${running.map(({ name }) => name).join()}`);
    this.#checkAllApplied(call);
  }

  /** When an unsafe call goes on, the modifiers of all before it must be in the context. */
  #checkAllApplied(call: WorldCall): void {
    for (const { name, plan, expected, scheduled, isInFlight } of this.calls.slice(0, this.calls.indexOf(call))) {
      const isDone = !isInFlight && scheduled && !isOpen(scheduled) && expected === 'ok';
      if (isDone && plan.modifies && !this.modified.includes(name))
        this.broken.push(`${call.name} did not see ${name}`);
    }
  }

  #checkModifier(name: string): void {
    const place = this.calls.findIndex((call) => call.name === name);
    if (this.#lastModified > place) this.broken.push(`${name} was applied out of block order`);
    this.#lastModified = place;
    this.modified.push(name);
    const running = this.#inFlight().filter(({ unsafe }) => unsafe !== 'waiting');
    if (running.length > 0)
      this.broken.push(`${name} was applied while ${running.map((call) => call.name).join()} ran`);
  }

  /** Whatever happened: with nothing in flight, nothing may wait. */
  #checkNobodyIsForgotten(): void {
    const waiting = this.calls.find(({ scheduled }) => scheduled?.state === 'queued');
    if (waiting && this.#inFlight().length === 0) this.broken.push(`${waiting.name} waits for nobody`);
    const stuck = this.#inFlight();
    if (stuck.length > 0 && stuck.every(({ unsafe }) => unsafe === 'waiting')) this.broken.push('all wait to be alone');
  }
}

function pick<Item>(items: readonly Item[], number: number): Item | undefined {
  return items[number % Math.max(1, items.length)];
}
