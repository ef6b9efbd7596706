/**
 * Looks up ids that are no longer in memory: facts in the log, with one query each.
 *
 * Settled calls, turns and questions are stored here once their frames are on disk. Facts outlive those frames, so that
 * an id never runs twice, whatever retention deleted.
 */
import type { Seq } from '../../wire/frames.ts';
import type { FrameLog, SessionNotes } from '../../log/frame-log.ts';
import type { Settled } from '../../permissions/questions.ts';

/** A call whose result is on disk. */
export interface KnownCall {
  readonly turnId: string;
  readonly index: number;
  readonly name: string;
  readonly acceptedSeq: Seq;
  readonly resultSeq: Seq;
  /** True if a crash interrupted it: changes that it announced may not have been made. */
  readonly wasInterrupted: boolean;
  /** Call that made this one, for an inner call. */
  readonly parentId?: string;
}

type CallStand = [
  turnId: string,
  index: number,
  name: string,
  accepted: Seq,
  result: Seq,
  wasInterrupted?: boolean,
  parentId?: string,
];

/** A fact in the log's format. */
export type Fact = NonNullable<SessionNotes['facts']>[number];

/** Build the fact of a call. Optional members are left out where possible, since facts are kept longest. */
export function callFact(toolUseId: string, call: KnownCall): Fact {
  const { turnId, index, name, acceptedSeq, resultSeq, wasInterrupted, parentId } = call;
  const stand = [turnId, index, name, acceptedSeq, resultSeq];
  if (parentId !== undefined) return [`call:${toolUseId}`, [...stand, wasInterrupted, parentId]];
  return [`call:${toolUseId}`, wasInterrupted ? [...stand, true] : stand];
}

/** Build the fact of a turn. @param endSeq `seq` of its `turn_end`. */
export function turnFact(turnId: string, endSeq: Seq): Fact {
  return [`turn:${turnId}`, endSeq];
}

/** Build the fact of a settled question. */
export function questionFact(requestId: string, { behavior, by }: Settled): Fact {
  return [`question:${requestId}`, [behavior, by]];
}

/** A call whose fact is damaged: it never runs again, and its result is unavailable. */
const LOST: KnownCall = {
  turnId: '',
  index: 0,
  name: '',
  acceptedSeq: 0,
  resultSeq: 0,
  wasInterrupted: false,
};

/** Looks up facts. */
export class SettledCallIndex {
  readonly #log: FrameLog;
  readonly #sessionId: string;
  /** False while nothing was saved: then there is nothing to look up. */
  #hasFacts: boolean;
  /** Keys without a fact: a new id is looked up several times while it is accepted. */
  #unknown: Set<string> | undefined;
  readonly #maxUnknown: number;

  /** @param maxUnknown Maximum of cached keys, as many as arrive together; others are only looked up again. */
  constructor(log: FrameLog, sessionId: string, start: { readonly hasFacts: boolean; readonly maxUnknown: number }) {
    this.#log = log;
    this.#sessionId = sessionId;
    this.#hasFacts = start.hasFacts;
    this.#maxUnknown = start.maxUnknown;
  }

  /** Invalidate the cache after facts were saved. */
  grown(): void {
    this.#hasFacts = true;
    this.#unknown = undefined;
  }

  call(toolUseId: string): KnownCall | undefined {
    const fact = this.#look(`call:${toolUseId}`);
    if (fact === undefined) return undefined;
    if (fact === null) return LOST;
    const [turnId, index, name, acceptedSeq, resultSeq, wasInterrupted = false, parentId] = fact as CallStand;
    return { turnId, index, name, acceptedSeq, resultSeq, wasInterrupted, parentId };
  }

  /** Return the `seq` of the turn's end; 0 if its fact is damaged. */
  turnEnd(turnId: string): Seq | undefined {
    const fact = this.#look(`turn:${turnId}`) as Seq | null | undefined;
    return fact === null ? 0 : fact;
  }

  question(requestId: string): Settled | undefined {
    const fact = this.#look(`question:${requestId}`) as [Settled['behavior'], string] | null | undefined;
    return fact ? { behavior: fact[0], by: fact[1] } : undefined;
  }

  #look(key: string): unknown {
    if (!this.#hasFacts || this.#unknown?.has(key)) return undefined;
    const fact = this.#log.fact(this.#sessionId, key);
    if (fact === undefined) {
      if (!this.#unknown || this.#unknown.size >= this.#maxUnknown) this.#unknown = new Set();
      this.#unknown.add(key);
    }
    return fact;
  }
}
