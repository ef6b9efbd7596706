/**
 * What a session knows of one call, and of the turn it belongs to.
 */
import type { CallOutcome } from '../call/outcome.ts';
import type { ToolUseBlock } from '../wire/blocks.ts';
import { GauntletError } from '../base/errors.ts';
import type { CallSummary, Seq } from '../wire/frames.ts';
import type { ExecutorTurn, ScheduledCall } from '../schedule/scheduled-call.ts';
import type { StreamingToolExecutor } from '../schedule/streaming-tool-executor.ts';
import type { TurnBudget } from '../schedule/turn-budget.ts';

/** What becomes of a question of this call. */
export interface AskPolicy {
  readonly onAsk?: 'deny' | 'wait';
  readonly askTimeoutMs?: number;
}

/** One accepted call. */
export interface CallRecord {
  readonly toolUseId: string;
  /** The tool's own name where it is known, else as the block said. */
  readonly name: string;
  readonly turn: TurnRecord;
  /** Place among the turn's `tool_use` blocks, or among the inner calls of its parent, from 0. */
  readonly index: number;
  /** Of an inner call: the call that made it. */
  readonly parentId?: string;
  readonly askPolicy: AskPolicy;
  /** The block, until its result is on disk; later it is read from the log. */
  block?: ToolUseBlock;
  /** Set once the acceptance is on disk. */
  acceptedSeq?: Seq;
  /** Until then: rejects if the disk refuses it. */
  accepting?: Promise<void>;
  /** Set once the result is on disk. */
  resultSeq?: Seq;
  /** Set when the result is yielded; of a recalled call when its result is read back. */
  summary?: CallSummary;
  /** Of a recalled call: a crash had cut it off. */
  wasInterrupted?: boolean;
  scheduled?: ScheduledCall;
  /** What runs an inner call; absent: the executor of the session. */
  executor?: StreamingToolExecutor;
  /** Turns that repeat this result and end no sooner than it is there. */
  joinedBy?: TurnRecord[];
  /** It had reached its gate before a restart: the log says so already. */
  isExecutingLogged?: boolean;
  /** Told what left, of a call that a tool waits for. */
  onResult?: (record: CallRecord, outcome: CallOutcome, content: CallOutcome['content']) => void;
  /** The disk refused its acceptance: it never was. */
  isForgotten?: boolean;
}

/** The blocks of one assistant message. */
export interface TurnRecord {
  readonly id: string;
  readonly executorTurn: ExecutorTurn;
  readonly budget: TurnBudget;
  state: 'open' | 'closed' | 'ended';
  readonly calls: CallRecord[];
  /** Calls that those calls made, at any depth. */
  readonly inner: CallRecord[];
  /** Calls of other turns whose results this one repeats. */
  readonly replayed: CallRecord[];
  /** Its own calls and those it repeats that are not yet yielded. */
  unyielded: number;
  /** Inner calls without a result. */
  innerUnyielded: number;
  /** The log says that more blocks may come. */
  isLoggedOpen?: boolean;
  /** It was open when the server died, and ends as soon as its calls have, unless somebody feeds it before. */
  isOrphaned?: boolean;
  /** The connection that feeds it now; a turn whose feeder is gone ends by itself. */
  feeder?: object;
  /** Where its `turn_end` stands, once it is on disk. */
  endSeq?: Seq;
}

/** Whether a crash cut the call off. */
export function isInterrupted({ wasInterrupted, summary }: CallRecord): boolean {
  return wasInterrupted ?? summary?.status === 'interrupted';
}

/** What a new block for a turn that takes no more is told. */
export function endedTurn(turnId: string): GauntletError {
  return new GauntletError('conflict', `Turn "${turnId}" has ended and takes no new blocks; send them in a new turn`, {
    details: { reason: 'turn_ended', turn_id: turnId },
  });
}
