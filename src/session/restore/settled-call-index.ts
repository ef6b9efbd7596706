/**
 * What a session still knows of ids that have left its memory: facts in the log, one look-up each.
 *
 * Calls, turns and questions that are settled are put aside here once their frames are on disk. Facts outlive
 * the frames they point to, so that an id never runs twice, whatever retention took.
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
  /** A crash cut it off: what it announced may never have been done. */
  readonly wasInterrupted: boolean;
  /** Of an inner call: the call that made it. */
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

/** A fact as the log takes it. */
export type Fact = NonNullable<SessionNotes['facts']>[number];

/** The fact of a call. That it was interrupted, or made by another, is said only where it was: facts outlive everything else. */
export function callFact(toolUseId: string, call: KnownCall): Fact {
  const { turnId, index, name, acceptedSeq, resultSeq, wasInterrupted, parentId } = call;
  const stand = [turnId, index, name, acceptedSeq, resultSeq];
  if (parentId !== undefined) return [`call:${toolUseId}`, [...stand, wasInterrupted, parentId]];
  return [`call:${toolUseId}`, wasInterrupted ? [...stand, true] : stand];
}

/** The fact of a turn. @param endSeq Where its `turn_end` stands. */
export function turnFact(turnId: string, endSeq: Seq): Fact {
  return [`turn:${turnId}`, endSeq];
}

/** The fact of a settled question. */
export function questionFact(requestId: string, { behavior, by }: Settled): Fact {
  return [`question:${requestId}`, [behavior, by]];
}

/** A call of which nothing but its id is known: it never runs again, and its result is gone. */
const LOST: KnownCall = {
  turnId: '',
  index: 0,
  name: '',
  acceptedSeq: 0,
  resultSeq: 0,
  wasInterrupted: false,
};

/** Looks facts up. */
export class SettledCallIndex {
  readonly #log: FrameLog;
  readonly #sessionId: string;
  /** False while nothing was put aside: then there is nothing to look up. */
  #hasFacts: boolean;
  /** Keys without a fact: a new id is asked for several times on its way in. */
  #unknown: Set<string> | undefined;
  readonly #mostUnknown: number;

  /** @param mostUnknown As many ids as come in together; more are only looked up again. */
  constructor(log: FrameLog, sessionId: string, start: { readonly hasFacts: boolean; readonly mostUnknown: number }) {
    this.#log = log;
    this.#sessionId = sessionId;
    this.#hasFacts = start.hasFacts;
    this.#mostUnknown = start.mostUnknown;
  }

  /** Facts were put aside: what had none before may have one now. */
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

  /** Where the turn's end stands; 0 when that was damaged. */
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
      if (!this.#unknown || this.#unknown.size >= this.#mostUnknown) this.#unknown = new Set();
      this.#unknown.add(key);
    }
    return fact;
  }
}
