/**
 * A call as the executor sees it: a journey it may run, a turn it belongs to, and how far it came.
 */
import type { CallOutcome } from '../call/outcome.ts';
import type { AbortNode } from './abort-tree.ts';

/** What the executor may tell a journey, and ask of it. */
export interface JourneySteps {
  readonly signal: AbortSignal;
  /** The input became unsafe after the call began: resolves when nothing else runs, or the call is aborted. */
  becomeAlone(): Promise<void>;
}

/** One block's journey, as the executor sees it. */
export interface Journey {
  readonly toolUseId: string;
  /** What ran, for the text of siblings it takes down: `Bash(npm test)`. */
  readonly label: string;
  isConcurrencySafe(): boolean;
  /** Whether a failure of this call cancels its siblings. */
  abortsSiblings(): boolean;
  interruptBehavior(): 'cancel' | 'block';
  run(steps: JourneySteps): Promise<CallOutcome>;
}

/** A turn's node in the abort tree: once it is aborted, later blocks of the turn end with its reason. */
export interface ExecutorTurn {
  readonly node: AbortNode;
}

/** A call in the executor. */
export interface ScheduledCall {
  readonly journey: Journey;
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
