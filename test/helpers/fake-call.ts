/** Calls that end when a test says so, and an executor that writes down what it tells its session. */
import { failedOutcome, type CallOutcome } from '../../src/call/outcome.ts';
import type { CallErrorCode } from '../../src/base/errors.ts';
import type { ContextModifier } from '../../src/tool/session-context.ts';
import type { RunnableCall, RunControl } from '../../src/schedule/scheduled-call.ts';
import { StreamingToolExecutor } from '../../src/schedule/streaming-tool-executor.ts';

/** A call in the hands of a test. */
export interface FakeCall extends RunnableCall {
  /** Set once the executor runs it. */
  steps?: RunControl;
  readonly isAborted: boolean;
  /** Why, as the code of its signal's reason. */
  readonly abortCode: string | undefined;
  succeed(more?: Partial<CallOutcome>): Promise<void>;
  fail(code?: CallErrorCode, more?: Partial<CallOutcome>): Promise<void>;
  /** As a fault of our own. */
  reject(error: Error): Promise<void>;
}

/** A call that is safe exactly when its id begins with a small letter, unless `changes` says otherwise. */
export function fakeCall(id: string, changes: Partial<RunnableCall> = {}): FakeCall {
  let end: (outcome: CallOutcome) => void = () => undefined;
  let fault: (error: Error) => void = () => undefined;
  const outcome = new Promise<CallOutcome>((resolve, reject) => {
    end = resolve;
    fault = reject;
  });
  return {
    toolUseId: id,
    label: `Tool(${id})`,
    isConcurrencySafe: () => id === id.toLowerCase(),
    abortsSiblings: () => false,
    interruptBehavior: () => 'block',
    run(steps) {
      this.steps = steps;
      return outcome;
    },
    get isAborted() {
      return this.steps?.signal.aborted === true;
    },
    get abortCode() {
      return (this.steps?.signal.reason as { code?: string } | undefined)?.code;
    },
    succeed: (more) => {
      end(okOutcome(more));
      return afterMicrotasks();
    },
    fail: (code = 'tool_failed', more = {}) => {
      end({ ...failedOutcome(code, `${id} failed`, { didRun: true }), ...more });
      return afterMicrotasks();
    },
    reject: (error) => {
      fault(error);
      return afterMicrotasks();
    },
    ...changes,
  };
}

/** An outcome that is `ok`. */
export function okOutcome(more: Partial<CallOutcome> = {}): CallOutcome {
  const budget = { limitChars: 1_000, isInTurnSum: true, isCut: false };
  return { status: 'ok', content: 'fine', display: { title: 'fine', blocks: [] }, budget, didRun: true, ...more };
}

/** A modifier an executor under test writes down by this name. */
export function namedModifier(name: string): ContextModifier {
  return Object.defineProperty((context: Parameters<ContextModifier>[0]) => context, 'name', { value: name });
}

/** An executor, and what it told its session, in order: `executing a`, `completed a`, `yield a ok`, `modify a`. */
export function executorUnderTest(maxConcurrency = 10) {
  const told: string[] = [];
  const executor = new StreamingToolExecutor(
    {
      onState: ({ runnable }, state) => told.push(`${state} ${runnable.toolUseId}`),
      onYield: (calls) => {
        for (const { runnable, outcome } of calls)
          told.push(`yield ${runnable.toolUseId} ${outcome?.errorCode ?? outcome?.status}`);
      },
      onModifier: (modifier) => {
        told.push(`modify ${modifier.name}`);
        return modifier.name.startsWith('refused') ? 'The context cannot change so' : undefined;
      },
    },
    maxConcurrency,
  );
  const heard = (word: string) =>
    told.flatMap((line) => (line.startsWith(`${word} `) ? [line.slice(word.length + 1)] : []));
  /** Add runnables of these ids to one new turn. */
  const addTurn = (...runnables: readonly FakeCall[]) => {
    const turn = executor.openTurn();
    return { turn, calls: runnables.map((runnable) => executor.add(turn, runnable)) };
  };
  return { executor, told, heard, addTurn };
}

/** Wait until all that is ready has run. */
export function afterMicrotasks(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
