/**
 * Which calls and turns a session has seen: the same id never runs twice, and a turn knows its end.
 *
 * An index over the log, rebuilt from it; inputs and results are not kept here once they are on disk. The
 * turns that ended last are in memory, older ones are recalled when somebody asks for them.
 */
import type { ToolUseBlock } from '../wire/blocks.ts';
import type { Seq } from '../wire/frames.ts';
import { abortTree } from '../base/abort-tree.ts';
import type { ExecutorTurn } from '../schedule/scheduled-call.ts';
import { type TurnBudget, turnBudget } from '../schedule/turn-budget.ts';
import { type AskPolicy, type CallRecord, endedTurn, type TurnRecord } from './call-record.ts';
import type { SettledCallIndex } from './restore/settled-call-index.ts';

/** The calls and turns of one session. */
export class CallLedger {
  readonly #settledCalls: SettledCallIndex;
  readonly #mostKept: number;
  readonly #calls = new Map<string, CallRecord>();
  readonly #turns = new Map<string, TurnRecord>();
  /** Turns that have ended on disk and that no fact tells of yet, the oldest first. */
  #unsaved: TurnRecord[] = [];
  /** How many those are, and their calls. */
  unsavedCount = 0;
  /** Turns that facts tell of and that are still in memory, the oldest first. */
  readonly #saved = new Set<TurnRecord>();

  /** @param mostKept Turns and calls that stay in memory although facts tell of them. */
  constructor(settledCalls: SettledCallIndex, mostKept: number) {
    this.#settledCalls = settledCalls;
    this.#mostKept = mostKept;
  }

  call(toolUseId: string): CallRecord | undefined {
    return this.#calls.get(toolUseId) ?? this.#recallCall(toolUseId);
  }

  turn(turnId: string): TurnRecord | undefined {
    return this.#turns.get(turnId) ?? this.#recallTurn(turnId);
  }

  /** Turns whose end is not on disk. */
  get unended(): readonly TurnRecord[] {
    return [...this.#turns.values()].filter(({ endSeq }) => endSeq === undefined);
  }

  /** A turn's end is on disk, and with it all results before. */
  end(turn: TurnRecord, endSeq: Seq): void {
    turn.endSeq = endSeq;
    this.#unsaved.push(turn);
    this.unsavedCount += weightOf([turn]);
  }

  /** Turns that a save must keep. */
  get unsaved(): readonly TurnRecord[] {
    return this.#unsaved;
  }

  /** Facts tell of these turns now: the ones that ended last stay in memory. */
  saved(turns: readonly TurnRecord[]): void {
    const isSaved = new Set(turns);
    this.#unsaved = this.#unsaved.filter((turn) => !isSaved.has(turn));
    this.unsavedCount = weightOf(this.#unsaved);
    for (const turn of turns) this.#saved.add(turn);
    this.#letGo();
  }

  addTurn(id: string, executorTurn: ExecutorTurn, budget: TurnBudget): TurnRecord {
    const turn: TurnRecord = {
      id,
      executorTurn,
      budget,
      state: 'open',
      calls: [],
      inner: [],
      replayed: [],
      unyielded: 0,
      innerUnyielded: 0,
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

  /** A call made a call of its own: it belongs to the turn, whatever the turn still takes. @param index As in the record. */
  addInnerCall(
    turn: TurnRecord,
    block: ToolUseBlock,
    given: Pick<CallRecord, 'name' | 'index' | 'parentId' | 'askPolicy'>,
  ): CallRecord {
    const record: CallRecord = { toolUseId: block.id, turn, block, ...given };
    this.#calls.set(block.id, record);
    turn.inner.push(record);
    turn.innerUnyielded++;
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
      if (remove(record.turn.inner, record) && !record.summary) record.turn.innerUnyielded--;
      for (const turn of [record.turn, ...(record.joinedBy ?? [])]) {
        turns.add(turn);
        const isOwn = remove(turn.calls, record);
        if ((remove(turn.replayed, record) || isOwn) && !record.summary) turn.unyielded--;
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

  #recallCall(toolUseId: string): CallRecord | undefined {
    const known = this.#settledCalls.call(toolUseId);
    if (!known) return undefined;
    const { turnId, ...rest } = known;
    const turn = this.turn(turnId) ?? this.#remember(turnId, 0);
    const record: CallRecord = { toolUseId, turn, askPolicy: {}, ...rest };
    (rest.parentId === undefined ? turn.calls : turn.inner).push(record);
    this.#calls.set(toolUseId, record);
    return record;
  }

  #recallTurn(turnId: string): TurnRecord | undefined {
    const endSeq = this.#settledCalls.turnEnd(turnId);
    return endSeq === undefined ? undefined : this.#remember(turnId, endSeq);
  }

  /** A turn that has ended is in memory again, until the next save. */
  #remember(turnId: string, endSeq: Seq): TurnRecord {
    this.#letGo();
    const turn = this.addTurn(turnId, { node: abortTree() }, turnBudget(0));
    turn.state = 'ended';
    turn.endSeq = endSeq;
    this.#saved.add(turn);
    return turn;
  }

  #letGo(): void {
    let kept = weightOf(this.#saved);
    for (const turn of this.#saved) {
      if (kept <= this.#mostKept) break;
      kept -= weightOf([turn]);
      this.#saved.delete(turn);
      this.#turns.delete(turn.id);
      for (const { toolUseId } of [...turn.calls, ...turn.inner]) this.#calls.delete(toolUseId);
    }
  }
}

/** Records in memory. A log that was never saved has any number of turns: more than a call has room for. */
function weightOf(turns: Iterable<TurnRecord>): number {
  let weight = 0;
  for (const { calls, inner } of turns) weight += 1 + calls.length + inner.length;
  return weight;
}

/** @returns Whether it was there. */
function remove<Item>(items: Item[], item: Item): boolean {
  const place = items.indexOf(item);
  if (place !== -1) items.splice(place, 1);
  return place !== -1;
}
