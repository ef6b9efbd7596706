/**
 * Which calls and turns a session has seen: the same id never runs twice, and a turn knows its end.
 *
 * An index over the log, rebuilt from it; inputs and results are not kept here once they are on disk.
 */
import type { JsonValue, ToolUseBlock } from '../contract/blocks.ts';
import { GauntletError } from '../contract/errors.ts';
import type { CallSummary, Seq } from '../contract/frames.ts';
import type { ExecutorTurn, ScheduledCall } from '../schedule/scheduled-call.ts';
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
  /** Place among the turn's `tool_use` blocks, from 0. */
  readonly index: number;
  readonly askPolicy: AskPolicy;
  /** The block, until its result is on disk; later it is read from the log. */
  block?: ToolUseBlock;
  /** Set once the acceptance is on disk. */
  acceptedSeq?: Seq;
  /** Until then: rejects if the disk refuses it. */
  accepting?: Promise<void>;
  /** Set once the result is on disk. */
  resultSeq?: Seq;
  /** Set when the result is yielded. */
  summary?: CallSummary;
  scheduled?: ScheduledCall;
  /** Turns that repeat this result and end no sooner than it is there. */
  joinedBy?: TurnRecord[];
  /** It had reached its gate before a restart: the log says so already. */
  isExecutingLogged?: boolean;
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
  /** Calls of other turns whose results this one repeats. */
  readonly replayed: CallRecord[];
  /** Its own calls and those it repeats that are not yet yielded. */
  unyielded: number;
  /** The connection that feeds it now; a turn whose feeder is gone ends by itself. */
  feeder?: object;
  /** Where its `turn_end` stands, once it is on disk. */
  endSeq?: Seq;
}

/** The calls and turns of one session. */
export class CallLedger {
  readonly #calls = new Map<string, CallRecord>();
  readonly #turns = new Map<string, TurnRecord>();

  call(toolUseId: string): CallRecord | undefined {
    return this.#calls.get(toolUseId);
  }

  turn(turnId: string): TurnRecord | undefined {
    return this.#turns.get(turnId);
  }

  get turns(): Iterable<TurnRecord> {
    return this.#turns.values();
  }

  get calls(): Iterable<CallRecord> {
    return this.#calls.values();
  }

  addTurn(id: string, executorTurn: ExecutorTurn, budget: TurnBudget): TurnRecord {
    const turn: TurnRecord = {
      id,
      executorTurn,
      budget,
      state: 'open',
      calls: [],
      replayed: [],
      unyielded: 0,
    };
    this.#turns.set(id, turn);
    return turn;
  }

  /** @throws {GauntletError} `conflict` if the turn takes no more blocks. */
  addCall(turn: TurnRecord, block: ToolUseBlock, name: string, askPolicy: AskPolicy): CallRecord {
    if (turn.state !== 'open') throw endedTurn(turn.id);
    const record: CallRecord = { toolUseId: block.id, name, turn, index: turn.calls.length, askPolicy, block };
    this.#calls.set(block.id, record);
    turn.calls.push(record);
    turn.unyielded++;
    return record;
  }

  /** A turn sent a block that is known: it repeats that call's result, and waits for it if need be. */
  repeat(turn: TurnRecord, record: CallRecord): void {
    if (record.turn === turn || turn.replayed.includes(record)) return;
    turn.replayed.push(record);
    if (record.summary) return;
    (record.joinedBy ??= []).push(turn);
    turn.unyielded++;
  }

  /**
   * Take back calls whose acceptance did not land, and turns that hold nothing else and take no more.
   *
   * @returns Turns that lost a call and go on without it.
   */
  forget(records: readonly CallRecord[]): readonly TurnRecord[] {
    const turns = new Set<TurnRecord>();
    for (const record of records) {
      record.isForgotten = true;
      this.#calls.delete(record.toolUseId);
      for (const turn of [record.turn, ...(record.joinedBy ?? [])]) {
        turns.add(turn);
        remove(turn.calls, record);
        remove(turn.replayed, record);
        if (!record.summary) turn.unyielded--;
      }
    }
    for (const turn of turns) {
      if (turn.state === 'open' || turn.calls.length + turn.replayed.length > 0) continue;
      this.#turns.delete(turn.id);
      turn.executorTurn.node.release();
      turns.delete(turn);
    }
    return [...turns];
  }
}

function remove<Item>(items: Item[], item: Item): void {
  const place = items.indexOf(item);
  if (place !== -1) items.splice(place, 1);
}

/** What a new block for a turn that takes no more is told. */
export function endedTurn(turnId: string): GauntletError {
  return new GauntletError('conflict', `Turn "${turnId}" has ended and takes no new blocks; send them in a new turn`, {
    details: { reason: 'turn_ended', turn_id: turnId },
  });
}

/** What a known id with another input is told. */
export function changedInput(toolUseId: string): GauntletError {
  return new GauntletError('conflict', `Call "${toolUseId}" was sent before with another input; use a new id`, {
    details: { reason: 'input_changed', tool_use_id: toolUseId },
  });
}

/** Name and input of a block: what makes two blocks of one id the same. */
export function blockIdentity(block: ToolUseBlock): readonly [string, JsonValue] {
  return [block.name, block.input];
}
