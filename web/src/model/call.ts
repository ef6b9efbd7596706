/**
 * A call as its frames tell it: from a block that streams in to its result.
 */
import { Tail } from './tail.ts';
import type { CallSummary, Decision, Display, Frame, FrameOf } from './wire.ts';

/** State of a call. */
export type Phase = 'streaming' | 'queued' | 'gate' | 'asking' | 'running' | 'finishing' | 'done';

/** Moments of a call in milliseconds since 1970; absent: not reached. */
export interface CallTimes {
  readonly acceptedMs: number;
  gateMs?: number;
  startedMs?: number;
  completedMs?: number;
  endedMs?: number;
}

/** Outcome of a call. */
export interface CallResult {
  readonly display: Display;
  readonly condensed?: Display;
  readonly summary: CallSummary;
  readonly decision?: Decision;
}

/** A line of a thread. */
export type Row =
  | {
      readonly kind: 'turn';
      readonly key: string;
      readonly turnId: string;
      readonly number: number;
      readonly ts: string;
    }
  | { readonly kind: 'calls'; readonly key: string; readonly calls: Call[]; readonly group?: string }
  | {
      readonly kind: 'notice';
      readonly key: string;
      readonly level: string;
      readonly text: string;
      readonly ts: string;
    }
  | { readonly kind: 'undo'; readonly key: string; readonly frame: FrameOf<'undo'> };

/** Rows that grow with the frames of a session. */
export interface Thread {
  readonly rows: readonly Row[];
  readonly version: number;
  apply(frame: Frame): boolean;
}

/** Part of a call's output that an agent made: a session of its own, and what it said. */
export interface AgentThread {
  readonly sessionId: string;
  readonly thread: Thread;
  readonly words: Tail;
}

/** End of a question of a call. */
export interface Resolution {
  readonly behavior: 'allow' | 'deny';
  readonly by: string;
  readonly reason: string;
}

/** A call. Only the model of its session changes it. */
export class Call {
  readonly id: string;
  readonly turnId: string;
  readonly seq: number;
  readonly parent: Call | undefined;
  readonly times: CallTimes;
  readonly output = new Tail();
  /** Times in which a person was asked; the last one may be open. */
  readonly asked: { fromMs: number; toMs?: number }[] = [];
  readonly inner: Call[] = [];
  readonly agents: AgentThread[] = [];
  readonly taskIds: string[] = [];
  name: string;
  phase: Phase = 'queued';
  input: unknown;
  display: Display | undefined;
  activity: string | undefined;
  /** The latest progress that is no output. */
  note: Display | undefined;
  elapsedMs: number | undefined;
  requestId: string | undefined;
  resolution: Resolution | undefined;
  result: CallResult | undefined;
  /** Grows with each change of the call or one of its inner calls. */
  version = 0;

  constructor(facts: { id: string; turnId: string; seq: number; name: string; parent?: Call; acceptedMs: number }) {
    this.id = facts.id;
    this.turnId = facts.turnId;
    this.seq = facts.seq;
    this.name = facts.name;
    this.parent = facts.parent;
    this.times = { acceptedMs: facts.acceptedMs };
  }

  get isDone(): boolean {
    return this.phase === 'done';
  }

  /** Note a change, for the calls around it too. */
  touch(): void {
    for (let call: Call | undefined = this; call !== undefined; call = call.parent) call.version += 1;
  }
}

/** Word for how a call stands, which names its colour too. */
export type CallTone = 'waiting' | 'running' | 'ok' | 'denied' | 'error' | 'stopped' | 'queued';

/** State of a call for people. */
export function toneOf(call: Call): CallTone {
  const status = call.result?.summary.status;
  if (status === 'ok') return 'ok';
  if (status === 'denied') return 'denied';
  if (status === 'error') return 'error';
  if (status !== undefined) return 'stopped';
  if (call.phase === 'asking') return 'waiting';
  return call.phase === 'queued' || call.phase === 'streaming' ? 'queued' : 'running';
}
