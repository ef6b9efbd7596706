/**
 * Records of one call and of the turn it belongs to.
 */
import type { CallOutcome } from '../call/outcome.ts';
import type { ToolUseBlock } from '../wire/blocks.ts';
import { GauntletError } from '../base/errors.ts';
import type { CallSummary, Seq } from '../wire/frames.ts';
import type { ExecutorTurn, ScheduledCall } from '../schedule/scheduled-call.ts';
import type { StreamingToolExecutor } from '../schedule/streaming-tool-executor.ts';
import type { TurnBudget } from '../schedule/turn-budget.ts';

/** Handling of a call's questions. */
export interface AskPolicy {
  readonly onAsk?: 'deny' | 'wait';
  readonly askTimeoutMs?: number;
}

/** One accepted call. */
export interface CallRecord {
  readonly toolUseId: string;
  /** The tool's own name if it is known, else that of the block. */
  readonly name: string;
  readonly turn: TurnRecord;
  /** Index among the turn's `tool_use` blocks, or among the inner calls of its parent, from 0. */
  readonly index: number;
  /** Call that made this one, for an inner call. */
  readonly parentId?: string;
  readonly askPolicy: AskPolicy;
  /** The block, until its result is on disk; after that it is read from the log. */
  block?: ToolUseBlock;
  /** Set once the acceptance is on disk. */
  acceptedSeq?: Seq;
  /** Pending acceptance; rejects if the disk rejects it. */
  accepting?: Promise<void>;
  /** Set once the result is on disk. */
  resultSeq?: Seq;
  /** Set when the result is yielded; for a recalled call, when its result is read back. */
  summary?: CallSummary;
  /** For a recalled call: true if a crash interrupted it. */
  wasInterrupted?: boolean;
  scheduled?: ScheduledCall;
  /** Executor of an inner call; absent: the session's executor. */
  executor?: StreamingToolExecutor;
  /** Turns that repeat this result, and cannot end before it. */
  joinedBy?: TurnRecord[];
  /** True if the log has the state `executing` from before a restart. */
  isExecutingLogged?: boolean;
  /** Called with the result that was sent, for a call that a tool waits for. */
  onResult?: (record: CallRecord, outcome: CallOutcome, content: CallOutcome['content']) => void;
  /** True if its acceptance failed, so that it counts as never made. */
  isForgotten?: boolean;
}

/** The blocks of one assistant message. */
export interface TurnRecord {
  readonly id: string;
  readonly executorTurn: ExecutorTurn;
  readonly budget: TurnBudget;
  state: 'open' | 'closed' | 'ended';
  readonly calls: CallRecord[];
  /** Calls made by those calls, at any depth. */
  readonly inner: CallRecord[];
  /** Calls of other turns whose results this one repeats. */
  readonly replayed: CallRecord[];
  /** Number of own and repeated calls without a yielded result. */
  unyielded: number;
  /** Number of inner calls without a result. */
  innerUnyielded: number;
  /** True if the log says that more blocks may come. */
  isLoggedOpen?: boolean;
  /** True if it was open when the server died: it ends with its calls, unless a client feeds it before. */
  isOrphaned?: boolean;
  /** Connection that feeds it; a turn without one ends after a while. */
  feeder?: object;
  /** `seq` of its `turn_end`, once that is on disk. */
  endSeq?: Seq;
}

/** True if a crash interrupted the call. */
export function isInterrupted({ wasInterrupted, summary }: CallRecord): boolean {
  return wasInterrupted ?? summary?.status === 'interrupted';
}

/** Error for a new block of a turn that takes no more. */
export function endedTurn(turnId: string): GauntletError {
  return new GauntletError('conflict', `Turn "${turnId}" has ended and takes no new blocks; send them in a new turn`, {
    details: { reason: 'turn_ended', turn_id: turnId },
  });
}
