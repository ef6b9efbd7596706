/**
 * Facts of a call that its turn takes over: its identity, the terms of its request, and its state in the log.
 */
import type { CallTrace } from '../../base/tracing.ts';
import type { CallOutcome } from '../../call/outcome.ts';
import type { CallApproval } from '../../wire/approval.ts';
import type { CallSummary, Seq } from '../../wire/frames.ts';

/** Handling of a call's questions. */
export interface AskPolicy {
  readonly onAsk?: 'deny' | 'wait';
  readonly askTimeoutMs?: number;
}

/** Terms under which a call is accepted. */
export interface CallTerms {
  readonly askPolicy: AskPolicy;
  readonly onResult?: OnResult;
  readonly approval?: CallApproval;
  readonly trace?: CallTrace | undefined;
}

/** Called with the result that was sent, for a call that a tool waits for. */
export type OnResult = (outcome: CallOutcome, content: CallOutcome['content']) => void;

/** Identity of a call. */
export interface CallIdentity {
  readonly toolUseId: string;
  /** The tool's own name if it is known, else that of the block. */
  readonly name: string;
  /** Index among the turn's `tool_use` blocks, or among the inner calls of its parent, from 0. */
  readonly index: number;
  /** Call that made this one, for an inner call. */
  readonly parentId?: string;
  /** The id that its provider gave, where the server made `toolUseId` of it. */
  readonly providerId?: string;
}

/** State of a call in the log that a session is restored from. */
export interface LoggedCallState {
  readonly acceptedSeq?: Seq;
  /** True if the log has its state `executing`. */
  readonly isExecuting?: boolean;
  readonly resultSeq?: Seq;
  /** Absent: the call has no result yet, or its result is read back on demand. */
  readonly summary?: CallSummary;
  readonly wasInterrupted?: boolean;
}
