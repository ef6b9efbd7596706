/**
 * Types of a call in the executor: its runnable, its turn and its state.
 */
import type { CallOutcome } from '../call/outcome.ts';
import type { AbortNode } from '../base/abort-tree.ts';

/** Controls that the executor gives a running call. */
export interface RunControl {
  readonly signal: AbortSignal;
  /** Node of the call in the abort tree, with the reason of an abort. */
  readonly node: Pick<AbortNode, 'abortedBy'>;
  /** Call if the input became unsafe after the start: resolves when nothing else runs, or the call is aborted. */
  becomeAlone(): Promise<void>;
}

/** One block, prepared for the executor. */
export interface RunnableCall {
  readonly toolUseId: string;
  /** Description of the call, for the text of siblings that it cancels: `Bash(npm test)`. */
  readonly label: string;
  isConcurrencySafe(): boolean;
  /** Returns true if a failure of this call cancels its siblings. */
  abortsSiblings(): boolean;
  interruptBehavior(): 'cancel' | 'block';
  run(steps: RunControl): Promise<CallOutcome>;
}

/** Node of a turn in the abort tree: once it is aborted, later blocks of the turn end with its reason. */
export interface ExecutorTurn {
  readonly node: AbortNode;
}

/** A call in the executor. */
export interface ScheduledCall {
  readonly runnable: RunnableCall;
  readonly turn: ExecutorTurn;
  /** Sequence number of its acceptance: the order in which results are yielded and modifiers applied. */
  readonly place: number;
  state: 'queued' | 'executing' | 'completed' | 'yielded';
  /** Monotonic milliseconds at which it started to execute, and at which it was completed. */
  startedMs?: number;
  completedMs?: number;
  outcome?: CallOutcome;
}

/** True while a call waits or runs, and so has no outcome. */
export function isOpen({ state }: ScheduledCall): boolean {
  return state === 'queued' || state === 'executing';
}
