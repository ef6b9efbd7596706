/**
 * A call as the executor sees it: what it may run, a turn it belongs to, and how far it came.
 */
import type { CallOutcome } from '../call/outcome.ts';
import type { AbortNode } from '../base/abort-tree.ts';

/** What the executor tells a running call, and does for it. */
export interface RunControl {
  readonly signal: AbortSignal;
  /** The call's node in the abort tree: says why the signal was aborted. */
  readonly node: Pick<AbortNode, 'abortedBy'>;
  /** The input became unsafe after the call began: resolves when nothing else runs, or the call is aborted. */
  becomeAlone(): Promise<void>;
}

/** One block, as the executor runs it. */
export interface RunnableCall {
  readonly toolUseId: string;
  /** What ran, for the text of siblings it takes down: `Bash(npm test)`. */
  readonly label: string;
  isConcurrencySafe(): boolean;
  /** Whether a failure of this call cancels its siblings. */
  abortsSiblings(): boolean;
  interruptBehavior(): 'cancel' | 'block';
  run(steps: RunControl): Promise<CallOutcome>;
}

/** A turn's node in the abort tree: once it is aborted, later blocks of the turn end with its reason. */
export interface ExecutorTurn {
  readonly node: AbortNode;
}

/** A call in the executor. */
export interface ScheduledCall {
  readonly runnable: RunnableCall;
  readonly turn: ExecutorTurn;
  /** One more with each accepted block: the order in which results leave and modifiers apply. */
  readonly place: number;
  state: 'queued' | 'executing' | 'completed' | 'yielded';
  /** Monotonic milliseconds at which it began to execute, and at which it was completed. */
  startedMs?: number;
  completedMs?: number;
  outcome?: CallOutcome;
}

/** True while a call has no outcome: it waits or runs. */
export function isOpen({ state }: ScheduledCall): boolean {
  return state === 'queued' || state === 'executing';
}
